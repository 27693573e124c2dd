"""A link with a delay: as long and as slow as it should be, and gone without a rest."""

import os
import signal
import socket
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager

import examples
import networks
from real_lab import BUILD

from rig import process_tree, wire
from rig.errors import Failed
from rig.link import Later, Link
from rig.wire import End

_LONG_S = 60.0
_DELAY_LINE = BUILD / "lab" / "delay_line"
_WHY_NOT: list[str] = []
# Answers each datagram with the same one.
_ECHO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
    bound.bind((sys.argv[1], 0))
    print(bound.getsockname()[1], flush=True)
    while True:
        data, sender = bound.recvfrom(2000)
        bound.sendto(data, sender)
"""
# Sends back what comes, on each of two connections.
_SOURCE = """
import select, socket
both = [socket.create_connection(({0!r}, {1})) for _ in range(2)]
while True:
    for one in select.select(both, [], [])[0]:
        one.sendall(one.recv(100))
"""
_THEIRS = "198.18.0.2"


def _lost(end: End) -> bool:
    """Whether packets of a stuck connection were lost since this was last asked."""
    told = end.told()
    return bool(told and told.there.stuck + told.back.stuck)


def setUpModule() -> None:
    built = "" if _DELAY_LINE.exists() else "delay_line is not built"
    _WHY_NOT.append(built or networks.why_not_in_own())


class LongestTest(unittest.TestCase):
    def test_it_is_the_delay_and_the_whole_queue(self) -> None:
        jpl = Link(rate="3100kbit", delay_ms=20.0, queue_bytes=1_048_576)
        self.assertAlmostEqual(jpl.longest_s, 0.02 + 1_048_576 * 8 / 3.1e6)
        self.assertEqual(End(namespace="", link=jpl).longest_s, jpl.longest_s)
        self.assertEqual(End(namespace="", link=Link()).longest_s, 0.0)


class DelayTest(unittest.TestCase):
    def setUp(self) -> None:
        if _WHY_NOT[0]:
            self.skipTest(_WHY_NOT[0])
        self.folder = examples.folder(self)

    @contextmanager
    def laid(self, link: Link) -> Iterator[End]:
        with wire.laid(link, self.folder, _DELAY_LINE) as end:
            yield end
        interfaces = [name for _, name in socket.if_nameindex()]
        self.assertEqual([name for name in interfaces if name != "lo"], [])
        self.assertEqual(process_tree.tree(os.getpid()), [os.getpid()])

    @contextmanager
    def echo(self, end: End) -> Iterator[socket.socket]:
        """A socket that is connected to an echo at the other end."""
        command = [sys.executable, "-I", "-S", "-c", _ECHO, _THEIRS]
        program = end.start("echo", command, self.folder / "echo.log")
        try:
            port = int(program.read_line(_LONG_S))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
                ours.settimeout(_LONG_S)
                ours.connect((_THEIRS, port))
                yield ours
        finally:
            program.stop()

    def times(self, ours: socket.socket, size: int, count: int) -> list[float]:
        """Of round trips, one after the other."""
        found = []
        for _ in range(count):
            begun_s = time.monotonic()
            ours.send(bytes(size))
            self.assertEqual(len(ours.recv(2000)), size)
            found.append(time.monotonic() - begun_s)
        return found

    def test_a_round_trip_takes_the_delay_and_its_bits(self) -> None:
        """1,000 bytes and 28 of heads are 8.2 ms of a megabit, there and back."""
        link = Link(rate="1mbit", delay_ms=40.0, queue_bytes=100_000)
        with self.laid(link) as end, self.echo(end) as ours:
            self.assertGreaterEqual(min(self.times(ours, 1000, 5)), 0.040 + 2 * 1028 * 8 / 1e6)
            self.assertIsNotNone(end.told())

    def test_it_carries_no_more_than_its_rate(self) -> None:
        """50 datagrams at once leave one after the other, 50 x 1,028 bytes in 0.2 s."""
        link = Link(rate="2mbit", delay_ms=2.0, queue_bytes=1_000_000)
        with self.laid(link) as end, self.echo(end) as ours:
            begun_s = time.monotonic()
            for _ in range(50):
                ours.send(bytes(1000))
            for _ in range(50):
                ours.recv(2000)
            self.assertGreaterEqual(time.monotonic() - begun_s, 50 * 1028 * 8 / 2e6)

    def test_what_its_queue_has_no_room_for_is_lost_and_told(self) -> None:
        link = Link(rate="1mbit", delay_ms=2.0, queue_bytes=3 * 1028)
        with self.laid(link) as end, self.echo(end) as ours:
            assert end.line
            self.times(ours, 100, 1)  # the other end is known then
            end.line.told()
            for _ in range(20):
                ours.send(bytes(1000))
            there = dropped = back = 0
            while there + dropped < 20 or back < there:
                told = end.line.told()
                there += told.there.packets
                dropped += told.there.dropped
                back += told.back.packets
                self.assertEqual(told.back.dropped, 0)
                self.assertEqual(told.lost, told.there.lost)
            self.assertEqual((there + dropped, back), (20, there))
            self.assertGreater(dropped, 0)
            for _ in range(there):
                self.assertEqual(len(ours.recv(2000)), 1000)

    def test_a_rate_may_change_while_it_is_used(self) -> None:
        later = (Later(at_s=0.001, rate="1mbit"),)
        link = Link(rate="100mbit", delay_ms=2.0, queue_bytes=100_000, later=later)
        with self.laid(link) as end, self.echo(end) as ours:
            self.assertGreaterEqual(min(self.times(ours, 1000, 3)), 0.002 + 2 * 1028 * 8 / 1e6)

    def test_a_link_without_a_delay_is_a_cable(self) -> None:
        with self.laid(Link(rate="10mbit")) as end, self.echo(end) as ours:
            self.times(ours, 100, 1)
            self.assertIsNone(end.told())
            self.assertIn("over a link of 10mbit", end.title)

    def test_a_connection_is_stuck_and_goes_on_and_others_are_not(self) -> None:
        link = Link(rate="10mbit", delay_ms=2, queue_bytes=1 << 20)
        with self.laid(link) as end, socket.create_server((end.host, 0)) as listening:
            script = _SOURCE.format(end.host, listening.getsockname()[1])
            command = [sys.executable, "-I", "-S", "-c", script]
            program = end.start("source", command, self.folder / "source.log")
            try:
                listening.settimeout(_LONG_S)
                stuck, _ = listening.accept()
                other, _ = listening.accept()
                with stuck, other, self.echo(end) as echo:
                    for one in (stuck, other):
                        one.settimeout(_LONG_S)
                    end.told()
                    end.stall(1.0)
                    stuck.sendall(b"go")  # the only one that sends now
                    while not _lost(end):
                        time.sleep(0.01)
                    other.sendall(b"go")
                    self.assertEqual(other.recv(2), b"go")
                    echo.send(b"x")
                    self.assertEqual(echo.recv(2000), b"x")
                    self.assertEqual(stuck.recv(2), b"go")
            finally:
                program.stop()

    def test_a_line_that_has_ended_is_told(self) -> None:
        with self.laid(Link(rate="1mbit", delay_ms=2.0)) as end:
            assert end.line
            os.kill(end.line.pid, signal.SIGKILL)
            with self.assertRaisesRegex(Failed, "the link with a delay"):
                end.line.told()
