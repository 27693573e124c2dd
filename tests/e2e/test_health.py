"""Whether a server lives, and whether it is ready: for who restarts it and who sends it clients."""

import os
import signal
import subprocess
import threading
from pathlib import Path

from client import Address, refuses_connections
from http_client import FLAG as HTTP
from http_client import HttpClient
from peers import Peer
from processes import thread_states
from programs import Program
from scene import SceneTest, for_each
from telemetry import FLAG, get, scrape
from waiting import LONG_S, eventually

ASK = str(Path(__file__).resolve().parents[2] / "docker" / "ask")
MODELS = (
    ("--model", "thread", *HTTP),
    ("--model", "event", *HTTP),
    ("--model", "process"),  # it has no HTTP
)


def ask_live(server: Program, limit_s: float = LONG_S) -> "subprocess.CompletedProcess[str]":
    """Exactly what the health check of docker/stack.yml runs."""
    environment = {**os.environ, "ASK_SERVER": str(server.address), "ASK_TIMEOUT": str(limit_s)}
    return subprocess.run(
        [ASK, "--live"], env=environment, capture_output=True, text=True, check=False
    )


class HealthTest(SceneTest):
    def assert_lives(self, server: Program, has_http: bool = False) -> None:
        asked = ask_live(server)
        self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, "", ""))
        self.assertEqual(get(server, "/livez").status, 200)
        if has_http:
            self.assertEqual(self.scene.keep(HttpClient(server)).ask("/-/live").status, 200)

    def assert_readiness(self, server: Program, status: int, has_http: bool) -> None:
        self.assertEqual(get(server, "/healthz").status, status)
        if has_http:
            self.assertEqual(self.scene.keep(HttpClient(server)).ask("/-/health").status, status)

    @for_each(MODELS)
    def test_without_its_authserver_a_fileserver_lives_and_is_not_ready(
        self, flags: tuple[str, ...]
    ) -> None:
        has_http = HTTP[0] in flags
        authserver = self.scene.authserver()
        server = self.scene.fileserver(authserver, *FLAG, *flags)
        self.assert_readiness(server, 200, has_http)
        self.assert_lives(server, has_http)
        authserver.signal(signal.SIGKILL)
        authserver.wait()
        self.assert_readiness(server, 503, has_http)
        self.assert_lives(server, has_http)

    @for_each(MODELS)
    def test_to_live_no_authserver_is_asked(self, flags: tuple[str, ...]) -> None:
        hanging = self.scene.keep(Peer(lambda _line, _connection: None))
        server = self.scene.fileserver(hanging, *FLAG, *flags)
        self.assert_lives(server, HTTP[0] in flags)
        self.assertEqual(hanging.lines, [])

    @for_each(MODELS)
    def test_a_full_server_lives(self, flags: tuple[str, ...]) -> None:
        server = self.scene.fileserver(
            self.scene.authserver(), *FLAG, *flags, "--max-connections", "1"
        )
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        self.assert_lives(server)
        self.assertEqual(client.ask("ping"), "OK")

    @for_each(("fileserver", "authserver"))
    def test_a_server_that_hangs_does_not_live(self, program: str) -> None:
        authserver = self.scene.authserver()
        server = authserver if program == "authserver" else self.scene.fileserver(authserver)
        self.assertEqual(ask_live(server).returncode, 0)
        server.signal(signal.SIGSTOP)
        eventually(lambda: thread_states(server.pid) == {"T"}, "all its threads have stopped")
        asked = ask_live(server, 0.3)
        server.signal(signal.SIGCONT)
        self.assertEqual(asked.returncode, 1)
        self.assertIn("does not answer within", asked.stderr)

    @for_each(MODELS)
    def test_a_server_that_ends_lives_and_is_not_ready(self, flags: tuple[str, ...]) -> None:
        """A request that waits for the authserver keeps it from ending at once."""
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def answer(line: bytes, _connection: object) -> bytes:
            if line != b"ping\n":
                may_answer.wait(LONG_S)
            return b"OK\n"

        peer = self.scene.keep(Peer(answer))
        waits = ("--drain-seconds", LONG_S, "--auth-timeout", LONG_S)
        server = self.scene.fileserver(peer, *FLAG, *waits, *flags)
        self.assertEqual(get(server, "/healthz").status, 200)
        client = self.scene.client(server)
        client.send("new:bob:pw\n")
        eventually(lambda: b"new:bob:pw\n" in peer.lines, "the request is under way")
        server.signal(signal.SIGTERM)
        self.wait_until_refused(server.address)
        if HTTP[0] in flags:
            self.wait_until_refused(server.further_address("http"))
        self.assertEqual(get(server, "/livez").status, 200)
        self.assertEqual(get(server, "/healthz").status, 503)
        self.assertEqual(scrape(server).value("turnstile_authserver_up"), 1)
        may_answer.set()
        self.assertEqual(client.reply(), "OK")
        self.assertEqual(server.wait(), 0)

    def wait_until_refused(self, address: Address) -> None:
        eventually(lambda: refuses_connections(address), "no connection is accepted")
