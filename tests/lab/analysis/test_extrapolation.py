"""Which resource ends first."""

import math
import unittest

from lab.analysis import regression
from lab.kinds.ramp import capacity
from lab.kinds.ramp.capacity import Resource

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
