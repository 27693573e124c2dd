"""--hosts FILE: how it is read, and hosts that ssh reaches, all at the same time."""

import os
import unittest
from pathlib import Path
from unittest import mock

import examples
from ssh_host import SshHost, why_no_ssh_host

from rig import hosts
from rig.errors import Failed, WrongUsage
from rig.hosts import Host


class HostsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)

    def file(self, text: str) -> Path:
        path = self.folder / "hosts"
        path.write_text(text)
        return path

    def test_a_line_is_a_host_and_its_group(self) -> None:
        text = "# all\n\nplanet1 planetlab\n  amy@10.0.0.7   cluster  # fast\nplanet2\n"
        self.assertEqual(
            hosts.read(self.file(text)),
            [
                Host("planet1", "planetlab"),
                Host("amy@10.0.0.7", "cluster"),
                Host("planet2", "hosts"),
            ],
        )

    def test_what_is_no_list_of_hosts_is_wrong_usage_with_its_line(self) -> None:
        for text, words in (
            ("a\n-oProxyCommand=x\n", "line 2: '-oProxyCommand=x' is no host as ssh takes it"),
            ("a group more\n", "line 1: wanted a host, and a group"),
            ("a b/c\n", "line 1: 'b/c' is no name of a group"),
            ("a\n\na b\n", "line 3: a is there twice"),
            ("# nobody\n", "it has no host"),
        ):
            with self.subTest(text), self.assertRaises(WrongUsage) as caught:
                hosts.read(self.file(text))
            self.assertIn(f"--hosts {self.folder}/hosts", str(caught.exception))
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(WrongUsage) as caught:
            hosts.read(self.folder / "nothing")
        self.assertIn("No such file", str(caught.exception))


@unittest.skipIf(why_no_ssh_host(), why_no_ssh_host())
class LoggedInTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)
        self.host = SshHost(self.folder)
        self.host.__enter__()
        self.addCleanup(self.host.__exit__)
        path = os.pathsep.join([str(self.host.bin), os.environ["PATH"]])
        patched = mock.patch.dict(os.environ, {"PATH": path})
        patched.start()
        self.addCleanup(patched.stop)

    def file(self, *lines: str) -> Path:
        path = self.folder / "hosts"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def test_each_host_is_a_place_and_nothing_is_left_there(self) -> None:
        with hosts.logged_in_all(self.file("bench near", "bench-2 far")) as nodes:
            self.assertEqual(nodes.name, "2 hosts")
            self.assertEqual(nodes.host, "127.0.0.1")
            self.assertEqual(nodes.interface, "lo")
            self.assertEqual(
                [(place.name, place.group, place.is_here) for place in nodes.places],
                [("bench", "near", False), ("bench-2", "far", False)],
            )
            self.assertEqual(len(self.host.left_behind()), 2)
        self.assertEqual(self.host.left_behind(), [])

    def test_a_host_that_does_not_let_us_in_is_named_and_the_others_are_left(self) -> None:
        lines = ("bench", "nobody.invalid", "bench-2")
        with self.assertRaises(Failed) as caught, hosts.logged_in_all(self.file(*lines)):
            self.fail("it was not reached")
        self.assertIn("nobody.invalid: ", str(caught.exception))
        self.assertEqual(self.host.left_behind(), [])

    def test_a_file_is_fetched_and_its_clock_is_compared(self) -> None:
        with hosts.logged_in_all(self.file("bench")) as nodes:
            (place,) = nodes.places
            ours = self.folder / "figures.csv"
            Path(place.there(ours)).write_text("a,b\n")  # the host is this machine
            place.fetch(ours)
            self.assertEqual(ours.read_text(), "a,b\n")
            with self.assertRaises(Failed):
                place.fetch(self.folder / "nothing.csv")
            self.assertIn("bench", place.clock_command())
