"""slowhttptest: its four attacks, each beside a client that must be served meanwhile."""

import subprocess
import time
from collections.abc import Callable

import shared_path  # noqa: F401
from http_client import HttpClient
from judge_scene import AUTHORIZATION, LARGE, PASSWORD, SMALL, USER, JudgeTest, needs
from processes import descriptors, resident_bytes
from scene import for_each
from telemetry import FLAG, scrape
from waiting import LONG_S, eventually

_CONNECTIONS = 200
# How long an attack lasts that ends by itself, and for how long others are served beside one that
# is ended by the test, once all of its connections are there.
_ATTACK_S = 10
_NEVER_S = 100_000
_PATIENCE_S = 4 * LONG_S
# No answer is put together in memory: 200 of them would need 1.8 GB.
_MEMORY_BYTES = 100_000_000
_PAUSE_S = 0.2
# Such as connections to the authserver.
_OTHER_DESCRIPTORS = 20
# Heads that never end, bodies that never end, answers that are hardly read, and over a thousand
# ranges of a file.
_SLOW = {
    "-H": ("/large.bin",),
    "-B": ("/put", "-t", "PUT", "-s", "100000"),
    "-X": ("/large.bin", "-w", "512", "-y", "1024", "-z", "32", "-k", "3"),
}
_RANGES = ("-R", "/large.bin", "-t", "GET", "-a", "5", "-b", "2000")


@needs("slowhttptest")
class SlowAttackTest(JudgeTest):
    server_flags = (*JudgeTest.server_flags, *FLAG)

    @classmethod
    def prepare(cls) -> None:
        super().prepare()
        cls.unused = descriptors(cls.server.pid)

    def attack(
        self, kind: str, path: str, *options: str, seconds: int = _ATTACK_S
    ) -> subprocess.Popen[bytes]:
        load = ("-c", _CONNECTIONS, "-r", _CONNECTIONS, "-l", seconds, "-i", 1, *options)
        # It has no option for a password, so a further field follows what it sends as Cookie.
        password = ("-j", f"a=b\r\n{AUTHORIZATION}")
        return self.start_judge("slowhttptest", kind, *load, *password, "-u", self.url + path)

    def serve(self, kept: HttpClient) -> None:
        """Asks on a connection that is there already, and on a new one."""
        for path, content in (("/small.txt", SMALL), ("/large.bin", LARGE)):
            for client in (kept, fresh := HttpClient(self.server, USER, PASSWORD)):
                answer = client.ask(path)
                self.assertEqual((answer.status, answer.body), (200, content))
            fresh.close()

    def accepted(self) -> float:
        """How many connections ever. Those of the test before may be ending still."""
        return scrape(self.server).value("turnstile_connections_accepted_total")

    @for_each(_SLOW)
    def test_others_are_served(self, kind: str) -> None:
        kept = HttpClient(self.server, USER, PASSWORD)
        self.addCleanup(kept.close)
        before = self.accepted()
        attack = self.attack(kind, *_SLOW[kind], seconds=_NEVER_S)
        eventually(
            lambda: self.accepted() >= before + _CONNECTIONS, "all are connected", _PATIENCE_S
        )
        end = time.monotonic() + _ATTACK_S
        self.serve_while(lambda: time.monotonic() < end, kept)
        self.assertIsNone(attack.poll(), "the attack has ended by itself")
        attack.kill()
        limit = self.unused + _OTHER_DESCRIPTORS
        eventually(lambda: descriptors(self.server.pid) <= limit, "all connections have ended")
        self.serve(kept)
        self.assertFalse((self.scene.root / "put").exists())

    def test_others_are_served_while_a_file_is_asked_for_in_a_thousand_parts(self) -> None:
        kept = HttpClient(self.server, USER, PASSWORD)
        self.addCleanup(kept.close)
        attack = self.attack(*_RANGES)
        self.serve_while(lambda: attack.poll() is None, kept)
        self.assertLess(resident_bytes(self.server.pid, "VmHWM"), _MEMORY_BYTES)

    def serve_while(self, goes_on: Callable[[], bool], kept: HttpClient) -> None:
        self.serve(kept)
        while goes_on():
            self.serve(kept)
            time.sleep(_PAUSE_S)
