"""TCP of a link as it was asked for, and as the kernel says that it was."""

import socket
import sys
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import examples
import networks
from needs import missing
from real_lab import BUILD

from lab.observe.connections import Connections
from rig import link, wire
from rig.errors import Failed
from rig.link import InForce, Link, Tcp
from rig.place import HERE
from rig.wire import End

_LONG_S = 60.0
_AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
_DELAY_LINE = BUILD / "lab" / "delay_line"
_WHY_NOT: list[str] = []
_WAY = Link(rate="20mbit", delay_ms=40.0, queue_bytes=200_000)
# Takes all that comes, and says how much that was.
_TAKER = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as taker:
    print(sum(len(data) for data in iter(lambda: taker.recv(65536), b"")), flush=True)
"""


def setUpModule() -> None:
    built = "" if _DELAY_LINE.exists() else "delay_line is not built"
    _WHY_NOT.append(built or networks.why_not_in_own())


class BufferTest(unittest.TestCase):
    def test_the_buffers_that_were_measured_give_their_windows(self) -> None:
        for buffer, window in ((8192, 3712), (16384, 8832), (32768, 19072), (49152, 29312)):
            self.assertEqual(link.receive_buffer_bytes(window), buffer)

    def test_a_link_with_a_delay_has_reno_unless_something_else_is_asked_for(self) -> None:
        self.assertEqual(Tcp().congestion_over(_WAY), "reno")
        self.assertEqual(Tcp().congestion_over(Link(rate="20mbit")), "")
        self.assertEqual(Tcp(congestion="bbr").congestion_over(_WAY), "bbr")

    def test_without_a_namespace_no_window_can_be_set(self) -> None:
        with self.assertRaisesRegex(Failed, "no window can be set there: one machine"):
            HERE.limit_window(24576)


class TcpTest(unittest.TestCase):
    def setUp(self) -> None:
        if _WHY_NOT[0]:
            self.skipTest(_WHY_NOT[0])
        if reason := missing("ss"):
            self.skipTest(reason)
        self.folder = examples.folder(self)

    @contextmanager
    def laid(self, asked: Tcp, link: Link = _WAY) -> Iterator[End]:
        with wire.laid(link, self.folder, _DELAY_LINE, asked) as end:
            yield end

    def sent(self, end: End, size: int) -> InForce:
        """What was in force while so many bytes went to the other end."""
        with socket.create_server((end.host, 0)) as server:
            server.settimeout(_LONG_S)
            port = str(server.getsockname()[1])
            command = [sys.executable, "-I", "-S", "-c", _TAKER, end.host, port]
            taker = end.start("taker", command, self.folder / "taker.log")
            watched = Connections(end.host)
            try:
                connection, _ = server.accept()
                watched.start()
                with connection:
                    connection.settimeout(_LONG_S)
                    connection.sendall(bytes(size))
                    connection.shutdown(socket.SHUT_WR)
                    self.assertEqual(taker.read_line(_LONG_S), f"{size}\n")
            finally:
                watched.stop()
                taker.stop()
        return watched.seen()

    def test_no_more_than_the_window_is_under_way_and_reno_is_used(self) -> None:
        with self.laid(Tcp(window_bytes=12_000)) as end:
            end.limit_window(12_000)
            seen = self.sent(end, 500_000)
        self.assertEqual((seen.at_once, seen.congestion), (1, "reno"))
        self.assertEqual((seen.mss_bytes, seen.mtu_bytes), (1448, 1500))
        if seen.window_bytes is None:
            self.skipTest("this ss does not tell the window")
        self.assertLess(seen.window_bytes, 16_000)
        self.assertGreater(seen.window_bytes, 6_000)

    def test_without_a_limit_it_grows_beyond_that(self) -> None:
        with self.laid(Tcp()) as end:
            seen = self.sent(end, 3_000_000)
        if seen.window_bytes is None:
            self.skipTest("this ss does not tell the window")
        self.assertGreater(seen.window_bytes, 50_000)

    def test_another_congestion_control_and_mtu_are_in_force(self) -> None:
        if "cubic" not in Path(_AVAILABLE).read_text(encoding="ascii").split():
            self.skipTest("this kernel has no cubic at hand")
        with self.laid(Tcp(congestion="cubic", mtu=1200)) as end:
            seen = self.sent(end, 2_000_000)
        self.assertEqual((seen.congestion, seen.mss_bytes, seen.mtu_bytes), ("cubic", 1148, 1200))

    def test_one_that_the_kernel_does_not_have_is_told(self) -> None:
        with (
            self.assertRaisesRegex(Failed, "congestion control nothing"),
            self.laid(Tcp(congestion="nothing")),
        ):
            self.fail("it was laid")

    def test_a_cable_keeps_what_the_namespace_has_unless_asked(self) -> None:
        with self.laid(Tcp(congestion="reno"), Link(rate="20mbit")) as end:
            self.assertEqual(self.sent(end, 2_000_000).congestion, "reno")
