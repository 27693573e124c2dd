"""Cutting samples to the measured window."""

import unittest

from lab.observe import usage
from lab.observe.moment import Sample
from rig.errors import Failed


def sample(time_s: float, **values: float) -> Sample:
    return Sample(time_s, {name.replace("__", "."): value for name, value in values.items()})


def machine(time_s: float) -> dict[str, float]:
    """A machine that has done the same every second since time 0."""
    core = {
        "core.0.user_s": 0.3 * time_s,
        "core.0.system_s": 0.2 * time_s,
        "core.0.wait_s": 0.1 * time_s,
        "core.0.idle_s": 0.4 * time_s,
        "core.0.stolen_s": 0.0,
    }
    process = {
        "fileserver.cpu_s": 0.5 * time_s,
        "fileserver.main_thread_s": 0.1 * time_s,
        "fileserver.minor_faults": 7 * time_s,
        "fileserver.read_bytes": 4096 * time_s,
        "fileserver.write_bytes": 0.0,
        "fileserver.resident_bytes": 1e6,
        "fileserver.threads": 3,
    }
    disk = {
        "disk.vda.read_bytes": 4096 * time_s,
        "disk.vda.write_bytes": 512 * time_s,
        "disk.vda.busy_s": 0.25 * time_s,
    }
    return {
        **core,
        **process,
        **disk,
        "loopback.bytes": 1000 * time_s,
        "tcp.accepts": 3 * time_s,
        "tcp.open_ends": 12,
        "memory.used_bytes": 2e9,
    }


class UsageTest(unittest.TestCase):
    def test_sizes_of_a_process_are_the_largest_and_faults_are_a_rate(self):
        def at(time_s: float) -> Sample:
            more = {"virtual_bytes": 9e6 + time_s, "text_bytes": 2e6, "data_bytes": 3e6}
            named = {f"fileserver.{name}": value for name, value in more.items()}
            return Sample(
                time_s, {**machine(time_s), **named, "fileserver.major_faults": 5 * time_s}
            )

        used = usage.between([at(0.0), at(1.0), at(2.0)]).components["fileserver"]
        self.assertEqual(used.virtual_bytes, 9e6 + 2)
        self.assertEqual((used.text_bytes, used.data_bytes), (2e6, 3e6))
        self.assertEqual(used.major_faults_per_s, 5)

    def test_caches_and_load_are_the_largest_and_segments_and_delays_a_rate(self):
        def at(time_s: float) -> Sample:
            more = {
                "memory.cached_bytes": 5e8 + time_s,
                "memory.refaults": 40 * time_s,
                "host.load_average": 2 + time_s,
                "host.run_delay_s": 1.5 * time_s,
                "host.context_switches": 700 * time_s,
                "tcp.received_segments": 20 * time_s,
                "tcp.sent_segments": 30 * time_s,
                "tcp.retransmits": 4 * time_s,
                "udp.sent_datagrams": 6 * time_s,
                "fileserver.main_thread_delay_s": 0.25 * time_s,
            }
            return Sample(time_s, {**machine(time_s), **more})

        used = usage.between([at(0.0), at(1.0), at(2.0)])
        wanted = {
            "page_cache_bytes": 5e8 + 2,
            "load_average": 4,
            "refaults_per_s": 40,
            "waiting_threads": 1.5,
            "context_switches_per_s": 700,
            "tcp_received_segments_per_s": 20,
            "tcp_sent_segments_per_s": 30,
            "tcp_retransmits_per_s": 4,
            "udp_sent_datagrams_per_s": 6,
        }
        self.assertEqual(used.figures, wanted)
        self.assertEqual(used.components["fileserver"].main_thread_delay, 0.25)

    def test_memory_by_ganglia_and_what_the_load_added_are_the_largest(self):
        def at(time_s: float) -> Sample:
            more = {
                "memory.ganglia_used_bytes": 3e9 - time_s,
                "memory.swap_used_bytes": 5e6 + time_s,
                "host.added_processes": 40 + time_s,
                "host.added_threads": 90 - time_s,
                "link.received_bytes": 7000 * time_s,
                "link.sent_bytes": 0.0,
            }
            return Sample(time_s, {**machine(time_s), **more})

        used = usage.between([at(0.0), at(1.0), at(2.0)])
        wanted = {
            "ganglia_used_bytes": 3e9,
            "swap_used_bytes": 5e6 + 2,
            "added_processes": 42,
            "added_threads": 90,
            "link_received_bytes_per_s": 7000,
        }
        self.assertEqual(used.figures, wanted)

    def test_the_memory_of_a_server_need_not_be_in_every_sample(self):
        samples = [Sample(time_s, machine(time_s)) for time_s in (0.0, 1.0, 2.0)]
        self.assertIsNone(usage.between(samples).components["fileserver"].proportional_bytes)
        samples[1].values["fileserver.proportional_bytes"] = 4e6
        samples[1].values["fileserver.processes"] = 9
        fileserver = usage.between(samples).components["fileserver"]
        self.assertEqual((fileserver.proportional_bytes, fileserver.processes), (4e6, 9))

    def test_a_series_that_broke_off_has_a_gap(self):
        samples = [sample(time_s, a=0) for time_s in (0, 1, 1.5, 2.5, 5, 5.5, 6, 6.5)]
        self.assertEqual(usage.gaps(usage.cut(samples, 0.75, 6.25)), [(1.75, 2.5)])
        self.assertEqual(usage.gaps(usage.cut(samples, 0.75, 2.25)), [])
        self.assertEqual(usage.gaps(usage.cut(samples, 3.0, 4.5)), [(0.0, 1.5)])

    def test_of_a_control_group_sizes_and_kills_are_the_most_and_refaults_and_waits_a_rate(self):
        def at(time_s: float) -> Sample:
            more = {
                "group.used_bytes": 6e6 - time_s,
                "group.peak_bytes": 7e6 + time_s,
                "group.cached_bytes": 3e6,
                "group.refaults": 20 * time_s,
                "group.throttled_s": 0.75 * time_s,
                "group.oom_kills": time_s,
            }
            return Sample(time_s, {**machine(time_s), **more})

        used = usage.between([at(0.0), at(1.0), at(2.0)])
        wanted = {
            "group_used_bytes": 6e6,
            "group_peak_bytes": 7e6 + 2,
            "group_page_cache_bytes": 3e6,
            "group_refaults_per_s": 20,
            "group_throttled": 0.75,
            "group_oom_kills": 2,
        }
        self.assertEqual(used.figures, wanted)
        unlimited = usage.between([at(0.0), at(2.0)], has_limited_server=False)
        self.assertEqual((unlimited.figures, unlimited.has_limited_server), ({}, False))

    def test_a_window_without_a_control_group_has_none(self):
        used = usage.between([Sample(time_s, machine(time_s)) for time_s in (0.0, 1.0)])
        self.assertIsNone(used.figure("group_page_cache_bytes"))
        self.assertFalse(used.has_limited_server)

    def test_the_peak_of_a_group_is_not_extrapolated(self):
        samples = [sample(n, group__peak_bytes=size) for n, size in enumerate((1, 1, 5, 9, 9))]
        window = usage.cut(samples, 0.7, 3.2)
        self.assertEqual([one.values["group.peak_bytes"] for one in window], [1, 1, 5, 9, 9])

    def test_sizes_that_an_older_sampler_did_not_take_were_not_measured(self):
        used = usage.between([Sample(time_s, machine(time_s)) for time_s in (0.0, 1.0)])
        self.assertIsNone(used.components["fileserver"].virtual_bytes)
        self.assertIsNone(used.components["fileserver"].major_faults_per_s)
        self.assertIsNone(used.components["fileserver"].main_thread_delay)
        self.assertIsNone(used.figure("waiting_threads"))

    def test_a_short_window_is_cut_across_by_a_straight_line(self):
        samples = [sample(0, a=0), sample(1, a=10), sample(2, a=30)]
        self.assertEqual([one.values["a"] for one in usage.cut(samples, 0.5, 1.5)], [5, 10, 20])

    def test_idleness_outside_of_the_window_does_not_reach_into_it(self):
        samples = [
            sample(0, a=0),
            sample(1, a=10),
            sample(2, a=20),
            sample(3, a=30),
            sample(9, a=32),
        ]
        self.assertEqual(usage.cut(samples, 0.5, 3.5)[-1].values["a"], 35)
        self.assertEqual(usage.cut(samples, 0.5, 3.5)[0].values["a"], 5)

    def test_a_sample_at_an_edge_is_not_kept_beside_it(self):
        samples = [
            Sample(time_s, {"a": 10 * time_s}) for time_s in (0, 0.5001, 1, 1.5, 2, 2.4999, 3)
        ]
        self.assertEqual(
            [one.time_s for one in usage.cut(samples, 0.5, 2.5)], [0.5, 1, 1.5, 2, 2.5]
        )

    def test_a_window_beyond_the_samples_is_refused(self):
        with self.assertRaises(Failed):
            usage.cut([sample(1, a=0), sample(2, a=1)], 1.5, 2.5)

    def test_a_process_that_has_ended_stays_as_it_was(self):
        samples = [sample(0, loadgen__cpu_s=0), sample(1, loadgen__cpu_s=2), sample(2)]
        self.assertEqual(usage.cut(samples, 0.5, 1.5)[-1].values["loadgen.cpu_s"], 2)

    def test_a_process_that_started_inside_counts_from_nothing(self):
        samples = [sample(0), sample(1, loadgen__cpu_s=4), sample(2, loadgen__cpu_s=8)]
        self.assertEqual(usage.cut(samples, 0.5, 1.5)[0].values["loadgen.cpu_s"], 2)

    def test_a_gauge_is_not_extrapolated(self):
        samples = [sample(n, fileserver__threads=count) for n, count in enumerate((1, 8, 4, 9, 1))]
        window = usage.cut(samples, 0.7, 3.2)
        self.assertEqual([one.values["fileserver.threads"] for one in window], [8, 8, 4, 9, 9])
        short = usage.cut(samples, 1.2, 2.8)
        self.assertEqual([one.values["fileserver.threads"] for one in short], [8, 4, 9])

    def test_threads_that_grow_steadily_are_told_from_those_that_come_and_go(self):
        def rise(*counts: int) -> float | None:
            samples = [
                Sample(float(n), {**machine(n), "fileserver.threads": count})
                for n, count in enumerate(counts)
            ]
            return usage.between(samples).components["fileserver"].threads_rise

        self.assertEqual(rise(10, 20, 30, 40, 50, 60), 40)
        self.assertEqual(rise(10, 20, 60, 60, 30, 20), 0)
        self.assertEqual(rise(60, 50, 40, 30, 20, 10), 0)
        self.assertIsNone(rise(10, 20, 30))

    def test_a_core_that_was_busy_whenever_it_was_there_is_full(self):
        core = usage.CoreUsage(user=0.5, system=0.35, wait=0.0, idle=0.0, stolen=0.15)
        self.assertEqual((core.busy, core.worked), (1.0, 0.85))
        gone = usage.CoreUsage(user=0.0, system=0.0, wait=0.0, idle=0.0, stolen=1.0)
        self.assertEqual(gone.busy, 1.0)

    def test_what_was_stolen_is_no_work_of_others(self):
        core = usage.CoreUsage(user=0.5, system=0.3, wait=0.0, idle=0.0, stolen=0.2)
        used = usage.Usage(
            components={"fileserver": usage.ComponentUsage(cpu_cores=0.8)},
            cores={"0": core},
            disks={},
        )
        self.assertAlmostEqual(used.foreign_share, 0.0)

    def test_the_lab_that_watches_is_no_stranger(self):
        core = usage.CoreUsage(user=0.5, system=0.3, wait=0.0, idle=0.2, stolen=0.0)
        used = usage.Usage(
            components={"fileserver": usage.ComponentUsage(cpu_cores=0.7)},
            cores={"0": core},
            disks={},
            lab_cpu_cores=0.06,
        )
        self.assertAlmostEqual(used.foreign_share, 0.04)

    def test_steady_work_gives_its_own_rates_whatever_the_window(self):
        samples = [Sample(time_s, machine(time_s)) for time_s in (0, 0.7, 1.1, 2.3, 3.0)]
        used = usage.between(usage.cut(samples, 0.9, 2.9))
        fileserver = used.components["fileserver"]
        self.assertAlmostEqual(fileserver.cpu_cores, 0.5)
        self.assertAlmostEqual(fileserver.main_thread or 0, 0.1)
        self.assertAlmostEqual(fileserver.resident_bytes or 0, 1e6)
        self.assertAlmostEqual(used.cores["0"].busy, 0.5)
        self.assertAlmostEqual(used.cores["0"].wait, 0.1)
        self.assertAlmostEqual(used.disks["vda"].busy, 0.25)
        self.assertAlmostEqual(used.disks["vda"].read_bytes_per_s, 4096)
        self.assertAlmostEqual(used.loopback_bytes_per_s or 0, 1000)
        self.assertAlmostEqual(used.accepts_per_s or 0, 3)
        self.assertEqual(used.open_ends, 12)
        self.assertNotIn("store", used.components)
