"""SIGHUP, with nothing to open or to read again: it never ends a server."""

import signal

from peers import Peer
from scene import SceneTest
from waiting import eventually


class HangupTest(SceneTest):
    def setUp(self) -> None:
        # Under nohup the tests ignore this signal, and so would the server that they start.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        super().setUp()

    def test_a_hangup_with_nothing_to_open_again_is_a_line(self) -> None:
        server = self.scene.fileserver("127.0.0.1:1")
        server.signal(signal.SIGHUP)
        eventually(lambda: "nothing to open or to read again" in server.log(), "the line")
        self.assertEqual(server.stop(), 0)

    def test_a_hangup_does_not_end_processes(self) -> None:
        peer = self.scene.keep(Peer(lambda line, _: b"OK\n"))
        server = self.scene.fileserver(peer, "--model", "process")
        server.signal(signal.SIGHUP)
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual(server.stop(), 0)

    def test_a_hangup_does_not_end_the_authserver(self) -> None:
        for model in ("thread", "process"):
            with self.subTest(model):
                server = self.scene.authserver("--model", model)
                server.signal(signal.SIGHUP)
                self.assertEqual(self.scene.client(server).ask("ping"), "OK")
                self.assertEqual(server.stop(), 0)
