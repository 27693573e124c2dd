"""loadgen with work that is not all alike: drawn files and kinds of request."""

import json
import socket
from collections import Counter

from http_client import FLAG as FRONT
from loadgen_scene import GET, GET_LINE, LoadgenScene
from peers import Peer
from programs import run


def answer(line: bytes, _: socket.socket) -> bytes:
    return b"OK\n" if line == GET_LINE or line.startswith(b"new:") else b"OK 1\nx"


class LoadgenMixedTest(LoadgenScene):
    def run_result(self, *flags: object, server: object) -> dict:
        """An open loop that was late on a loaded machine has a result too."""
        return json.loads(
            run("loadgen", *self.adapted(*flags), "--server", server, "--json", "-").stdout
        )

    def asked(self, *flags: object) -> list[bytes]:
        """What a run asked a server for, in order."""
        peer = self.scene.keep(Peer(answer))
        self.run_result(*GET, "--file", "f%d", *flags, server=peer)
        return [line for line in peer.lines if line != GET_LINE]

    def test_each_request_draws_a_file_and_the_first_ones_most_often(self) -> None:
        flags = ("--files", 3, "--requests", 1100, "--connection", "keep-alive")
        lines = self.asked(*flags, "--popularity", "zipf:1")
        drawn = [lines.count(b"f%d\n" % number) for number in (1, 2, 3)]
        self.assertEqual(sum(drawn), 1100)
        for count, expected in zip(drawn, (600, 300, 200), strict=True):
            self.assertAlmostEqual(count, expected, delta=75)  # over five standard deviations

    def test_a_seed_draws_the_same_files_again(self) -> None:
        flags = ("--files", 1000, "--requests", 20)
        first = self.asked(*flags, "--seed", 5)
        self.assertEqual(self.asked(*flags, "--seed", 5), first)
        self.assertNotEqual(self.asked(*flags, "--seed", 6), first)
        together = (*flags, "--threads", 4, "--seed", 5)
        self.assertEqual(sorted(self.asked(*together)), sorted(self.asked(*together)))

    def test_files_that_are_drawn_are_served(self) -> None:
        self.serve()
        flags = ("--files", 12, "--requests", 50, "--threads", 2)
        result = self.result(*GET, "--file", "file%d", *flags)
        self.assertEqual((result["requests"], self.errors(result)), (100, {}))
        result = self.result(*GET, "--file", "file%d", "--files", 13, *flags[2:], status=1)
        self.assertEqual(set(self.errors(result)), {"not-found"})

    def assert_kinds_add_up(self, result: dict) -> None:
        kinds = result["kinds"].values()
        self.assertEqual(sum(kind["requests"] for kind in kinds), result["requests"])
        self.assertEqual(sum(kind["bytes"] for kind in kinds), result["bytes"])
        self.assertAlmostEqual(
            sum(kind["throughput_rps"] for kind in kinds), result["throughput_rps"], delta=0.01
        )
        errors: Counter[str] = sum((Counter(kind["errors"]) for kind in kinds), Counter())
        self.assertEqual(errors, Counter(result["errors"]))

    def test_a_mix_by_http_has_a_part_for_each_kind(self) -> None:
        self.serve(*FRONT, "--uploads", "folder")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        mix = ("--mix", "get:60,put:30,new:10", "--size", "2000", "--file", "file1")
        for loop in (("--requests", 100, "--threads", 2), ("--rate", 30, "--seconds", 1)):
            for connection in ("per-request", "keep-alive"):
                with self.subTest(loop=loop, connection=connection):
                    flags = ("--protocol", "http", "--connection", connection)
                    result = self.run_result(*GET, *mix, *flags, *loop, server=server)
                    self.assertEqual(self.errors(result), {})
                    kinds = result["kinds"]
                    self.assertEqual(set(kinds), {"get", "put", "new"})
                    self.assertEqual(kinds["get"]["bytes"], 1000 * kinds["get"]["requests"])
                    self.assertEqual(kinds["put"]["bytes"], 2000 * kinds["put"]["requests"])
                    self.assertGreater(kinds["put"]["requests"], kinds["new"]["requests"])
                    self.assertGreater(kinds["new"]["response_time_ms"]["max"], 0)
                    self.assert_kinds_add_up(result)

    def test_a_native_mix_gets_and_makes_accounts_and_its_errors_have_a_kind(self) -> None:
        self.serve("--new-accounts", "closed")
        mix = ("--mix", "get:1,new:1", "--file", "file%d", "--files", 12)
        result = self.result(*GET, *mix, "--requests", 40, "--connection", "keep-alive", status=1)
        kinds = result["kinds"]
        self.assertEqual(self.errors(kinds["get"]), {})
        self.assertEqual(
            (kinds["new"]["requests"], set(self.errors(kinds["new"]))), (0, {"denied"})
        )
        self.assert_kinds_add_up(result)

    def test_a_seed_draws_the_same_kinds_again(self) -> None:
        flags = ("--files", 5, "--mix", "get:1,new:1")
        closed = (*flags, "--requests", 40, "--threads", 3)
        opened = (*flags, "--rate", 100, "--seconds", 1, "--threads", 3)
        for loop in (closed, opened):
            counts = [
                Counter(line if line.startswith(b"f") else line[:4] for line in self.asked(*loop))
                for _ in range(2)
            ]
            self.assertEqual(counts[0], counts[1])
