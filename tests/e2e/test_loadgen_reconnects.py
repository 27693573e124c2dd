"""loadgen: kept connections that end while they are idle, and those that cannot be made."""

import socket
import time

from http_peer import CREATED, OK, HttpPeer
from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import HangUp, Peer

_KEPT = ("--connection", "keep-alive")
_HTTP_GET = (*GET, "--file", "a", "--protocol", "http", *_KEPT)
_HTTP_NEW = ("new", "--protocol", "http", *_KEPT)


class _NoMoreThanOne:
    """Answers the first request of each connection; the next one ends it after `wait_s`."""

    def __init__(self, reply: bytes, wait_s: float = 0) -> None:
        self._reply = reply
        self._wait_s = wait_s
        self._known: list[socket.socket] = []

    def __call__(self, _request: bytes, connection: socket.socket) -> bytes:
        if connection in self._known:
            time.sleep(self._wait_s)
            raise HangUp
        self._known.append(connection)
        return self._reply


def _hang_up(_request: bytes, _connection: socket.socket) -> None:
    raise HangUp


class LoadgenReconnectsTest(LoadgenScene):
    def test_a_get_is_repeated_when_its_kept_connection_had_ended(self) -> None:
        peer = self.scene.keep(HttpPeer(_NoMoreThanOne(OK)))
        result = self.result(*_HTTP_GET, "--requests", 5, server=peer)
        self.assertEqual((result["requests"], result["errors"]), (5, {"total": 0}))
        self.assertEqual((result["connections"], result["reconnects"]), (5, 4))
        self.assertEqual(len(peer.requests), 9)

    def test_a_native_get_is_repeated_from_its_log_in(self) -> None:
        known = []

        def answer(line: bytes, connection: socket.socket) -> bytes:
            if line == GET_LINE and connection in known:
                raise HangUp
            known.append(connection)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(answer))
        result = self.result(*GET, "--file", "a", *_KEPT, "--requests", 3, server=peer)
        self.assertEqual((result["requests"], result["reconnects"]), (3, 2))
        self.assertEqual(peer.lines.count(b"a\n"), 3)

    def test_the_time_that_was_lost_with_the_connection_counts(self) -> None:
        peer = self.scene.keep(HttpPeer(_NoMoreThanOne(OK, wait_s=0.3)))
        result = self.result(*_HTTP_GET, "--requests", 3, server=peer)
        self.assertEqual(result["reconnects"], 2)
        self.assertGreaterEqual(result["response_time_ms"]["max"], 300)
        self.assertGreaterEqual(result["response_time_ms"]["mean"], 200)

    def test_a_new_connection_that_ends_is_a_failure(self) -> None:
        """Only the first of three requests has a connection that was there before."""
        peer = self.scene.keep(HttpPeer(_hang_up))
        result = self.result(*_HTTP_GET, "--requests", 3, server=peer, status=1)
        self.assertEqual(self.errors(result), {"closed": 3})
        self.assertEqual((len(peer.requests), result["reconnects"]), (4, 1))

    def test_a_reply_that_had_begun_is_not_asked_for_again(self) -> None:
        def answer(_request: bytes, connection: socket.socket) -> None:
            connection.sendall(OK[:5])
            raise HangUp

        peer = self.scene.keep(HttpPeer(answer))
        result = self.result(*_HTTP_GET, "--requests", 2, server=peer, status=1)
        self.assertEqual(self.errors(result), {"closed": 2})
        self.assertEqual((len(peer.requests), result["reconnects"]), (2, 0))

    def test_a_new_whose_answer_was_lost_is_not_sent_twice(self) -> None:
        peer = self.scene.keep(HttpPeer(_NoMoreThanOne(CREATED)))
        result = self.result(*_HTTP_NEW, "--requests", 4, server=peer, status=1)
        self.assertEqual((result["requests"], self.errors(result)), (2, {"closed": 2}))
        self.assertEqual((len(peer.requests), result["reconnects"]), (4, 0))

    def test_a_new_is_not_sent_on_a_connection_that_has_ended(self) -> None:
        def answer_and_end(_request: bytes, connection: socket.socket) -> None:
            """In one packet, so that nobody has the answer without the end."""
            connection.sendall(CREATED, 0 if self.encrypts else socket.MSG_MORE)
            connection.shutdown(socket.SHUT_WR)
            raise HangUp

        peer = self.scene.keep(HttpPeer(answer_and_end))
        flags = (*_HTTP_NEW, "--rate", 4, "--seconds", 1, "--threads", 1)
        result = self.result(*flags, server=peer)
        self.assertEqual((result["requests"], result["errors"]), (4, {"total": 0}))
        self.assertEqual((result["connections"], result["reconnects"]), (4, 3))

    def test_a_kept_connection_that_takes_all_of_the_time_is_a_time_out(self) -> None:
        """The queue of the server is full, so the system answers no further connection."""
        full = self.scene.keep(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = self.scene.keep(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        flags = ("--rate", 4, "--seconds", 1, "--timeout", 0.5, "--threads", 4)
        server = f"127.0.0.1:{full.getsockname()[1]}"
        for connection in ("keep-alive", "per-request"):
            how = ("--connection", connection)
            result = self.result(*GET, "--file", "a", *flags, *how, server=server, status=1)
            self.assertEqual(self.errors(result), {"timeout": 4})
            self.assertEqual(result["open_loop"]["given_up"], 4)
            self.assertGreaterEqual(result["response_time_ms"]["min"], 500)
