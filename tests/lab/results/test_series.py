"""The series of a run comes back from samples/ as it was, and takes a text for each second."""

import json
import unittest
from typing import Any

import outages

from lab.results import series
from lab.results.series import Courses, Tail
from lab.workloads.outcome import Series
from lab.workloads.uploads import Moment


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


def moment(t: float, load: float, mean_ms: float | None) -> Moment:
    return Moment(t=t, load=load, ended=3, bytes_per_s=12345.0, mean_ms=mean_ms)


CLIENTS = [moment(0.25, 0.125, None), moment(0.75, 1000.5, 17.25)]
SERVER = [moment(0.25, 2.0, 0.0), moment(0.75, 0.0, None)]


class CoursesTest(unittest.TestCase):
    def kept(self, made: Courses) -> Courses | None:
        """By way of a file."""
        return series.courses_of(json.loads(json.dumps(series.packed_courses(made))))

    def test_both_views_are_read_back_as_they_were(self) -> None:
        made = Courses(0.5, CLIENTS, SERVER)
        self.assertEqual(self.kept(made), made)

    def test_a_server_without_a_log_has_none(self) -> None:
        found = self.kept(Courses(0.5, CLIENTS))
        assert found
        self.assertEqual((list(found.clients), list(found.server)), (CLIENTS, []))

    def test_a_reader_of_the_file_finds_the_columns_named(self) -> None:
        packed = series.packed_courses(Courses(0.5, CLIENTS))["courses"]
        self.assertEqual(packed["columns"], "load ended bytes_per_s mean_ms")
        self.assertEqual(packed["clients"], ["0.125 3 12345 -", "1000.500 3 12345 17.250"])

    def test_a_run_that_is_no_ramp_has_none(self) -> None:
        self.assertIsNone(series.courses_of({"loadgen": {}, "samples": []}))


WHOLE = [(0.131071, 5), (0.133119, 7), (1040.187391, 1)]
HALVES = [WHOLE[:1], WHOLE[1:]]


class DistributionsTest(unittest.TestCase):
    def test_what_is_kept_is_what_was_measured(self):
        result = {"distribution": WHOLE, "halves": HALVES, "requests": 13}
        kept = series.packed_distributions(json.loads(json.dumps(result)))
        self.assertEqual(kept["requests"], 13)
        read_back = json.loads(json.dumps(kept))
        self.assertEqual(series.tail(read_back), Tail(WHOLE, HALVES))

    def test_a_distribution_is_one_short_text(self):
        kept = series.packed_distributions({"distribution": WHOLE, "service_distribution": WHOLE})
        self.assertEqual(kept["distribution"], "0.131071:5 0.133119:7 1040.187391:1")
        self.assertEqual(kept["service_distribution"], kept["distribution"])

    def test_a_result_without_a_distribution_is_kept_as_it_is(self):
        results: list[dict[str, Any]] = [{}, {"fetches": 3}, {"distribution": [], "halves": None}]
        for result in results:
            self.assertEqual(series.packed_distributions(result), result)
            self.assertIsNone(series.tail(result))

    def test_a_run_whose_halves_are_not_known_has_none(self):
        kept = series.packed_distributions({"distribution": WHOLE, "halves": None})
        tail = series.tail(kept)
        assert tail is not None
        self.assertEqual(tail.halves, [])
