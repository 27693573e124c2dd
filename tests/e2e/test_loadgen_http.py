"""loadgen --protocol http: what it sends, what it takes for right, and servers that are not."""

import socket
import threading
import time

from http_client import FLAG as FRONT
from http_peer import CREATED, OK, HttpPeer
from loadgen_scene import GET, LoadgenScene
from peers import HangUp
from programs import run
from waiting import LONG_S

ACCOUNT = ("--user", "alice", "--password", "wonderland")
HTTP = ("--protocol", "http")
HTTP_GET = (*GET, *HTTP, "--file", "a")
KEPT = ("--connection", "keep-alive")


def answered(answer: bytes):
    return lambda request, connection: answer


class LoadgenHttpTest(LoadgenScene):
    def peer(self, answer: bytes, **options) -> HttpPeer:
        return self.scene.keep(HttpPeer(answered(answer), **options))

    def test_a_get_is_counted_with_the_bytes_of_its_file(self) -> None:
        peer = self.peer(OK)
        result = self.result(*HTTP_GET, "--requests", 5, "--threads", 2, server=peer)
        self.assertEqual(
            (result["protocol"], result["requests"], result["bytes"]), ("http", 10, 10)
        )
        self.assertEqual(peer.connections, 10)
        expected = (
            f"GET /a HTTP/1.1\r\nHost: {peer}\r\n"
            "Authorization: Basic YWxpY2U6d29uZGVybGFuZA==\r\nConnection: close\r\n\r\n"
        )
        self.assertEqual(set(peer.requests), {expected.encode()})

    def test_kept_connections_are_one_for_each_thread(self) -> None:
        peer = self.peer(OK)
        self.result(*HTTP_GET, *KEPT, "--requests", 5, "--threads", 2, server=peer)
        self.assertEqual((peer.connections, len(peer.requests)), (2, 10))
        self.assertNotIn(b"Connection:", peer.requests[0])

    def test_a_connection_that_the_server_ends_is_not_used_again(self) -> None:
        for answer in (
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        ):
            peer = self.peer(answer)
            result = self.result(*HTTP_GET, *KEPT, "--requests", 4, server=peer)
            # The last connection may have been made and found to be of no use.
            self.assertEqual((result["requests"], peer.connections), (4, 4))

    def test_a_new_makes_each_account_once(self) -> None:
        peer = self.peer(CREATED)
        self.result("new", *HTTP, *KEPT, "--requests", 3, "--threads", 2, server=peer)
        self.assertEqual(len({request.partition(b"\r\n\r\n")[2] for request in peer.requests}), 6)
        self.assertTrue(all(r.startswith(b"POST /-/accounts HTTP/1.1\r\n") for r in peer.requests))

    def test_a_put_sends_the_announced_bytes_under_a_new_name(self) -> None:
        for size in (1, 1000, 16 * 1024, 3_000_000):
            with self.subTest(size=size):
                peer = self.peer(CREATED)
                flags = ("put", *HTTP, *ACCOUNT, "--size", size, "--requests", 2, *KEPT)
                result = self.result(*flags, "--threads", 2, server=peer)
                self.assertEqual((result["requests"], result["bytes"]), (4, 4 * size))
                self.assertEqual(peer.connections, 2)
                heads, bodies = zip(*(r.split(b"\r\n\r\n", 1) for r in peer.requests))
                self.assertEqual(len({head.partition(b"\r\n")[0] for head in heads}), 4)
                self.assertEqual({len(body) for body in bodies}, {size})

    def test_all_puts_go_to_the_name_that_is_given(self) -> None:
        for name, lines in (
            ("sink", {b"PUT /sink HTTP/1.1": 4}),
            ("up/%d a", {b"PUT /up/1%20a HTTP/1.1": 2, b"PUT /up/2%20a HTTP/1.1": 2}),
        ):
            peer = self.peer(CREATED)
            flags = ("--file", name, "--size", 20_000, "--requests", 2, "--threads", 2)
            result = self.result("put", *HTTP, *ACCOUNT, *flags, server=peer)
            self.assertEqual((result["requests"], result["bytes"]), (4, 80_000))
            sent = [request.partition(b"\r\n")[0] for request in peer.requests]
            self.assertEqual({line: sent.count(line) for line in sent}, lines)

    def test_a_name_of_the_environment_is_not_for_put(self) -> None:
        peer = self.peer(CREATED)
        flags = ("put", *HTTP, *ACCOUNT, "--size", 5, "--requests", 2)
        self.result(*flags, server=peer, env={"LOADGEN_FILE": "precious"})
        self.assertNotIn(b"precious", b"".join(peer.requests))
        self.assertEqual(len({request.split()[1] for request in peer.requests}), 2)

    def test_a_refusal_is_counted_by_its_status_and_the_connection_is_kept(self) -> None:
        for status, cause in (
            (401, "denied"),
            (403, "denied"),
            (404, "not-found"),
            (409, "exists"),
            (429, "busy"),
            (421, "busy"),
            (503, "unavailable"),
            (500, "protocol"),
            (206, "protocol"),
        ):
            with self.subTest(status=status):
                line = f"HTTP/1.1 {status} Because"
                peer = self.peer(f"{line}\r\nContent-Length: 2\r\n\r\nno".encode())
                result = self.result(*HTTP_GET, *KEPT, "--requests", 3, server=peer, status=1)
                self.assertEqual((self.errors(result), result["requests"]), ({cause: 3}, 0))
                self.assertEqual(result["first_errors"], {cause: f'"{line}"'})
                self.assertEqual(peer.connections, 1)

    def test_bytes_behind_a_late_body_are_an_error_of_the_protocol(self) -> None:
        def answer(_request: bytes, connection: socket.socket) -> bytes:
            connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n")
            time.sleep(0.1)
            return b"okmore"

        peer = self.scene.keep(HttpPeer(answer))
        result = self.result("new", *HTTP, *KEPT, "--requests", 2, server=peer, status=1)
        self.assertEqual(self.errors(result), {"protocol": 2})

    def test_a_hostile_answer_is_an_error_of_the_protocol(self) -> None:
        ok = b"HTTP/1.1 200 OK\r\n"
        for answer in (
            b"OK 1\nx",
            b"\0" * 100,
            b"HTTP/2 200\r\n\r\n",
            ok + b"\r\nx",
            ok + b"Content-Length: 1\r\n\r\nxy",
            ok + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
            ok + b"Content-Length: 99999999999999999999\r\n\r\nx",
            ok + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            ok + b"X: " + b"x" * 100_000,
            ok + b"X: y\r\n" * 20_000,
            ok + b"Content-Length: 1\n\nx",
            b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        ):
            with self.subTest(answer=answer[:80]):
                flags = (*HTTP_GET, *KEPT, "--requests", 2, "--timeout", LONG_S)
                result = self.result(*flags, server=self.peer(answer), status=1)
                self.assertEqual((self.errors(result), result["bytes"]), ({"protocol": 2}, 0))
                self.assertIn("protocol", result["first_errors"])

    def test_an_answer_that_stops_is_closed_or_a_timeout(self) -> None:
        def hang_up(request: bytes, connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")
            raise HangUp

        for answer, cause, timeout_s in (
            (hang_up, "closed", LONG_S),
            (answered(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"), "timeout", 0.3),
            (answered(b"HTTP/1.1 200 OK\r\nConte"), "timeout", 0.3),
        ):
            peer = self.scene.keep(HttpPeer(answer))
            flags = (*HTTP_GET, "--requests", 2, "--timeout", timeout_s)
            result = self.result(*flags, server=peer, status=1)
            self.assertEqual((self.errors(result), result["bytes"]), ({cause: 2}, 0))

    def test_a_put_that_is_answered_early_stops_and_its_connection_ends(self) -> None:
        refusal = b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"
        over = threading.Event()
        self.addCleanup(over.set)
        for answer, cause in ((refusal, "unavailable"), (CREATED, "protocol")):

            def take_nothing(request: bytes, connection: socket.socket, answer=answer) -> None:
                connection.sendall(answer)
                over.wait()

            with self.subTest(cause=cause):
                peer = self.scene.keep(HttpPeer(take_nothing, takes_bodies=False))
                flags = ("put", *HTTP, *ACCOUNT, *KEPT, "--size", "100M", "--requests", 2)
                result = self.result(*flags, "--timeout", LONG_S, server=peer, status=1)
                self.assertEqual((self.errors(result), result["bytes"]), ({cause: 2}, 0))
                self.assertEqual(peer.connections, 2)

    def test_a_put_that_nobody_takes_is_a_timeout(self) -> None:
        peer = self.scene.keep(HttpPeer(answered(b""), takes_bodies=False))
        with socket.create_server(("127.0.0.1", 0)) as listener:  # accepts, and never reads
            silent = f"127.0.0.1:{listener.getsockname()[1]}"
            flags = ("put", *HTTP, *ACCOUNT, "--size", "100M", "--requests", 1, "--timeout", 0.3)
            for server in (silent, peer):
                result = self.result(*flags, server=server, status=1)
                self.assertEqual(self.errors(result), {"timeout": 1})

    def test_verify_and_save_see_the_bytes_of_the_file(self) -> None:
        peer = self.peer(OK)
        saved = self.scene.folder / "saved"
        flags = (*HTTP_GET, "--requests", 2, "--verify", "--verify-root", self.scene.root)
        (self.scene.root / "a").write_bytes(b"x")
        self.result(*flags, "--save", saved, server=peer)
        self.assertEqual((saved / "a").read_bytes(), b"x")
        (self.scene.root / "a").write_bytes(b"y")
        result = self.result(*flags, *KEPT, server=peer, status=1)
        self.assertEqual(self.errors(result), {"mismatch": 2})

    def test_wrong_usage_names_what_is_missing(self) -> None:
        for flags, why in (
            (("get", *ACCOUNT, "--file", "a", *HTTP, "--pipeline"), "needs --protocol native"),
            (("put", *ACCOUNT, "--size", 1), "put needs --protocol http"),
            (("put", *ACCOUNT, *HTTP), "put needs --size"),
            (("put", *ACCOUNT, *HTTP, "--size", 1, "--file", "a" * 2800), "at most 2700 bytes"),
            (("get", *ACCOUNT, "--file", "a", "--protocol", "gopher"), "native|http|ftp"),
        ):
            ended = run("loadgen", *flags)
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1), ended.stderr)
            self.assertIn(why, ended.stderr)


class LoadgenOwnFrontTest(LoadgenScene):
    def test_accounts_are_made_and_their_files_compared_with_the_copies(self) -> None:
        self.serve(*FRONT)
        server = self.fileserver.further_address("http")
        users = ("--user", "user%d", "--password", "secret%d", "--accounts", 9)
        made = self.result("new", *HTTP, *users, "--threads", 2, server=f"127.0.0.1:{server[1]}")
        self.assertEqual(made["requests"], 9)
        for connection in ("per-request", "keep-alive"):
            flags = ("get", *HTTP, *users, "--file", "file%d", "--unique", 6, "--requests", 6)
            result = self.result(
                *flags,
                *("--threads", 2, "--connection", connection),
                *("--verify", "--verify-root", self.scene.root),
                server=f"127.0.0.1:{server[1]}",
            )
            self.assertEqual((result["requests"], result["bytes"]), (12, sum(self.sizes.values())))

    def test_a_wrong_password_a_missing_file_and_a_taken_name_are_told_apart(self) -> None:
        self.serve(*FRONT)
        server = self.fileserver.further_address("http")
        for flags, cause in (
            (("get", "--user", "alice", "--password", "no", "--file", "file1"), "denied"),
            (("get", *ACCOUNT, "--file", "nothing"), "not-found"),
            (("new", "--user", "alic%d", "--password", "p"), None),
            (("new", "--user", "alic%d", "--password", "p"), "exists"),
        ):
            with self.subTest(flags=flags):
                given = (*flags, *HTTP, *KEPT)
                given += () if flags[0] == "new" else ("--requests", 2)
                status = 1 if cause else 0
                result = self.result(*given, server=f"127.0.0.1:{server[1]}", status=status)
                self.assertEqual(set(self.errors(result)), {cause} - {None})
