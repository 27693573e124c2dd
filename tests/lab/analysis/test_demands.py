"""Service demands by the utilisation law, and the stations where requests queue."""

import unittest

import examples

from lab.analysis import demands
from lab.analysis.demands import Demands, Law


def fitted(points: dict[float, float], repeat: int = 1):
    """points: throughput -> servers busy."""
    return [(examples.run(1, rate, repeat), busy) for rate, busy in points.items()]


def two_cores(*, fileserver: float, others: float) -> Demands:
    return Demands(cpu={"fileserver": Law(fileserver), "loadgen": Law(others)}, disks={})


class UtilisationLawTest(unittest.TestCase):
    def test_the_slope_is_the_demand_and_the_intercept_the_background(self):
        law = demands.fit(fitted({1000.0: 0.6, 2000.0: 1.1, 3000.0: 1.6}))
        self.assertAlmostEqual(law.demand_s, 0.0005)
        self.assertAlmostEqual(law.background, 0.1)

    def test_one_run_far_off_moves_nothing(self):
        line = {rate: 0.1 + 0.0005 * rate for rate in (1000.0, 2000.0, 2900.0, 3000.0, 3100.0)}
        law = demands.fit(fitted({**line, 2950.0: 0.2}))
        self.assertAlmostEqual(law.demand_s, 0.0005, delta=0.00002)

    def test_passes_of_different_speed_are_not_compared(self):
        # The machine is a third slower in pass 2, so a request needs half as much CPU again.
        runs = fitted({1000.0: 0.5, 3000.0: 1.5}) + fitted({600.0: 0.5, 1800.0: 1.5}, 2)
        law = demands.fit(runs)
        self.assertTrue(0.0005 <= law.demand_s <= 0.00084)

    def test_without_two_throughputs_far_apart_it_is_the_ratio(self):
        self.assertEqual(demands.fit(fitted({1000.0: 0.5, 1100.0: 0.55})), Law(0.0005))

    def test_what_is_no_line_has_no_background(self):
        disk = demands.fit(fitted({100.0: 0.9, 200.0: 0.92, 400.0: 0.96}))
        self.assertAlmostEqual(disk.demand_s, 0.0024)
        self.assertEqual(disk.background, 0.0)

    def test_the_bound_is_not_below_what_was_measured(self):
        points = {500.0: 0.62, 1200.0: 1.2, 2000.0: 1.75, 2400.0: 2.0}
        law = demands.fit(fitted(points))
        self.assertGreaterEqual((2 - law.background) / law.demand_s, 0.97 * 2400)

    def test_each_component_and_each_disk_has_its_own(self):
        found = demands.of_runs(
            [
                examples.run(
                    1,
                    rate,
                    used=examples.usage(
                        {"fileserver": 0.001 * rate, "store": 0.0004 * rate},
                        disk=examples.disk_usage(0.0001 * rate),
                    ),
                )
                for rate in (100.0, 500.0)
            ]
        )
        self.assertAlmostEqual(found.cpu_s["fileserver"], 0.001)
        self.assertAlmostEqual(found.cpu_s["store"], 0.0004)
        self.assertAlmostEqual(found.disk_s, 0.0001)


class StationsTest(unittest.TestCase):
    def test_components_that_share_cores_are_one_station(self):
        pins = {"fileserver": (0, 1), "loadgen": (0, 1)}
        (cores,) = demands.stations(two_cores(fileserver=0.001, others=0.001), pins)
        self.assertEqual((cores.name, cores.servers), ("cores 0,1", 2))
        self.assertAlmostEqual(cores.demand_s, 0.002)

    def test_pinned_components_are_stations_of_their_own(self):
        found = demands.stations(
            two_cores(fileserver=0.005, others=0.0025), {"fileserver": (0,), "loadgen": (1,)}
        )
        self.assertEqual(
            [(one.name, one.demand_s, one.servers) for one in found],
            [("core 0", 0.005, 1), ("core 1", 0.0025, 1)],
        )

    def test_a_core_in_two_sets_is_counted_once(self):
        pins = {"fileserver": (0,), "loadgen": (0, 1)}
        (station,) = demands.stations(two_cores(fileserver=0.0004, others=0.001), pins)
        self.assertEqual((station.name, station.servers), ("cores 0,1", 2))
        self.assertAlmostEqual(station.bottleneck_demand_s, 0.0007)

    def test_a_smaller_set_that_fills_first_leaves_the_other_cores_to_the_rest(self):
        pins = {"fileserver": (0,), "loadgen": (0, 1)}
        found = demands.stations(two_cores(fileserver=0.002, others=0.001), pins)
        self.assertEqual(
            [(one.name, one.demand_s, one.servers) for one in found],
            [("core 0", 0.002, 1), ("core 1", 0.001, 1)],
        )

    def test_a_disk_is_a_station(self):
        found = Demands(cpu={}, disks={"vda": Law(0.004, 0.1)})
        (disk,) = demands.stations(found, {})
        self.assertEqual((disk.name, disk.background), ("disk vda", 0.1))
