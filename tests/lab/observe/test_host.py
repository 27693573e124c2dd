"""The description of the host says what holds the work folder."""

import os
import re
import tempfile
import unittest
from pathlib import Path

import examples

from lab.observe import host
from lab.observe.figures import FIGURES, GROUPS, HOST
from lab.observe.host import file_system, hardware
from lab.observe.sampler import Sampler


class HardwareTest(unittest.TestCase):
    def test_each_row_has_a_value(self) -> None:
        found = hardware()
        self.assertEqual({row for row, text in found.items() if not text}, set())
        self.assertEqual(found["System"], f"Linux {os.uname().release}")
        swap = re.search(r"SwapTotal: *(\d+)", Path("/proc/meminfo").read_text())
        assert swap
        self.assertEqual(found["Swap"] == "none", swap[1] == "0")


class FileSystemTest(unittest.TestCase):
    def test_a_file_system_is_told_by_its_name(self) -> None:
        found = file_system(Path("/proc"))
        self.assertEqual("proc", found["file system"])
        self.assertNotIn(found["mount options"], ("", "unknown"))

    def test_a_folder_that_does_not_exist_yet_is_on_the_file_system_of_its_parent(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            found = file_system(Path(name) / "work" / "files")
            self.assertEqual(file_system(Path(name)), found)
            self.assertEqual(f"{os.statvfs(name).f_bsize} bytes", found["block size"])


class InterfacesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)
        self.add("eth1", speed="1000", mtu="9000")
        self.add("eth0", speed="-1", mtu="1500")
        self.add("veth0", speed="10000", mtu="1500", is_real=False)

    def add(self, name: str, *, is_real: bool = True, **files: str) -> None:
        (self.folder / name).mkdir()
        if is_real:
            (self.folder / name / "device").mkdir()
        for file, text in files.items():
            (self.folder / name / file).write_text(f"{text}\n")

    def test_real_ones_have_a_device(self) -> None:
        self.assertEqual(host.real(self.folder), ["eth0", "eth1"])

    def test_a_speed_that_the_device_does_not_say_is_none(self) -> None:
        self.assertEqual(host.speed("eth1", self.folder), "1000 Mbit/s")
        self.assertEqual(host.speed("eth0", self.folder), "")
        self.assertEqual(host.speed("eth7", self.folder), "")
        self.assertEqual(host.mtu_of_real("eth1", self.folder), 9000)
        self.assertIsNone(host.mtu_of_real("eth7", self.folder))

    def test_the_mtu_is_that_of_the_kernel(self) -> None:
        wanted = int(Path("/sys/class/net/lo/mtu").read_text())
        self.assertEqual(host.mtu("lo"), wanted)
        self.assertIsNone(host.mtu("none0"))


_NOT_OF_EVERY_KERNEL = "host.run_delay_s"


class HostFiguresTest(unittest.TestCase):
    def test_each_figure_of_the_host_is_sampled(self):
        with Sampler({}, "lo") as sampler:
            pass
        sampled = {*sampler.samples()[-1].values, _NOT_OF_EVERY_KERNEL}
        named = {figure.sample for figure in FIGURES.values() if figure.group == HOST}
        self.assertLessEqual(named, sampled)

    def test_each_is_in_a_group_of_columns(self):
        self.assertEqual({figure.group for figure in FIGURES.values()}, set(GROUPS))
