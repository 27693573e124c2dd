"""Service demands by the utilisation law, and the stations where requests queue."""

import unittest

import examples

from lab.analysis import demands
from lab.analysis.demands import Demands


def two_cores(*, fileserver: float, others: float) -> Demands:
    return Demands(cpu_s={"fileserver": fileserver, "loadgen": others}, disks_s={})


class UtilisationLawTest(unittest.TestCase):
    def used(self, *each: dict[str, float], rate: float = 100.0) -> Demands:
        """each is the CPU seconds of a request in one run."""
        return demands.of_runs(
            [
                examples.run(
                    1,
                    rate,
                    used=examples.usage(
                        {name: rate * one for name, one in cpu.items()},
                        disk=examples.disk_usage(rate * 0.0001),
                    ),
                )
                for cpu in each
            ]
        )

    def test_the_demands_add_up_to_all_that_was_used_for_each_request(self):
        found = self.used({"fileserver": 0.0010, "store": 0.0004})
        self.assertAlmostEqual(found.cpu_s["fileserver"], 0.0010)
        self.assertAlmostEqual(found.cpu_s["store"], 0.0004)
        self.assertAlmostEqual(found.disk_s, 0.0001)
        self.assertAlmostEqual(found.total_s, 0.0015)

    def test_one_run_far_off_moves_nothing(self):
        usual = {"fileserver": 0.0010, "store": 0.0004}
        found = self.used(usual, {"fileserver": 0.0110, "store": 0.0001}, usual)
        self.assertAlmostEqual(sum(found.cpu_s.values()), 0.0014)
        self.assertAlmostEqual(found.cpu_s["store"], 0.0004)

    def test_of_two_runs_it_is_the_mean(self):
        found = self.used({"fileserver": 0.0010}, {"fileserver": 0.0020})
        self.assertAlmostEqual(found.cpu_s["fileserver"], 0.0015)


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
        found = Demands(cpu_s={}, disks_s={"vda": 0.004})
        (disk,) = demands.stations(found, {})
        self.assertEqual((disk.name, disk.demand_s), ("disk vda", 0.004))
