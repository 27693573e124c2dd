"""loadgen --channels: connections that servers end, looks that are stuck, and signals."""

import itertools
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable

from loadgen_scene import GET, LoadgenScene
from peers import HangUp
from range_peer import RangePeer
from waiting import LONG_S, eventually

PART = 64 * 1024
CONTENT = bytes(range(251)) * 4_000  # a million bytes: 16 parts
PARTS = 16
HTTP = (*GET, "--protocol", "http", "--file", "big", "--channels", 2)
KEPT = ("--connection", "keep-alive", "--requests", 2)
Before = Callable[[bytes, socket.socket], bytes | None]


class _Peer(RangePeer):
    """`before` is given each request. It may answer, wait or raise HangUp; None: as ever."""

    def __init__(self, before: Before) -> None:
        self._before = before
        super().__init__(CONTENT)

    def _answered(self, request: bytes, connection: socket.socket) -> bytes | None:
        answer = self._before(request, connection)
        return super()._answered(request, connection) if answer is None else answer


class _OneConnection(RangePeer):
    """Serves its first connection, and hangs up on the others at once, or refuses them."""

    def __init__(self, is_refusing: bool) -> None:
        self._is_refusing = is_refusing
        self._first: list[socket.socket] = []
        super().__init__(CONTENT)

    def serve(self, connection: socket.socket) -> None:
        self._first.append(connection)
        if self._first[0] is not connection:
            return
        if self._is_refusing:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        super().serve(connection)

    def _answered(self, request: bytes, connection: socket.socket) -> bytes | None:
        """The other channel has time to give up."""
        if self._is_refusing:
            time.sleep(0.5)
        else:
            eventually(lambda: self.connections == 5, "the other channel has tried")
        return super()._answered(request, connection)


class LoadgenChannelEndsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()
        self.save = ("--save", self.saved)
        self.may_go_on = threading.Event()
        self.addCleanup(self.may_go_on.set)

    def test_nothing_is_asked_behind_an_answer_that_ends_its_connection(self) -> None:
        """Half of each answer is sent, so that the next part would be asked for."""
        for version, says in (
            (b"1.1", b"Connection: close\r\n"),
            (b"1.0", b""),
        ):
            behind = []

            def end(first: int, answer: bytes, connection: socket.socket) -> bytes:
                head, _, body = answer.partition(b"\r\n\r\n")
                head = head.replace(b"HTTP/1.1", b"HTTP/" + version) + b"\r\n" + says
                connection.sendall(head + b"\r\n" + body[: len(body) // 2])
                behind.extend(select.select([connection], [], [], 0.05)[0])
                connection.sendall(body[len(body) // 2 :])
                raise HangUp

            with self.subTest(version=version):
                peer = self.scene.keep(RangePeer(CONTENT, end))
                result = self.result(*HTTP, "--requests", 1, *self.save, server=peer)
                self.assertEqual((behind, result["channels"]["lost"]), ([], 0))
                self.assertEqual(len(peer.ranges), PARTS)
                self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_a_look_that_is_stuck_is_taken_by_another_channel(self) -> None:
        looks = []

        def stick(request: bytes, connection: socket.socket) -> None:
            if request.startswith(b"HEAD "):
                looks.append(connection)
                if len(looks) == 1:
                    self.may_go_on.wait(LONG_S)

        peer = self.scene.keep(_Peer(stick))
        result = self.result(*HTTP, "--requests", 1, *self.save, server=peer)
        self.assertEqual((result["requests"], len(looks)), (1, 2))
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def ended_when_kept(self, end: bytes) -> dict:
        """Two files. A connection that has served the first one ends with these bytes."""
        looks, idle = itertools.count(), set()

        def answer(request: bytes, connection: socket.socket) -> None:
            if request.startswith(b"HEAD ") and next(looks) == 1:
                idle.update(peer.served)
            if connection in idle:
                idle.remove(connection)
                connection.sendall(end)
                raise HangUp
            peer.served.add(connection)

        peer = self.scene.keep(_Peer(answer))
        peer.served = set()
        return self.result(*HTTP, *KEPT, "--channels", 1, server=peer)

    def test_a_kept_connection_that_was_closed_between_two_files_is_made_again(self) -> None:
        for end in (
            b"",
            b"HTTP/1.1 408 Late\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlate",
        ):
            with self.subTest(end=end):
                result = self.ended_when_kept(end)
                self.assertEqual((result["requests"], result["errors"]["total"]), (2, 0))
                self.assertEqual((result["connections"], result["reconnects"]), (2, 1))
                self.assertEqual(result["channels"]["lost"], 0)

    def test_a_file_comes_although_one_channel_gets_no_connection(self) -> None:
        peer = self.scene.keep(_OneConnection(is_refusing=False))
        result = self.result(*HTTP, "--requests", 1, *self.save, server=peer)
        self.assertEqual((result["requests"], result["connections"]), (1, 5))
        self.assertEqual((result["channels"]["used"], result["channels"]["lost"]), (1, 4))
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_a_connection_that_was_never_made_is_not_lost(self) -> None:
        """The second one may have been made before the server refused."""
        peer = self.scene.keep(_OneConnection(is_refusing=True))
        result = self.result(*HTTP, "--requests", 1, *self.save, server=peer)
        self.assertLessEqual(result["channels"]["lost"], 1)

    def test_the_time_out_does_not_count_what_comparing_kept_bytes_takes(self) -> None:
        """The copy has become a pipe, with nothing to read for longer than the time-out."""
        copies = self.scene.folder / "copies"
        copies.mkdir()
        (copies / "big").write_bytes(CONTENT)
        os.mkfifo(copies / "pipe")
        (self.saved / "big.loadgen-0.part").write_bytes(CONTENT[:PART])

        def feed() -> None:
            with open(copies / "big", "wb") as pipe:
                self.may_go_on.wait(4)
                pipe.write(CONTENT)

        def change(request: bytes, connection: socket.socket) -> None:
            if request.startswith(b"HEAD "):
                os.replace(copies / "pipe", copies / "big")
                threading.Thread(target=feed, daemon=True).start()

        peer = self.scene.keep(_Peer(change))
        (self.saved / "big.loadgen-0.version").write_text(f"{len(CONTENT)} {peer.etag(CONTENT)}\n")
        compared = ("--verify", "--verify-root", copies, "--timeout", 3)
        result = self.result(*HTTP, "--requests", 1, *self.save, *compared, server=peer)
        self.assertEqual((result["requests"], result["channels"]["resumed_bytes"]), (1, PART))

    def stuck_run(self) -> subprocess.Popen:
        """A run of many files that is told to stop while the first one is under way."""

        def stick(first: int, answer: bytes, connection: socket.socket) -> bytes:
            if first >= 4 * PART:
                self.may_go_on.wait(LONG_S)
            return answer

        peer = self.scene.keep(RangePeer(CONTENT, stick))
        running = self.started(*HTTP, "--requests", 100, *self.save, server=peer)
        eventually(lambda: self.left_bytes() == 4 * PART, "four parts are saved")
        running.send_signal(signal.SIGINT)
        assert running.stderr
        self.assertIn(b"waiting for 1 request under way", running.stderr.readline())
        return running

    def left_bytes(self) -> int:
        left = self.saved / "big.loadgen-0.part"
        return left.stat().st_size if left.exists() else 0

    def test_a_signal_lets_the_file_under_way_come_whole(self) -> None:
        running = self.stuck_run()
        self.may_go_on.set()
        told, _ = running.communicate(timeout=LONG_S)
        result = json.loads(told)
        self.assertEqual((result["end"], result["requests"]), ("signal", 1))
        self.assertEqual(result["bytes"], len(CONTENT))
        self.assertEqual([path.name for path in self.saved.iterdir()], ["big"])
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_a_second_signal_ends_it_at_once_and_the_part_stays(self) -> None:
        running = self.stuck_run()
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(LONG_S), -signal.SIGINT)
        self.assertEqual(self.left_bytes(), 4 * PART)
        left = (self.saved / "big.loadgen-0.part").read_bytes()
        self.assertEqual(left, CONTENT[: 4 * PART])
