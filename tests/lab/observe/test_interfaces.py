"""Interfaces: a made-up folder of the system, and loopback for real."""

import unittest
from pathlib import Path

import examples

from lab.observe import host


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
