"""Components with few and with many processes over time."""

import os
import threading
import time
import unittest
from collections.abc import Callable
from unittest import mock

from lab.observe import process_trees
from lab.observe import sampler as sampler_module
from lab.observe.moment import Moment, Sample
from lab.observe.proc_processes import read_process
from lab.observe.process_trees import ProcessTrees, every_s
from lab.observe.sampler import Sampler

_LIMIT_S = 60.0


class ProcessTreesTest(unittest.TestCase):
    """What /proc says is made up. The name of a component with many processes is "many"."""

    PIDS = {"few": 1, "many": 2}

    def setUp(self) -> None:
        self.cpu_s = {1: 10.0, 2: 20.0, 3: 1.0}
        self.now_s = self.lasts_s = 0.0
        for name, answer in {
            "has_more_than": lambda _count, pid: pid > 1,
            "read_process": self.read,
        }.items():
            patched = mock.patch.object(process_trees, name, side_effect=answer)
            patched.start()
            self.addCleanup(patched.stop)
        clock = mock.patch("lab.observe.process_trees.time")
        clock.start().time.side_effect = lambda: self.now_s
        self.addCleanup(clock.stop)
        self.trees = ProcessTrees(self.PIDS)

    def read(self, pid: int) -> Moment:
        self.now_s += self.lasts_s
        return {"cpu_s": self.cpu_s[pid], "threads": self.cpu_s[pid]}

    def read_at(self, now_s: float, **cpu_s: float) -> None:
        """cpu_s are those of the second and third process."""
        self.now_s = now_s
        self.cpu_s.update({{"second": 2, "third": 3}[name]: one for name, one in cpu_s.items()})
        self.trees.read_many()

    def completed(self, *times_s: float) -> list[Moment]:
        samples = [Sample(time_s, {"host.threads": 5.0}) for time_s in times_s]
        return [one.values for one in self.trees.completed(samples)]

    def test_a_sample_has_those_with_few_processes(self) -> None:
        self.assertEqual(self.trees.read_few(), {"few.cpu_s": 10.0, "few.threads": 10.0})

    def test_one_with_many_is_read_beside_and_lies_between_two_readings(self) -> None:
        self.read_at(100.0, second=20.0)
        self.read_at(101.0, second=24.0)
        found = self.completed(99.9, 100.25, 101.1)
        self.assertEqual(found[1], {"host.threads": 5.0, "many.cpu_s": 21.0, "many.threads": 20.0})
        self.assertEqual((found[0], found[2]), ({"host.threads": 5.0}, {"host.threads": 5.0}))

    def test_a_long_reading_is_of_the_time_amid_it(self) -> None:
        self.lasts_s = 4.0
        self.read_at(98.0, second=20.0)
        self.read_at(108.0, second=24.0)
        self.assertEqual(self.completed(102.5)[0]["many.cpu_s"], 21.0)

    def test_what_a_sample_has_read_itself_stays(self) -> None:
        self.read_at(100.0, second=20.0)
        self.read_at(101.0, second=24.0)
        (found,) = self.trees.completed([Sample(100.5, {"many.cpu_s": 1.0})])
        self.assertEqual(found.values, {"many.cpu_s": 1.0})

    def test_nothing_lies_between_two_processes(self) -> None:
        self.read_at(100.0, second=20.0)
        self.trees.replace("many", 3)
        self.read_at(101.0, third=1.0)
        self.read_at(102.0, third=2.0)
        before, after = self.completed(100.5, 101.5)
        self.assertNotIn("many.cpu_s", before)
        self.assertEqual((after["many.cpu_s"], after["many.threads"]), (21.5, 2.0))

    def test_a_process_that_another_component_gets_begins_anew(self) -> None:
        self.read_at(100.0, second=20.0)
        self.trees.watch("many", 3)
        self.read_at(101.0, third=1.0)
        self.read_at(102.0, third=1.0)
        self.assertEqual(self.completed(101.5)[0]["many.cpu_s"], 1.0)

    def test_its_cost_is_bounded(self) -> None:
        self.assertEqual(every_s(0.01), 0.25)
        for cost_s in (0.0, 0.03, 0.2, 3.0):
            self.assertLessEqual(cost_s / every_s(cost_s), 0.0500001)


class SlowReadingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.is_waiting, self.may_end = threading.Event(), threading.Event()
        self.readings = 0

    def read(self, pid: int) -> Moment:
        """From the second time on it does not end before it may."""
        self.readings += 1
        if self.readings > 1:
            self.is_waiting.set()
            self.may_end.wait(_LIMIT_S)
        return read_process(pid)

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _LIMIT_S
        while not is_true():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_the_host_is_sampled_while_processes_are_read(self) -> None:
        with (
            mock.patch.object(sampler_module, "INTERVAL_S", 0.01),
            mock.patch.object(process_trees, "INTERVAL_S", 0.01),
            mock.patch.object(process_trees, "has_more_than", return_value=True),
            mock.patch.object(process_trees, "read_process", side_effect=self.read),
            Sampler({"server": os.getpid()}) as sampler,
        ):
            self.assertTrue(self.is_waiting.wait(_LIMIT_S))
            try:
                count = len(sampler.samples())
                self.wait_until(lambda: len(sampler.samples()) > count + 5)
                self.assertEqual(self.readings, 2)
            finally:
                self.may_end.set()
        for sample in sampler.samples():
            self.assertIn("memory.ganglia_used_bytes", sample.values)
            self.assertIn("core.0.idle_s", sample.values)
            self.assertGreater(sample.values["server.cpu_s"], 0)
