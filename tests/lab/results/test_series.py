"""The series of a run comes back from samples/ as it was, and takes a text for each second."""

import json
import unittest

import outages

from lab.results import series
from lab.workloads.series import Series


class SeriesTest(unittest.TestCase):
    def test_it_comes_back_as_it_was(self):
        kept = json.loads(json.dumps(series.packed(outages.SERIES)))
        self.assertEqual(series.unpacked(kept), outages.SERIES)

    def test_a_second_is_one_text_in_which_what_is_not_known_has_a_dash(self):
        kept = series.packed(outages.SERIES)["series"]
        self.assertEqual(
            kept["columns"].split()[:5], ["t", "under_way", "started", "ended", "failed"]
        )
        self.assertEqual(kept["seconds"][1], "2 0 100 100 0 100000 0.5 0.2 2.0 4.0")
        self.assertEqual(kept["seconds"][5], "6 0 100 0 100 0 - - - -")
        self.assertEqual(kept["events"], ["4.5 authserver killed", "8.4 authserver started again"])

    def test_a_run_without_a_series_keeps_nothing(self):
        self.assertEqual(series.packed(Series()), {})
        self.assertEqual(series.unpacked({}), Series())
