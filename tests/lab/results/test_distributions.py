"""How samples/ keeps the distribution of a run."""

import json
import unittest
from typing import Any

from lab.results import distributions
from lab.results.distributions import Tail

WHOLE = [(0.131071, 5), (0.133119, 7), (1040.187391, 1)]
HALVES = [WHOLE[:1], WHOLE[1:]]


class DistributionsTest(unittest.TestCase):
    def test_what_is_kept_is_what_was_measured(self):
        result = {"distribution": WHOLE, "halves": HALVES, "requests": 13}
        kept = distributions.packed(json.loads(json.dumps(result)))
        self.assertEqual(kept["requests"], 13)
        read_back = json.loads(json.dumps(kept))
        self.assertEqual(distributions.tail(read_back), Tail(WHOLE, HALVES))

    def test_a_distribution_is_one_short_text(self):
        kept = distributions.packed({"distribution": WHOLE, "service_distribution": WHOLE})
        self.assertEqual(kept["distribution"], "0.131071:5 0.133119:7 1040.187391:1")
        self.assertEqual(kept["service_distribution"], kept["distribution"])

    def test_a_result_without_a_distribution_is_kept_as_it_is(self):
        results: list[dict[str, Any]] = [{}, {"fetches": 3}, {"distribution": [], "halves": None}]
        for result in results:
            self.assertEqual(distributions.packed(result), result)
            self.assertIsNone(distributions.tail(result))

    def test_a_run_whose_halves_are_not_known_has_none(self):
        kept = distributions.packed({"distribution": WHOLE, "halves": None})
        tail = distributions.tail(kept)
        assert tail is not None
        self.assertEqual(tail.halves, [])
