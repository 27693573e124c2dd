"""A probe says what a control group really carries. The groups are the kernel's own."""

import os
import unittest
from pathlib import Path
from unittest import mock

import examples

from lab.observe import machine_probe
from lab.observe.machine_probe import MachineProbe
from rig.control_group import Limits
from rig.errors import Failed

_MIB = 1 << 20
_FOLDER = Path(os.environ.get("TURNSTILE_BUILD", Path(__file__).parents[3] / "build"))


class MachineProbeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self, _FOLDER)

    def _measure(self, limits: Limits) -> MachineProbe:
        try:
            return machine_probe.measure(limits, self.work, 1.0)
        except Failed as error:
            if "no control group" not in str(error):
                raise
            self.skipTest(str(error))

    def test_what_is_not_limited_is_not_tried(self) -> None:
        with mock.patch("rig.control_group.limited") as limited:
            self.assertEqual(machine_probe.measure(Limits(), self.work, 1.0), MachineProbe())
        limited.assert_not_called()

    def test_memory_of_which_a_file_would_be_too_large_is_not_tried(self) -> None:
        with mock.patch("rig.control_group.limited") as limited:
            found = machine_probe.measure(Limits(memory_bytes=1 << 40), self.work, 1.0)
        self.assertEqual(found, MachineProbe())
        limited.assert_not_called()

    def test_a_share_of_a_core_is_counted(self) -> None:
        found = self._measure(Limits(cores=0.1))
        assert found.cores is not None
        self.assertGreater(found.cores, 0)
        self.assertLess(found.cores, 0.5)  # a busy core counts less for the same CPU time, too
        self.assertIsNone(found.read_bytes_per_s)

    def test_the_disk_s_rate_and_the_page_cache_are_those_of_the_limits(self) -> None:
        found = self._measure(Limits(cache_bytes=8 * _MIB, read_bytes_per_s=8 * _MIB))
        assert found.read_bytes_per_s is not None and found.cached_bytes is not None
        self.assertLess(found.read_bytes_per_s, 16 * _MIB)
        # Each core keeps a part of what was charged, and the reader grows a little.
        self.assertGreater(found.cached_bytes, 4 * _MIB)
        self.assertLess(found.cached_bytes, 9 * _MIB)
        self.assertEqual(list(self.work.iterdir()), [])
