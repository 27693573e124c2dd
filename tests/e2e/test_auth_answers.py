"""How the fileserver handles answers of the authserver that are wrong, late or missing.

The authserver is replaced by a Peer, which answers as each test wants.
"""

import socket
import threading
from collections.abc import Callable

from client import Client, grant
from http_client import HttpClient
from peers import HangUp, Peer
from scene import SceneTest, with_loops
from waiting import LONG_S, time_s

CLOSING = {"too-long", "busy", "internal"}
STAYING = {"syntax", "invalid", "denied", "exists", "unavailable"}


@with_loops
class AuthAnswersTest(SceneTest):
    connection = "persistent"

    def serve(self, answer: Callable[[bytes, socket.socket], bytes | None], *flags: object) -> Peer:
        self.scene.write("a.txt", b"content")
        peer = self.scene.keep(Peer(answer))
        self.fileserver = self.scene.fileserver(peer, "--auth-connection", self.connection, *flags)
        return peer

    def client(self) -> Client:
        return self.scene.client(self.fileserver)

    def assert_unavailable_in_time(self, client: Client, line: str) -> None:
        seconds = time_s(lambda: self.assertEqual(client.ask(line), "unavailable"))
        self.assertLess(seconds, LONG_S / 2)

    def test_the_authserver_is_asked_in_the_compact_form(self) -> None:
        peer = self.serve(lambda line, _: b"OK\n")
        client = self.client()
        for line, compact in (
            ("get: bob: pw", b"auth:bob:pw\n"),
            ("get:bob: pw", b"auth:bob: pw\n"),
            ("get: bob:  pw", b"auth:bob: pw\n"),
            ("new: bob: a:b", b"new:bob:a:b\n"),
            ("new:bob:a b ", b"new:bob:a b \n"),
            ("ping", b"ping\n"),
        ):
            peer.lines.clear()
            self.assertEqual(client.ask(line), "OK")
            self.assertEqual(peer.lines, [compact])

    def test_a_request_that_is_not_acceptable_does_not_reach_the_authserver(self) -> None:
        peer = self.serve(lambda line, _: b"OK\n")
        client = self.client()
        too_long = ("new:" + "u" * 65 + ":p", "new:bob:" + "p" * 129)
        malformed = ("get:", "get:bob", "get::pw", "new:b b:pw", "new:bob:", "get:bob:\x01", "")
        for line in (*malformed, *too_long, "a.txt"):
            self.assertIn(client.ask(line), ("syntax", "invalid", "denied"))
        self.assertEqual(peer.lines, [])

    def test_every_error_is_passed_on_and_closes_the_connection_if_its_code_does(self) -> None:
        self.serve(
            lambda line, _: (
                b"OK\n"
                if b"right" in line
                else b"ERR " + line.split(b":")[2].strip() + b" some words\n"
            )
        )
        for code in CLOSING | STAYING:
            for verb in ("get", "new"):
                with self.subTest(code=code, verb=verb):
                    client = self.client()
                    grant(client, password="right")
                    self.assertEqual(client.ask(f"{verb}:bob:{code}"), code)
                    if code in CLOSING:
                        self.assertTrue(client.is_ended())
                    else:
                        self.assertEqual(
                            client.ask("a.txt"), "denied" if verb == "get" else b"content"
                        )

    def test_a_ping_that_is_answered_with_anything_but_ok_is_unavailable(self) -> None:
        errors = (b"ERR unavailable x\n", b"ERR internal x\n", b"ERR busy x\n")
        answers = (*errors, b"hello\n", b"OK 4\n", b"ERR\n", b"\n")
        current = [b""]
        self.serve(lambda line, _: current[0], "--auth-timeout", "1")
        client = self.client()
        for current[0] in answers:
            self.assertEqual(client.ask("ping"), "unavailable", current[0])

    def test_an_answer_may_end_with_cr_lf_and_come_byte_by_byte(self) -> None:
        def in_bytes(line: bytes, connection: socket.socket) -> None:
            for value in b"OK\r\n":
                connection.sendall(bytes([value]))

        self.serve(in_bytes)
        client = self.client()
        self.assertEqual([client.ask("get:bob:pw") for _ in range(5)], ["OK"] * 5)

    def test_what_is_no_answer_grants_nothing(self) -> None:
        like_ok = (b"OK then\n", b"ok\n", b" OK\n", b"OKAY\n", b"OK \n", b"OK 0\n", b"O\0K\n")
        others = (b"\n", b"GRANTED\n", b"ERR nonsense x\n", b"ERR\n", b"x" * 100_000)
        current = [b""]
        self.serve(lambda line, _: current[0])
        for current[0] in (*like_ok, b"OK\r\r\n", *others):
            client = self.client()
            self.assertEqual(client.ask("get:bob:pw"), "internal", current[0][:20])
            self.assertTrue(client.is_ended())

    def test_an_answer_of_another_form_than_the_question_grants_nothing(self) -> None:
        current = [b""]
        self.serve(lambda line, _: current[0], "--http-listen", "127.0.0.1:0")
        cookie = f"Cookie: turnstile={'A' * 43}"
        for current[0] in (
            *(b"OK\n", b"OK 0\n", b"OK 3\nbob", b"OK 8\nuser b b", b"OK 5\nuser ", b"OK 129\n"),
            *(b"OK 8\nlink bob", b"OK 8\nUSER bob", b"OK 70\nuser " + b"b" * 65),
        ):
            with self.subTest(current):
                self.assertEqual(HttpClient(self.fileserver).ask("/a.txt", cookie).status, 500)
        current[0] = b"OK 8\nuser bob"
        self.assertEqual(HttpClient(self.fileserver).ask("/a.txt", cookie).status, 200)
        self.assertEqual(self.client().ask("get:bob:pw"), "internal")

    def test_an_answer_without_its_end_is_unavailable(self) -> None:
        def cut(line: bytes, connection: socket.socket) -> None:
            connection.sendall(b"OK")
            raise HangUp

        self.serve(cut)
        client = self.client()
        self.assertEqual(client.ask("get:bob:pw"), "unavailable")
        self.assertEqual(client.ask("a.txt"), "denied")

    def test_a_second_answer_to_one_request_is_ignored(self) -> None:
        self.serve(lambda line, _: b"OK\nOK\n" if b":right\n" in line else b"ERR denied no\n")
        client = self.client()
        for _ in range(5):
            self.assertEqual(client.ask("get:bob:right"), "OK")
            self.assertEqual(client.ask("get:bob:wrong"), "denied")

    def test_no_answer_is_unavailable_in_time_and_logs_out(self) -> None:
        self.serve(lambda line, _: None if b"silence" in line else b"OK\n", "--auth-timeout", "1")
        client = self.client()
        for line in ("get:bob:silence", "new:bob:silence"):
            grant(client)
            self.assert_unavailable_in_time(client, line)
        self.assertEqual(client.ask("a.txt"), b"content")
        self.assertEqual(client.ask("get:bob:silence"), "unavailable")
        self.assertEqual(client.ask("a.txt"), "denied")

    def test_an_answer_that_trickles_is_unavailable_in_time(self) -> None:
        stopped = threading.Event()
        self.addCleanup(stopped.set)

        def trickle(line: bytes, connection: socket.socket) -> None:
            while not stopped.wait(0.1):
                connection.sendall(b"x")

        self.serve(trickle, "--auth-timeout", "1")
        client = self.client()
        # The limit of 512 bytes, after which it would not be an answer, takes 50 seconds to reach.
        self.assert_unavailable_in_time(client, "get:bob:pw")

    def test_an_answer_that_trickles_on_a_kept_connection_is_unavailable_in_time(self) -> None:
        stopped = threading.Event()
        self.addCleanup(stopped.set)

        def answer(line: bytes, connection: socket.socket) -> bytes | None:
            while b"trickle" in line and not stopped.wait(0.1):
                connection.sendall(b"x")
            return b"OK\n"

        self.serve(answer, "--auth-timeout", "1")
        client = self.client()
        grant(client)
        self.assert_unavailable_in_time(client, "get:bob:trickle")

    def test_a_late_answer_reaches_no_other_request(self) -> None:
        late = threading.Event()

        def answer(line: bytes, connection: socket.socket) -> bytes:
            if b":late\n" not in line:
                return b"ERR denied no\n"
            late.wait(LONG_S)
            return b"OK\n"

        self.serve(answer, "--auth-timeout", "1")
        client, other = self.client(), self.client()
        self.assertEqual(client.ask("get:bob:late"), "unavailable")
        self.assertEqual(other.ask("get:eve:wrong"), "denied")
        late.set()
        for _ in range(20):
            self.assertEqual(client.ask("get:bob:wrong"), "denied")
            self.assertEqual(other.ask("get:eve:wrong"), "denied")
        self.assertEqual(client.ask("a.txt"), "denied")

    def test_a_connection_whose_request_timed_out_is_closed(self) -> None:
        closed = threading.Event()

        def answer(line: bytes, connection: socket.socket) -> None:
            connection.settimeout(LONG_S)
            if connection.recv(1) == b"":
                closed.set()

        self.serve(answer, "--auth-timeout", "1")
        self.assertEqual(self.client().ask("get:bob:pw"), "unavailable")
        self.assertTrue(closed.wait(LONG_S))

    def test_a_waiting_request_does_not_delay_other_connections(self) -> None:
        answered = threading.Event()
        self.addCleanup(answered.set)

        def answer(line: bytes, connection: socket.socket) -> bytes:
            if b":slow\n" in line:
                answered.wait(LONG_S)
            return b"OK\n"

        peer = self.serve(answer, "--auth-timeout", LONG_S)
        waiting = self.client()
        waiting.send("get:bob:slow\n")
        peer.wait_for_lines(1)
        for _ in range(5):
            self.assertEqual(self.client().ask("get:bob:fast"), "OK")
        answered.set()
        self.assertEqual(waiting.reply(), "OK")

    def test_a_new_without_an_answer_is_unavailable_and_not_repeated(self) -> None:
        def answer(line: bytes, connection: socket.socket) -> bytes:
            if line.startswith(b"new:"):
                raise HangUp
            return b"OK\n"

        peer = self.serve(answer)
        client = self.client()
        for number in range(1, 6):
            grant(client)  # leaves a connection that can be reused
            self.assertEqual(client.ask("new:bob:pw"), "unavailable")
            self.assertEqual(client.ask("ping"), "OK")
            self.assertEqual(peer.lines.count(b"new:bob:pw\n"), number)
            self.assertEqual(client.ask("a.txt"), b"content")

    def test_a_new_that_times_out_is_not_repeated(self) -> None:
        peer = self.serve(
            lambda line, _: None if line.startswith(b"new:") else b"OK\n", "--auth-timeout", "1"
        )
        client = self.client()
        grant(client)
        self.assertEqual(client.ask("new:bob:pw"), "unavailable")
        self.assertEqual(client.ask("ping"), "OK")
        self.assertEqual(peer.lines.count(b"new:bob:pw\n"), 1)


class AuthAnswersPerRequestTest(AuthAnswersTest):
    connection = "per-request"


class KeptConnectionTest(SceneTest):
    """Kept connections to the authserver that the authserver closes."""

    def serve(self, answer: Callable[[bytes, socket.socket], bytes | None]) -> Peer:
        self.scene.write("a.txt", b"content")
        peer = self.scene.keep(Peer(answer))
        self.fileserver = self.scene.fileserver(peer)
        return peer

    def test_one_that_was_closed_while_idle_is_replaced_unnoticed(self) -> None:
        peer = self.serve(lambda line, _: b"OK\n")
        clients = [self.scene.client(self.fileserver) for _ in range(8)]
        for line in (b"get:bob:pw\n", b"new:bob:pw\n", b"ping\n"):
            for client in clients:
                client.send(b"get:bob:pw\n")
            self.assertEqual([client.reply() for client in clients], ["OK"] * 8)
            peer.hang_up_on_all()
            for client in clients:
                client.send(line)
            self.assertEqual([client.reply() for client in clients], ["OK"] * 8, line)
        self.assertEqual(peer.lines.count(b"new:bob:pw\n"), 8)

    def test_a_get_on_one_that_is_closed_instead_of_an_answer_is_tried_again(self) -> None:
        answered: set[int] = set()

        def answer_once(line: bytes, connection: socket.socket) -> bytes:
            if connection.fileno() in answered:
                answered.discard(connection.fileno())
                raise HangUp
            answered.add(connection.fileno())
            return b"OK\n"

        self.serve(answer_once)
        client = self.scene.client(self.fileserver)
        self.assertEqual([client.ask("get:bob:pw") for _ in range(10)], ["OK"] * 10)

    def test_one_that_was_told_busy_and_closed_is_not_kept(self) -> None:
        answers = iter([b"ERR busy full\n", b"OK\n"])

        def answer(line: bytes, connection: socket.socket) -> bytes:
            return next(answers)

        peer = self.serve(answer)
        self.assertEqual(self.scene.client(self.fileserver).ask("get:bob:pw"), "busy")
        self.assertEqual(self.scene.client(self.fileserver).ask("get:bob:pw"), "OK")
        self.assertEqual(peer.connections, 2)
