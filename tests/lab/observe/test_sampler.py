"""The sampler takes samples of processes and the machine, again and again."""

import contextlib
import io
import os
import time
import unittest
from unittest import mock

from lab.observe import proc_host
from lab.observe import sampler as sampler_module
from lab.observe.moment import Moment
from lab.observe.sampler import Sampler, interval_s
from rig.control_group import ControlGroup
from rig.group_usage import GroupUsage


class SamplerTest(unittest.TestCase):
    def test_the_counters_of_a_process_go_on_in_the_one_that_replaces_it(self):
        with Sampler({"server": os.getpid()}) as sampler:
            sampler.replace("server", os.getpid())
        before, after = (one.values for one in (sampler.samples()[0], sampler.samples()[-1]))
        self.assertGreaterEqual(after["server.cpu_s"], 2 * before["server.cpu_s"])
        self.assertLess(after["server.resident_bytes"], 2 * before["server.resident_bytes"])

    def test_a_control_group_is_sampled_as_far_as_the_kernel_tells(self):
        group = mock.Mock(spec=ControlGroup)
        group.usage.return_value = GroupUsage(
            memory_bytes=500,
            peak_memory_bytes=None,
            page_cache_bytes=300,
            mapped_bytes=20,
            refaults=7,
            throttled_s=0.5,
            cpu_s=2.5,
            oom_kills=1,
        )
        with Sampler({}, group=group) as sampler:
            pass
        found = {
            name: value
            for name, value in sampler.samples()[-1].values.items()
            if name.startswith("group.")
        }
        self.assertEqual(
            found,
            {
                "group.used_bytes": 500,
                "group.cached_bytes": 300,
                "group.refaults": 7,
                "group.throttled_s": 0.5,
                "group.cpu_s": 2.5,
                "group.oom_kills": 1,
            },
        )

    def test_processes_are_counted_from_the_start_on(self):
        before = {"processes": 10, "threads": 100}
        after = {"processes": 13, "threads": 190}
        with (
            mock.patch.object(sampler_module, "read_tasks", side_effect=[before, after]),
            mock.patch("threading.Thread.start"),
            mock.patch("threading.Thread.join"),
            Sampler({}) as sampler,
        ):
            pass
        first, last = (one.values for one in sampler.samples())
        self.assertEqual((first["host.added_processes"], first["host.added_threads"]), (0, 0))
        self.assertEqual((last["host.added_processes"], last["host.added_threads"]), (3, 90))
        self.assertEqual((last["host.processes"], last["host.threads"]), (13, 190))

    def test_a_sample_is_of_the_time_just_before_the_host_is_read(self):
        begun_s: list[float] = []

        def read(_link: str) -> Moment:
            begun_s.append(time.time())
            return {}

        with (
            mock.patch.object(sampler_module, "read_host", side_effect=read),
            mock.patch("threading.Thread.start"),
            mock.patch("threading.Thread.join"),
            Sampler({}) as sampler,
        ):
            pass
        for sample, begin_s in zip(sampler.samples(), begun_s):
            self.assertLessEqual(sample.time_s, begin_s)

    def test_the_memory_of_servers_is_read_if_asked_for(self):
        with Sampler({"a": os.getpid(), "b": os.getpid()}, memory_of=["a"]) as sampler:
            pass
        read = [one.values for one in sampler.samples() if "a.proportional_bytes" in one.values]
        self.assertGreater(read[0]["a.proportional_bytes"], 1e6)
        self.assertIn("lab.server_memory_cpu_s", read[0])
        self.assertNotIn("b.proportional_bytes", read[0])
        with Sampler({"a": os.getpid()}) as sampler:
            pass
        self.assertNotIn("a.proportional_bytes", sampler.samples()[-1].values)
        self.assertNotIn("lab.server_memory_cpu_s", sampler.samples()[-1].values)

    def test_a_series_that_breaks_off_is_told_while_it_does(self):
        errors = io.StringIO()
        failing = mock.patch.object(proc_host, "read_disks", side_effect=OSError(24, "many"))
        with (
            contextlib.redirect_stderr(errors),
            mock.patch.object(sampler_module, "INTERVAL_S", 0.01),
            mock.patch.object(sampler_module, "MOST_GAP_S", 0.05),
            Sampler({}) as sampler,
        ):
            with failing as reading:
                self.wait_until(errors.getvalue)
                calls = reading.call_count
                self.wait_until(lambda: reading.call_count > calls + 5)
            count = len(sampler.samples())
            self.wait_until(lambda: len(sampler.samples()) > count)
        self.assertRegex(errors.getvalue(), r"^lab: no sample of the machine for \d+\.\d s\n$")

    def test_samples_that_cost_much_are_taken_less_often(self):
        self.assertEqual(interval_s(0.003), 0.25)
        self.assertAlmostEqual(interval_s(0.13), 2.6)
        with mock.patch.object(sampler_module, "interval_s", return_value=0.01) as interval:
            with Sampler({}) as sampler:
                self.wait_until(lambda: len(sampler.samples()) > 4)
            costs = [call.args[0] for call in interval.call_args_list]
        self.assertGreaterEqual(len(costs), 3)
        self.assertTrue(all(0 < cost_s < 60 for cost_s in costs))
        rare = mock.patch.object(sampler_module, "interval_s", return_value=1000.0)
        with rare as interval, mock.patch.object(sampler_module, "INTERVAL_S", 0.01), Sampler({}):
            self.wait_until(lambda: interval.called)
            time.sleep(0.2)
            self.assertEqual(interval.call_count, 1)

    def wait_until(self, is_true):
        deadline = time.monotonic() + 60
        while not is_true():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_samples_come_in_order_and_cover_the_time_between(self):
        before = time.time()
        with Sampler({"fileserver": os.getpid()}) as sampler:
            pass
        samples = sampler.samples()
        self.assertGreaterEqual(len(samples), 2)
        self.assertGreaterEqual(samples[0].time_s, before)
        self.assertLessEqual(samples[-1].time_s, time.time())
        for name in (
            "fileserver.cpu_s",
            "core.0.idle_s",
            "loopback.bytes",
            "tcp.accepts",
            "tcp.open_ends",
            "memory.used_bytes",
            "memory.ganglia_used_bytes",
            "memory.swap_used_bytes",
            "fileserver.processes",
            "host.processes",
            "host.threads",
            "memory.cached_bytes",
            "memory.refaults",
            "host.load_average",
            "host.context_switches",
            "tcp.sent_segments",
            "tcp.received_segments",
            "tcp.retransmits",
            "udp.sent_datagrams",
        ):
            self.assertIn(name, samples[-1].values)
