"""loadgen --accounts: which accounts are made, and which are used."""

import socket
import threading

from loadgen_scene import LoadgenScene
from peers import Peer
from programs import run

PATTERN = ("--user", "user%d", "--password", "secret%d")


class LoadgenAccountsTest(LoadgenScene):
    def test_new_makes_exactly_these_accounts_however_long_the_run_may_be(self) -> None:
        for length in (("--seconds", "0.001"), ("--requests", "1"), ("--requests", "1000")):
            for threads in (1, 3, 20):
                with self.subTest(length=length, threads=threads):
                    lines: list[bytes] = []

                    def note(line: bytes, _: socket.socket, lines: list[bytes] = lines) -> bytes:
                        lines.append(line)
                        return b"OK\n"

                    peer = self.scene.keep(Peer(note))
                    flags = ("--accounts", 12, "--threads", threads, *length)
                    result = self.result("new", *PATTERN, *flags, server=peer)
                    self.assertEqual((result["requests"], result["errors"]["total"]), (12, 0))
                    expected = [b"new:user%d:secret%d\n" % (n, n) for n in range(1, 13)]
                    self.assertEqual(sorted(lines), sorted(expected))

    def test_a_name_without_a_number_is_one_account(self) -> None:
        self.serve()
        for user, length in (("amy", ()), ("ann", ("--requests", 1))):
            named = ("--user", user, "--password", "s3cret")
            result = self.result("new", *named, *length)
            self.assertEqual((result["requests"], result["end"]), (1, "requests"))
            self.result("get", *named, "--file", "file1", "--requests", 1)
        refused = run("loadgen", "new", *named, "--requests", 2, "--server", self.fileserver)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("%d in --user", refused.stderr)

    def test_an_account_whose_request_failed_is_not_made_twice(self) -> None:
        """Two of them are taken. That is an error for each, and the others are made."""
        taken = {b"new:user2:secret2\n", b"new:user9:secret9\n"}

        def some_taken(line: bytes, _: socket.socket) -> bytes:
            return b"ERR exists it is taken\n" if line in taken else b"OK\n"

        peer = self.scene.keep(Peer(some_taken))
        result = self.result(
            "new", *PATTERN, "--accounts", 12, "--threads", 2, server=peer, status=1
        )
        self.assertEqual((result["requests"], self.errors(result)), (10, {"exists": 2}))
        self.assertEqual(len(peer.lines), 12)

    def test_accounts_of_the_warm_up_are_not_made_again(self) -> None:
        """The warm-up ends at the third account, which is answered late."""
        is_over = threading.Event()

        def slow_third(line: bytes, _: socket.socket) -> bytes:
            if line == b"new:user3:secret3\n":
                is_over.wait(0.5)
            return b"OK\n"

        peer = self.scene.keep(Peer(slow_third))
        flags = ("--accounts", 6, "--warmup", 0.2)
        result = self.result("new", *PATTERN, *flags, server=peer)
        self.assertEqual(len(peer.lines), 6)
        self.assertEqual(len(set(peer.lines)), 6)
        self.assertEqual(result["requests"] + result["warmup_requests"], 6)

    def test_what_new_made_get_can_use(self) -> None:
        authserver = self.scene.authserver("--password-scheme", "plain")
        self.fileserver = self.scene.fileserver(authserver)
        accounts = (*PATTERN, "--accounts", 30, "--threads", 4)
        self.assertEqual(self.result("new", *accounts)["requests"], 30)
        for connection in ("per-request", "keep-alive"):
            flags = ("--file", "file1", "--requests", 50, "--connection", connection)
            result = self.result("get", *accounts, *flags)
            self.assertEqual((result["requests"], self.errors(result)), (200, {}))
        one_more = (*PATTERN, "--accounts", 31, "--file", "file1", "--requests", 2000)
        result = self.result("get", *one_more, status=1)
        self.assertEqual(set(self.errors(result)), {"denied"})
