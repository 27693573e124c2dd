"""loadgen --channels and servers that change the file, hang up, or send nothing for a while."""

import itertools
import socket
import threading
from pathlib import Path

from loadgen_scene import GET, LoadgenScene
from peers import HangUp
from range_peer import RangePeer
from waiting import LONG_S, eventually

CONTENT = bytes(range(251)) * 8_000  # two million bytes: 31 parts
PART = 64 * 1024
CHANNELS = ("--protocol", "http", "--channels", 4, "--requests", 1)
CHANNEL_GET = (*GET, *CHANNELS, "--file", "big")
SMALL_POOL = 5 * PART  # a part for each channel, and one more


class LoadgenChannelFaultsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()
        self.copies = self.scene.folder / "copies"
        self.copies.mkdir()
        (self.copies / "big").write_bytes(CONTENT)

    def get(self, peer: RangePeer, *flags: object, status: int = 0) -> dict:
        compared = ("--verify", "--verify-root", self.copies)
        return self.result(*CHANNEL_GET, *compared, *flags, server=peer, status=status)

    def save(self, peer: RangePeer, *flags: object, status: int = 0) -> dict:
        return self.get(peer, "--save", self.saved, *flags, status=status)

    def left(self) -> Path:
        return self.saved / "big.loadgen-0.part"

    def test_each_part_is_asked_for_once_and_of_one_version(self) -> None:
        peer = self.scene.keep(RangePeer(CONTENT))
        result = self.get(peer)
        self.assertEqual((result["bytes"], result["connections"]), (len(CONTENT), 4))
        ranges = sorted(peer.ranges)
        self.assertEqual((ranges[0][0], ranges[-1][1]), (0, len(CONTENT) - 1))
        for (_, last), (first, _) in itertools.pairwise(ranges):
            self.assertEqual(first, last + 1)

    def test_a_file_that_is_replaced_is_an_error_and_is_not_saved(self) -> None:
        for number in (1, 7, 20):
            with self.subTest(number=number):

                def replace(first: int, answer: bytes, connection: socket.socket) -> bytes:
                    if len(peer.ranges) >= number:
                        peer.content = CONTENT[::-1]
                    return answer

                peer = self.scene.keep(RangePeer(CONTENT, replace))
                result = self.save(peer, status=1)
                self.assertEqual(self.errors(result), {"changed": 1})
                self.assertFalse((self.saved / "big").exists())
                left = self.left().read_bytes()
                self.assertEqual(left, CONTENT[: len(left)])
                (self.copies / "big").write_bytes(peer.content)
                again = self.save(peer)
                self.assertEqual(again["channels"]["begun_again"], int(len(left) > 0))
                self.assertEqual((self.saved / "big").read_bytes(), peer.content)
                (self.saved / "big").unlink()
                (self.copies / "big").write_bytes(CONTENT)

    def test_a_part_of_another_version_is_an_error_although_it_is_a_part(self) -> None:
        def other(first: int, answer: bytes, connection: socket.socket) -> bytes:
            return answer.replace(b'ETag: "', b'ETag: "x', 1)

        result = self.get(self.scene.keep(RangePeer(CONTENT, other)), status=1)
        self.assertEqual(self.errors(result), {"changed": 1})

    def test_a_server_without_versions_or_without_parts_is_an_error(self) -> None:
        for options, why in (
            ({"etag": "none"}, "no strong ETag"),
            ({"etag": 'W/"1"'}, "no strong ETag"),
            ({"knows_ranges": False}, "HTTP/1.1 200 X"),
        ):
            with self.subTest(why=why, options=options):
                peer = self.scene.keep(RangePeer(CONTENT, **options))
                result = self.get(peer, status=1)
                self.assertEqual(self.errors(result), {"protocol": 1})
                self.assertIn(why, result["first_errors"]["protocol"])

    def test_what_came_of_a_part_before_its_connection_was_lost_is_kept(self) -> None:
        lost = {2 * PART, 5 * PART}

        def lose(first: int, answer: bytes, connection: socket.socket) -> bytes:
            if first not in lost:
                return answer
            lost.remove(first)
            connection.sendall(answer[: len(answer) // 2])
            raise HangUp

        peer = self.scene.keep(RangePeer(CONTENT, lose))
        result = self.save(peer)
        self.assertEqual((result["requests"], result["bytes"]), (1, len(CONTENT)))
        self.assertEqual(result["channels"]["lost"], 2)
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)
        rests = [first for first, _ in peer.ranges if first % PART]
        self.assertEqual(len(rests), 2, peer.ranges)

    def test_a_server_that_always_hangs_up_is_not_asked_for_ever(self) -> None:
        def hang_up(first: int, answer: bytes, connection: socket.socket) -> bytes:
            raise HangUp

        peer = self.scene.keep(RangePeer(CONTENT, hang_up))
        result = self.get(peer, status=1)
        self.assertEqual(self.errors(result), {"closed": 1})
        self.assertLessEqual(peer.connections, 4 * 4)

    def test_others_go_on_beside_a_stuck_channel_until_the_pool_is_full(self) -> None:
        """Each of the three others asks for a second part when it has bytes of its first one."""

        def stick(first: int, answer: bytes, connection: socket.socket) -> bytes:
            if first == 0:
                eventually(lambda: peer.sent >= 5, "the others go on")
            return answer

        peer = self.scene.keep(RangePeer(CONTENT, stick))
        result = self.save(peer, "--pool", SMALL_POOL)
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)
        self.assertGreater(result["channels"]["reorder_bytes_max"], 0)
        self.assertLessEqual(result["channels"]["reorder_bytes_max"], SMALL_POOL - PART)

    def test_after_a_time_out_the_next_run_goes_on(self) -> None:
        may_go_on = threading.Event()
        self.addCleanup(may_go_on.set)

        def stick(first: int, answer: bytes, connection: socket.socket) -> bytes:
            if first >= 6 * PART and not may_go_on.is_set():
                may_go_on.wait(LONG_S)
                raise HangUp
            return answer

        peer = self.scene.keep(RangePeer(CONTENT, stick))
        result = self.save(peer, "--timeout", 3, status=1)
        self.assertEqual(self.errors(result), {"timeout": 1})
        self.assertEqual(self.left().read_bytes(), CONTENT[: 6 * PART])
        may_go_on.set()
        again = self.save(peer)
        self.assertEqual(again["channels"]["resumed_bytes"], 6 * PART)
        self.assertEqual(again["bytes"], len(CONTENT) - 6 * PART)
        self.assertEqual((self.saved / "big").read_bytes(), CONTENT)
        self.assertEqual([path.name for path in self.saved.iterdir()], ["big"])
