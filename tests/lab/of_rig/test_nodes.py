"""Network namespaces as hosts: laid, limited, changed, and gone without a rest."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import examples
import networks

from rig import nodes, process_tree
from rig.cable import inside
from rig.errors import Failed, WrongUsage
from rig.nodes import Change, Group, Node, Nodes, NodesHere

_LONG_S = 60.0
_WHY_NOT: list[str] = []
# Connects and says which address it has; then it sends so many bytes.
_SENDER = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    connection.sendall(bytes(int(sys.argv[3])))
"""
# Lays nodes, says so, and waits for its end.
_LAB = """
import sys, time
from pathlib import Path
from rig import nodes
with nodes.laid([nodes.Group(name="a", count=3)], "", Path(sys.argv[1])) as made:
    print(made.places[0].namespace.split("/")[2], flush=True)
    time.sleep(1000)
"""


def _rate_in(namespace: str, interface: str) -> str:
    show = [*inside(namespace), "tc", "qdisc", "show", "dev", interface]
    words = subprocess.check_output(show, text=True).split()
    return words[words.index("rate") + 1] if "rate" in words else ""


def setUpModule() -> None:
    _WHY_NOT.append(networks.why_not_in_own())


class NodesTest(unittest.TestCase):
    def setUp(self) -> None:
        if _WHY_NOT[0]:
            self.skipTest(_WHY_NOT[0])
        self.folder = examples.folder(self)

    @contextmanager
    def laid(self, *groups: Group, server_link: str = "") -> Iterator[Nodes]:
        with nodes.laid(groups, server_link, self.folder) as made:
            yield made

    def assert_nothing_left(self) -> None:
        interfaces = [name for _, name in socket.if_nameindex()]
        self.assertEqual([name for name in interfaces if name != "lo"], [])
        self.assertEqual(process_tree.tree(os.getpid()), [os.getpid()])

    def received(self, made: Nodes, number: int, size: int) -> tuple[str, float]:
        """From which address a node sends bytes, and how long they take from the first one."""
        with socket.create_server((made.host, 0)) as listener:
            listener.settimeout(_LONG_S)
            command = ["-I", "-S", "-c", _SENDER, made.host, str(listener.getsockname()[1])]
            program = made.places[number].start(
                "sender", [sys.executable, *command, str(size)], self.folder / "sender.log"
            )
            try:
                connection, address = listener.accept()
                with connection:
                    connection.settimeout(_LONG_S)
                    left = size - len(connection.recv(1))
                    begun_s = time.monotonic()
                    while left and (chunk := connection.recv(min(left, 1 << 16))):
                        left -= len(chunk)
                    self.assertEqual(left, 0)
                    return address[0], time.monotonic() - begun_s
            finally:
                program.stop()

    def rate_of(self, made: Nodes, number: int) -> str:
        """Of what a node sends, as the kernel has it."""
        place = made.places[number]
        assert isinstance(place, Node)
        return _rate_in(place.namespace, "host0")

    def rate_at_switch(self, made: Nodes, number: int) -> str:
        """Of what it gets."""
        assert isinstance(made, NodesHere)
        return _rate_in(made.cables.namespace, f"port{number + 1}")

    def test_130_nodes_reach_us_and_are_gone_afterwards(self) -> None:
        groups = (
            Group(name="planetlab", count=100, link="10mbit"),
            Group(name="cluster", count=30, link="100mbit"),
        )
        with self.laid(*groups, server_link="360mbit") as made:
            self.assertEqual(made.name, "130 nodes")
            self.assertIn("100 of planetlab at 10mbit, 30 of cluster at 100mbit", made.title)
            self.assertIn("behind a link of 360mbit", made.title)
            names = [place.name for place in made.places]
            self.assertEqual((names[0], names[99]), ("planetlab-1", "planetlab-100"))
            self.assertEqual((names[100], names[129]), ("cluster-1", "cluster-30"))
            self.assertEqual(len(set(names)), 130)
            self.assertEqual({place.group for place in made.places[:100]}, {"planetlab"})
            addresses = {place.address for place in made.places if isinstance(place, Node)}
            self.assertEqual(len(addresses), 130)
            for number in (0, 99, 100, 129):
                place = made.places[number]
                assert isinstance(place, Node)
                self.assertEqual(self.received(made, number, 1000)[0], place.address)
            self.assertEqual(
                [self.rate_of(made, 99), self.rate_of(made, 100)], ["10Mbit", "100Mbit"]
            )
            before = self.bytes_in(made)
            self.received(made, 0, 500_000)
            self.assertGreater(self.bytes_in(made) - before, 500_000)
        self.assert_nothing_left()

    def bytes_in(self, made: Nodes) -> int:
        counters = Path("/proc/self/net/dev").read_text().splitlines()
        line = next(line for line in counters if line.strip().startswith(f"{made.interface}:"))
        return int(line.partition(":")[2].split()[0])

    def test_no_node_sends_more_than_its_link_carries(self) -> None:
        size, passed = 400_000, 120_000  # what may be on its way when the first byte arrives
        with self.laid(
            Group(name="slow", count=1, link="2mbit"),
            Group(name="free", count=1),
        ) as made:
            self.assertEqual(self.rate_of(made, 1), "")
            slow_s = self.received(made, 0, size)[1]
        self.assertGreater(slow_s, (size - passed) * 8 / 2e6)

    def test_links_change_when_it_is_time_and_change_back(self) -> None:
        for change, texts, due_s in (
            (
                Change(at_s=0.3, rate="1mbit", stagger_s=0.2),
                ["capped-1 at 1mbit", "capped-2 at 1mbit"],
                (0.3, 0.5),
            ),
            (Change(at_s=0.2, rate="1mbit"), ["2 of capped at 1mbit"], (0.2,)),
        ):
            with (
                self.subTest(change),
                self.laid(
                    Group(name="still", count=1, link="10mbit"),
                    Group(name="capped", count=2, link="10mbit", changes=(change,)),
                ) as made,
            ):
                begun_s = time.time()
                with made.follow_changes(begun_s) as done:
                    self.until(lambda: len(done) == len(texts))
                    rates = [self.rate_of(made, number) for number in (0, 1, 2)]
                    self.assertEqual(rates, ["10Mbit", "1Mbit", "1Mbit"])
                    self.assertEqual(self.rate_at_switch(made, 1), "1Mbit")
                self.assertEqual([text for _, text in done], texts)
                for (at_s, _), least_s in zip(done, due_s):
                    self.assertGreaterEqual(at_s - begun_s, least_s)
                self.assertEqual([self.rate_of(made, n) for n in (0, 1, 2)], ["10Mbit"] * 3)
                self.assertEqual(self.rate_at_switch(made, 1), "10Mbit")

    def test_what_is_not_due_when_the_block_is_left_does_not_happen(self) -> None:
        change = Change(at_s=1000, rate="1mbit")
        with self.laid(Group(name="a", count=1, link="10mbit", changes=(change,))) as made:
            with made.follow_changes(time.time()) as done:
                pass
            self.assertEqual(done, [])
            self.assertEqual(self.rate_of(made, 0), "10Mbit")

    def test_a_change_that_is_not_possible_is_told(self) -> None:
        change = Change(at_s=0, rate="1mbit")
        group = Group(name="a", count=1, link="10mbit", changes=(change,))
        with (
            self.laid(group) as made,
            self.assertRaises(Failed) as caught,
            self.broken_tc(),
            made.follow_changes(time.time()),
        ):
            self.until(self.is_broken)
        self.assertIn("tc is out of order", str(caught.exception))

    def test_a_failure_while_the_links_are_laid_leaves_nothing(self) -> None:
        group = Group(name="a", count=5, link="10mbit")
        with self.broken_tc(), self.assertRaises(Failed), self.laid(group):
            self.fail("it was laid")
        self.assert_nothing_left()

    def test_ctrl_c_while_the_links_are_laid_leaves_nothing(self) -> None:
        group = Group(name="a", count=5, link="10mbit")
        interrupt = f"kill -INT {os.getpid()}"
        with (
            self.broken_tc(interrupt),
            self.assertRaises(KeyboardInterrupt),
            self.laid(group),
        ):
            self.fail("it was laid")
        self.assert_nothing_left()

    def test_ctrl_c_leaves_nothing(self) -> None:
        with self.assertRaises(KeyboardInterrupt), self.laid(Group(name="a", count=2)) as made:
            made.places[0].start("sleep", ["sleep", "1000"], self.folder / "log").kill()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(_LONG_S)
        self.assert_nothing_left()

    def test_a_lab_that_is_killed_leaves_no_process(self) -> None:
        command = [sys.executable, "-c", _LAB, str(self.folder)]
        root = Path(__file__).resolve().parents[3]
        lab = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
        with lab:
            holder = Path("/proc") / str(lab.stdout.readline().strip())
            self.assertTrue(holder.is_dir())
            lab.kill()
        self.until(lambda: not holder.exists() or " Z " in (holder / "stat").read_text())
        self.until(lambda: len(socket.if_nameindex()) == 1)

    def test_wrong_rates_are_refused_before_anything_is_laid(self) -> None:
        change = Change(at_s=1, rate="fast")
        for group, server_link in (
            (Group(name="a", count=1, link="1mb"), ""),
            (Group(name="a", count=1, link="1mbit", changes=(change,)), ""),
            (Group(name="a", count=1), "quick"),
        ):
            with self.assertRaises(WrongUsage), self.laid(group, server_link=server_link):
                self.fail("it was laid")
            self.assert_nothing_left()

    def test_more_nodes_than_a_switch_has_ports_are_refused(self) -> None:
        with self.assertRaises(Failed) as caught, self.laid(Group(name="a", count=1001)):
            self.fail("it was laid")
        self.assertIn("too many", str(caught.exception))
        self.assert_nothing_left()

    def until(self, is_so) -> None:
        deadline = time.monotonic() + _LONG_S
        while not is_so():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def broken_tc(self, but_first: str = "true") -> mock._patch_dict:
        """A PATH on which tc fails, once, when it has done something. Later it works."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "tc").write_text(
            f'#!/bin/sh\nmkdir {folder}/once 2>/dev/null || exec {shutil.which("tc")} "$@"\n'
            f"{but_first}; echo tc is out of order >&2; exit 1\n"
        )
        (folder / "tc").chmod(0o755)
        return mock.patch.dict(os.environ, {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})

    def is_broken(self) -> bool:
        """Whether it has failed."""
        return (self.folder / "bin" / "once").exists()
