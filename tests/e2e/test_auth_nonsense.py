"""A connection to the authserver is not reused after an answer that breaks the protocol."""

from peers import Peer
from scene import SceneTest


class AuthNonsenseTest(SceneTest):
    def connections_after(self, first_answer: bytes) -> int:
        """How many connections two requests need if the second one is answered OK."""
        answers = iter((first_answer, b"OK\n"))
        peer = self.scene.keep(Peer(lambda line, _: next(answers)))
        fileserver = self.scene.fileserver(peer, "--auth-timeout", "1")
        self.scene.client(fileserver).ask("get:bob:pw")
        self.assertEqual(self.scene.client(fileserver).ask("get:bob:pw"), "OK")
        return peer.connections

    def test_an_answer_that_does_not_fit_the_request_ends_the_connection(self) -> None:
        for answer in (b"OK 0\n", b"OK 5\n", b"hello\n", b"ERR nonsense x\n", b"\n"):
            with self.subTest(answer):
                self.assertEqual(self.connections_after(answer), 2)

    def test_a_proper_answer_does_not(self) -> None:
        for answer in (b"OK\n", b"ERR denied no\n"):
            with self.subTest(answer):
                self.assertEqual(self.connections_after(answer), 1)
