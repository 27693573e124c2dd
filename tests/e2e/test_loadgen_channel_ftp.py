"""loadgen --channels over FTP: replaced files, kills, kept connections and stuck replies."""

import socket
import threading
from collections.abc import Callable

from ftp_range_peer import FtpRangePeer
from loadgen_scene import GET, LoadgenScene
from peers import HangUp
from waiting import LONG_S, eventually

PART = 256 * 1024
PARTS = 8
CONTENT = bytes(range(251)) * (PARTS * PART // 251)  # the last part is a little shorter
FTP = (*GET, "--protocol", "ftp", "--file", "big", "--channels", 2)
KEPT = ("--connection", "keep-alive", "--requests", 2)


class LoadgenChannelFtpTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()
        self.left = self.saved / "big.loadgen-0.part"
        self.save = ("--save", self.saved)
        self.may_go_on = threading.Event()
        self.addCleanup(self.may_go_on.set)

    def peer(
        self, before: Callable[[FtpRangePeer, str, socket.socket], bytes | None]
    ) -> FtpRangePeer:
        """Its first part is sent when both channels have asked for one."""

        def both(verb: str, connection: socket.socket) -> bytes | None:
            if verb == "RETR" and len(peer.offsets) <= 2:
                eventually(lambda: len(peer.offsets) >= 2, "both channels ask for parts")
            return before(peer, verb, connection)

        peer = self.scene.keep(FtpRangePeer(CONTENT, both))
        return peer

    def test_all_parts_are_asked_for_once(self) -> None:
        peer = self.peer(lambda *_: None)
        result = self.result(*FTP, "--requests", 1, *self.save, server=peer)
        self.assertEqual(result["bytes"], len(CONTENT))
        self.assertEqual(sorted(peer.offsets), [number * PART for number in range(PARTS)])
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_a_file_that_is_replaced_between_two_parts_fails(self) -> None:
        for number in (3, PARTS):

            def replace(peer: FtpRangePeer, verb: str, connection: socket.socket) -> None:
                if verb == "RETR" and len(peer.offsets) >= number:
                    peer.content, peer.date = CONTENT[::-1], "20260101000001"

            with self.subTest(number=number):
                peer = self.peer(replace)
                result = self.result(*FTP, "--requests", 1, *self.save, server=peer, status=1)
                self.assertEqual(self.errors(result), {"changed": 1})
                self.assertEqual([path.name for path in self.saved.iterdir()], [self.left.name])
                again = self.result(*FTP, "--requests", 1, *self.save, server=peer)
                self.assertEqual(again["channels"]["resumed_bytes"], 0)
                self.assertEqual((self.saved / "big").read_bytes(), peer.content)
                (self.saved / "big").unlink()

    def test_a_run_that_was_killed_goes_on(self) -> None:
        def stick(peer: FtpRangePeer, verb: str, connection: socket.socket) -> None:
            if verb == "RETR" and len(peer.offsets) > 4 and not self.may_go_on.is_set():
                self.may_go_on.wait(LONG_S)
                raise HangUp

        peer = self.peer(stick)
        running = self.started(*FTP, "--requests", 1, *self.save, server=peer)
        eventually(lambda: self.left.exists() and self.left.stat().st_size > 0, "bytes are saved")
        running.kill()
        running.wait()
        kept = self.left.read_bytes()
        self.assertEqual(kept, CONTENT[: len(kept)])
        self.may_go_on.set()
        del peer.offsets[:]
        again = self.result(*FTP, "--requests", 1, *self.save, server=peer)
        self.assertEqual(again["channels"]["resumed_bytes"], len(kept))
        self.assertEqual(again["bytes"], len(CONTENT) - len(kept))
        self.assertEqual(min(peer.offsets), len(kept))
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_a_last_look_that_is_stuck_is_taken_by_another_channel(self) -> None:
        stuck: list[socket.socket] = []

        def stick(peer: FtpRangePeer, verb: str, connection: socket.socket) -> None:
            if verb == "MDTM" and len(peer.offsets) == PARTS and not stuck:
                stuck.append(connection)
                self.may_go_on.wait(LONG_S)

        peer = self.peer(stick)
        result = self.result(*FTP, "--requests", 1, *self.save, server=peer)
        self.assertEqual((result["requests"], len(stuck)), (1, 1))
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)

    def test_the_log_in_is_once_though_a_last_reply_is_late(self) -> None:
        """It comes when the other channel asks for a part of the next file."""

        def be_late(peer: FtpRangePeer, verb: str, connection: socket.socket) -> None:
            if verb == "RETR" and len(peer.offsets) > PARTS:
                self.may_go_on.set()
            if verb == "DONE" and peer.asked[connection] == (PARTS - 1) * PART:
                self.may_go_on.wait(LONG_S)

        peer = self.peer(be_late)
        result = self.result(*FTP, *KEPT, server=peer)
        self.assertEqual((result["requests"], result["connections"]), (2, 2))
        self.assertEqual(result["reconnects"], 0)
        self.assertEqual(peer.verbs.count("USER"), 2)

    def test_a_server_that_ends_an_idle_connection_with_words_is_connected_again(self) -> None:
        idle: set[socket.socket] = set()

        def end(peer: FtpRangePeer, verb: str, connection: socket.socket) -> bytes | None:
            if verb == "MDTM" and len(peer.offsets) == PARTS:
                idle.update(peer.asked)  # the file has come; both are idle behind it
            elif verb != "DONE" and connection in idle:
                idle.remove(connection)
                connection.sendall(b"421 Timeout\r\n")
                raise HangUp
            return None

        peer = self.peer(end)
        result = self.result(*FTP, *KEPT, server=peer)
        self.assertEqual((result["requests"], result["errors"]["total"]), (2, 0))
        self.assertEqual((result["reconnects"], result["channels"]["lost"]), (2, 0))

    def test_a_server_that_ends_a_new_connection_with_words_is_busy(self) -> None:
        def end(peer: FtpRangePeer, verb: str, connection: socket.socket) -> bytes | None:
            return b"421 too many\r\n" if verb == "USER" else None

        peer = self.scene.keep(FtpRangePeer(CONTENT, lambda verb, one: end(peer, verb, one)))
        result = self.result(*FTP, *KEPT, server=peer, status=1)
        self.assertEqual(self.errors(result), {"busy": 2})
