"""Capacity: what memory bears is foretold by a line, and held against what was tried."""

import math
import unittest
from dataclasses import replace
from typing import Any

import examples
from made_up_ramps import KIB, MIB, RAMP_OF_TESTS, MadeUp

from lab.analysis import regression
from lab.analysis.blocks import Estimate
from lab.kinds.ramp import capacity
from lab.kinds.ramp.analysis import RampResult
from lab.kinds.ramp.capacity import Capacity, Foretold, Resource

IDLE = 10 * MIB  # of the servers that are made up
EACH = 64 * KIB
LIMIT = IDLE + 1000 * EACH  # bears 1,000 clients
SPARED, KILLED = MadeUp(), MadeUp(killed_s=7.1)


def trial(made: MadeUp = KILLED, uploads: float | None = 990.0, **changes: Any) -> RampResult:
    """A run in which the kernel ended the server, unless the changes say otherwise."""
    used_bytes, kills = changes.pop("used", 0.99) * LIMIT, changes.pop("kills", 0.0)
    figures = {"group_used_bytes": used_bytes, "group_oom_kills": kills}
    felt = replace(examples.usage(), figures=figures)
    usual = {"errors": "fileserver ended", "first_failed_s": 7.0, "memory_limit_bytes": LIMIT}
    return made.result(usage=felt, uploads_borne=uploads, **{**usual, **changes})


def found(*made: MadeUp, **changes: Any) -> Capacity | None:
    return capacity.of_runs([one.result() for one in made], trial(**changes))


class ForetoldTest(unittest.TestCase):
    def test_a_line_tells_where_memory_ends(self) -> None:
        estimate = capacity.foretell(MadeUp().result().group_memory, LIMIT)
        assert estimate
        self.assertTrue(estimate.has(1000), estimate)
        self.assertLess(estimate.high - estimate.low, 100)

    def test_memory_that_does_not_rise_tells_no_end(self) -> None:
        flat = MadeUp(memory_of_each=0, memory_noise=0).result().group_memory
        self.assertIsNone(capacity.foretell(flat, LIMIT))
        self.assertIsNone(capacity.foretell(None, LIMIT))

    def test_a_limit_that_was_passed_already_is_not_foretold(self) -> None:
        self.assertIsNone(capacity.foretell(MadeUp().result().group_memory, IDLE))

    def test_the_error_is_a_share_of_what_was_tried(self) -> None:
        one = Foretold(300, Estimate(1100, 1050, 1150))
        self.assertAlmostEqual(one.error(1000) or 0.0, 0.1)
        self.assertIsNone(Foretold(300, None).error(1000))
        self.assertIsNone(Foretold(300, Estimate(math.inf, 1050, math.inf)).error(1000))

    def test_it_holds_inside_of_its_interval_and_within_a_tenth_and_fails_far_outside(self) -> None:
        cases = (
            (Estimate(1099, 1098, 1100), True),  # outside, but near
            (Estimate(901, 900, 902), True),
            (Estimate(1200, 990, 1500), True),  # inside, but not near
            (Estimate(1290, 1001, 1500), None),  # neither near nor far
            (Estimate(710, 650, 999), None),
            (Estimate(1310, 1001, 1500), False),
            (Estimate(690, 600, 999), False),
            (Estimate(1200, 990, 2190), True),
            (Estimate(1200, 990, 2191), None),  # so wide that it tells nothing
            (Estimate(1200, 1001, 2202), None),
            (Estimate(1400, 1001, 2402), None),
            (Estimate(1200, 990, math.inf), None),
            (Estimate(1050, 990, math.inf), True),
            (Estimate(math.inf, 990, math.inf), None),
            (None, None),
        )
        for estimate, wanted in cases:
            self.assertEqual(Foretold(300, estimate).holds(1000), wanted, estimate)


class TriedTest(unittest.TestCase):
    def check(self, wanted: str, made: MadeUp = KILLED, **changes: Any) -> None:
        tried = capacity.of_trial(trial(made, **changes))
        assert tried
        self.assertEqual((tried.uploads, tried.at_the_end), (990, wanted))
        self.assertEqual(tried.is_reached, wanted != capacity.NOT_REACHED)

    def test_it_tells_what_happened_at_the_limit(self) -> None:
        self.check(capacity.SERVER_KILLED)
        self.check(capacity.SESSIONS_KILLED, errors="closed 3")
        self.check(capacity.SERVER_KILLED, SPARED, kills=1.0, used=0.5)  # between two samples
        self.check(capacity.SERVER_ENDED, SPARED)
        self.check(capacity.FAILED, SPARED, errors="closed 3")
        self.check(capacity.SLOWER, SPARED, first_failed_s=None, errors="")

    def test_below_the_limit_nothing_was_reached(self) -> None:
        self.check(capacity.NOT_REACHED, SPARED, used=0.9)
        self.check(capacity.NOT_REACHED, SPARED, used=0.9, errors="closed 3")
        self.check(capacity.NOT_REACHED, SPARED, memory_limit_bytes=None)

    def test_a_session_that_is_killed_before_an_upload_fails_is_the_end(self) -> None:
        """At 5.1 s, when 50 of the 100 clients have come; 51 in the middle of that step."""
        killed = MadeUp(killed_s=5.1)
        for failed_s in (None, 7.0):
            tried = capacity.of_trial(trial(killed, first_failed_s=failed_s))
            assert tried
            self.assertAlmostEqual(tried.uploads, 51, delta=2)

    def test_another_ramp_tries_nothing(self) -> None:
        self.assertIsNone(capacity.of_trial(trial(uploads=None)))


class CapacityTest(unittest.TestCase):
    def test_all_runs_with_fewer_clients_foretell_it(self) -> None:
        more = MadeUp(ramp=replace(RAMP_OF_TESTS, clients=200, every_s=0.05))
        both = found(more, MadeUp())
        assert both
        self.assertEqual([one.clients for one in both.foretold], [100, 200])
        self.assertEqual([one.holds(both.tried.uploads) for one in both.foretold], [True, True])
        self.assertEqual((both.name, both.limit_bytes), ("sink, made-up", LIMIT))

    def test_without_a_limit_or_a_trial_there_is_none(self) -> None:
        self.assertIsNone(found(MadeUp(), memory_limit_bytes=None))
        self.assertIsNone(found(MadeUp(), uploads=None))


XS = [float(x) for x in range(40)]


def resource(name: str, end: float, deviation: float = 0.0) -> Resource:
    """One of 1000 that ends at so many clients. Every other second deviates."""
    ys = [1000 * x / end + deviation * (-1) ** index for index, x in enumerate(XS)]
    line = regression.fit(XS, ys)
    assert line
    return Resource(name, 1000.0, line)


class ExtrapolationTest(unittest.TestCase):
    def test_the_ends_stand_in_their_order(self):
        found = capacity.ends([resource("link", 900.0), resource("memory", 500.0)])
        self.assertEqual([one.name for one in found], ["memory", "link"])
        self.assertAlmostEqual(found[0].clients.value, 500.0)

    def test_the_first_one_without_rivals(self):
        found = capacity.first(
            capacity.ends([resource("link", 900.0), resource("memory", 500.0, 1.0)])
        )
        self.assertEqual((found.name, found.rivals), ("memory", ()))
        self.assertTrue(found.clients.low < 500.0 < found.clients.high < 900.0)

    def test_one_whose_interval_overlaps_is_a_rival(self):
        wide = [resource("memory", 500.0, 30.0), resource("CPU", 520.0, 30.0)]
        ends = capacity.ends([*wide, resource("link", 9000.0)])
        found = capacity.first(ends)
        self.assertEqual((found.name, found.rivals), ("memory", ("CPU",)))
        self.assertEqual(found.clients.low, min(one.clients.low for one in ends))
        self.assertEqual(found.clients.high, min(one.clients.high for one in ends))

    def test_the_first_end_is_as_uncertain_as_all_that_may_be_it(self):
        for deviations in ((1.0, 30.0), (30.0, 1.0)):
            memory, cpu = (
                resource("memory", 500.0, deviations[0]),
                resource("CPU", 505.0, deviations[1]),
            )
            ends = capacity.ends([memory, cpu])
            found = capacity.first(ends)
            wide, narrow = sorted((one.clients for one in ends), key=lambda one: one.low)
            with self.subTest(deviations=deviations):
                self.assertEqual((found.clients.low, found.clients.high), (wide.low, narrow.high))

    def test_what_does_not_rise_never_ends(self):
        line = regression.fit(XS, [5.0] * 40)
        assert line
        flat = Resource("swap", 10.0, line)
        ends = capacity.ends([flat, resource("memory", 500.0)])
        self.assertEqual([one.name for one in ends], ["memory", "swap"])
        self.assertEqual(ends[1].clients.value, math.inf)
        self.assertIsNone(capacity.first(capacity.ends([flat])))
        self.assertIsNone(capacity.first([]))
