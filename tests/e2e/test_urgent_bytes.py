"""An urgent byte, as telnet sends one for Ctrl-C, between two requests that come at once."""

import signal
import socket

from http_client import FLAG, HttpClient, basic, request
from processes import thread_states
from programs import Program
from scene import SceneTest, for_each
from waiting import eventually

_MODELS = ("thread", "event")
_USER = ("alice", "wonderland")
_CONTENT = b"content"


class UrgentByteTest(SceneTest):
    def start(self, model: str) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.scene.write("small", _CONTENT)
        return self.scene.fileserver(authserver, *FLAG, "--model", model)

    def send_at_once(self, server: Program, peer: socket.socket, sent: bytes) -> None:
        """The server looks when both are there. The urgent byte belongs to neither."""
        server.signal(signal.SIGSTOP)
        eventually(lambda: thread_states(server.pid) == {"T"}, "all its threads have stopped")
        peer.sendall(sent)
        peer.send(b"!", socket.MSG_OOB)
        peer.sendall(sent)
        server.signal(signal.SIGCONT)

    @for_each(_MODELS)
    def test_both_lines_are_answered(self, model: str) -> None:
        server = self.start(model)
        client = self.scene.client(server)
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        self.send_at_once(server, client.socket, b"small\n")
        self.assertEqual(client.replies(2), [_CONTENT] * 2)
        self.assertEqual(client.ask("small"), _CONTENT)

    @for_each(_MODELS)
    def test_both_requests_of_http_are_answered(self, model: str) -> None:
        server = self.start(model)
        client = self.scene.keep(HttpClient(server, *_USER))
        self.assertEqual(client.ask("/small").body, _CONTENT)
        one = request("/small", f"Authorization: {basic(*_USER)}")
        self.send_at_once(server, client._client.socket, one)
        self.assertEqual([client.answer().body for _ in range(2)], [_CONTENT] * 2)
        self.assertEqual(client.ask("/small").body, _CONTENT)
