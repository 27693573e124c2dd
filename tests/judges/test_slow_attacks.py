"""slowhttptest: its four attacks, each beside a client that must be served meanwhile."""

import subprocess
import time

import shared_path  # noqa: F401
from http_client import HttpClient
from judge_scene import AUTHORIZATION, LARGE, PASSWORD, SMALL, USER, JudgeTest, needs
from processes import descriptors, resident_bytes
from scene import for_each
from waiting import eventually

_CONNECTIONS = 200
# How long an attack lasts: on a loaded machine the attacker needs long to be connected.
_ATTACK_S = (10, 30, 60)
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
    def attack(
        self, kind: str, path: str, *options: str, seconds: int = _ATTACK_S[0]
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

    def open_descriptors(self) -> int:
        return descriptors(self.server.pid)

    @for_each(_SLOW)
    def test_others_are_served(self, kind: str) -> None:
        kept = HttpClient(self.server, USER, PASSWORD)
        self.addCleanup(kept.close)
        before = self.open_descriptors()
        for seconds in _ATTACK_S:
            attack = self.attack(kind, *_SLOW[kind], seconds=seconds)
            if self.is_connected(attack, before + _CONNECTIONS):
                break
        else:
            self.fail("not all were connected")
        self.serve_while_it_runs(attack, kept)
        limit = before + _OTHER_DESCRIPTORS
        eventually(lambda: self.open_descriptors() <= limit, "all connections have ended")
        self.serve(kept)
        self.assertFalse((self.scene.root / "put").exists())

    def test_others_are_served_while_a_file_is_asked_for_in_a_thousand_parts(self) -> None:
        kept = HttpClient(self.server, USER, PASSWORD)
        self.addCleanup(kept.close)
        self.serve_while_it_runs(self.attack(*_RANGES), kept)
        self.assertLess(resident_bytes(self.server.pid, "VmHWM"), _MEMORY_BYTES)

    def is_connected(self, attack: subprocess.Popen[bytes], descriptors: int) -> bool:
        """False if the attack is over before."""
        while attack.poll() is None:
            if self.open_descriptors() >= descriptors:
                return True
            time.sleep(_PAUSE_S)
        return False

    def serve_while_it_runs(self, attack: subprocess.Popen[bytes], kept: HttpClient) -> None:
        self.serve(kept)
        while attack.poll() is None:
            self.serve(kept)
            time.sleep(_PAUSE_S)
