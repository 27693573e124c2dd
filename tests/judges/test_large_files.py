"""The commands of docs/large-files.md, while their connection breaks and the file is replaced.

TURNSTILE_LARGE_FILES=N makes N rounds of each, and prints how they ended.
"""

import contextlib
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import shared_path
from http_client import FLAG
from judge_scene import JudgeTest, environment
from peers import Relay
from scene import create_account
from waiting import LONG_S

from lab.systems.peers.packages import LeftOut, unpacked

_PAGE = shared_path.TESTS.parent / "docs" / "large-files.md"
_ROUNDS = int(os.environ.get("TURNSTILE_LARGE_FILES", "2"))
_PACKAGES = Path(tempfile.gettempdir()) / f"turnstile-tests-packages-{os.getuid()}"
_SIZE = 5 << 20
_PROGRAMS = {"curl": "curl", "wget": "wget", "aria2": "aria2c", "lftp": "lftp", "rclone": "rclone"}
# The same transfers as many do them, twice in case that the first one breaks off.
_PLAIN = {
    "curl": "curl -fsS -u amy:secret -C - -o big.bin $URL/big.bin",
    "wget": "wget -q -c --user amy --password secret $URL/big.bin",
    "aria2": "aria2c -q -c -x4 -s4 -k1M --http-user=amy --http-passwd=secret $URL/big.bin",
    "lftp": "lftp -u amy,secret -e 'pget -c -n 4 big.bin; exit' $URL",
    "rclone": "rclone copyto --config /dev/null --http-url http://amy:secret@${URL#*//} "
    ":http:big.bin big.bin",
}
# A transfer that goes on gets less than this much of the file in all.
_RESUMED = 1.5
_GETS_MORE = ("lftp", "rclone")  # than it needs: ranges that it leaves, or the whole file again
_ALMOST_SURE = 20  # of so many rounds of a plain command, one mixes


def commands_of(section: str) -> str:
    """The first block below a heading of the page."""
    text = _PAGE.read_text(encoding="utf-8")
    below = text[text.index(f"\n## {section}\n") :]
    found = re.search(r"(?:^ {4}.*\n)+", below, re.MULTILINE)
    assert found, section
    return found[0]


class BreakingRelay(Relay):
    """Breaks all connections once, when so many bytes of the server have passed."""

    def __init__(
        self, target: tuple[str, int], after: int, when_broken: Callable[[], None]
    ) -> None:
        self.passed = 0
        self._after = after
        self._when_broken = when_broken
        super().__init__(target)

    def _pump_back(self, onward: socket.socket, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := onward.recv(1 << 14):
                self.passed += len(received)
                connection.sendall(received)
                if self.passed >= self._after > 0:
                    self._after = 0
                    self._when_broken()
                    self.hang_up_on_all()
            connection.shutdown(socket.SHUT_RDWR)


class LargeFilesTest(JudgeTest):
    @classmethod
    def prepare(cls) -> None:
        authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(authserver, "amy", "secret")
        flags = (*FLAG, "--files", "disk", "--uploads", "folder")
        cls.server = cls.scene.fileserver(authserver, *flags)
        cls.endings: Counter[str] = Counter()

    @classmethod
    def tearDownClass(cls) -> None:
        if _ROUNDS > 2:
            for ending, count in sorted(cls.endings.items()):
                print(f"{ending}: {count}", file=sys.stderr)

    def setUp(self) -> None:
        super().setUp()
        # The file is as large for rclone as one of 250 MB is.
        self.environment = environment(self.work) | {"RCLONE_MULTI_THREAD_CUTOFF": "1M"}
        lftp = "set net:reconnect-interval-base 1\nset net:reconnect-interval-multiplier 1\n"
        (self.work / ".lftprc").write_text(lftp, encoding="ascii")

    def need(self, program: str) -> None:
        if shutil.which(program):
            return
        if program != "lftp":
            self.skipTest(f"{program} is missing (scripts/setup judges)")
        try:
            copy = unpacked("lftp", _PACKAGES)
        except LeftOut as reason:
            self.skipTest(str(reason))
        self.environment["PATH"] += f":{copy.folder / 'usr/bin'}"
        self.environment["LD_LIBRARY_PATH"] = copy.environment["LD_LIBRARY_PATH"]

    def serve(self, content: bytes) -> None:
        """A new file takes the name, as an upload does it."""
        self.scene.write("new", content).rename(self.scene.root / "big.bin")

    def broken(self, when_broken: Callable[[], None]) -> BreakingRelay:
        after = random.randrange(_SIZE // 5, _SIZE * 4 // 5)
        relay = BreakingRelay(self.server.further_address("http"), after, when_broken)
        self.addCleanup(relay.close)
        return relay

    def run_script(self, script: str, relay: BreakingRelay) -> int:
        for left in self.work.glob("big.*"):
            left.unlink()
        return self.run_again(script, relay)

    def run_again(self, script: str, relay: BreakingRelay) -> int:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.work,
            env=self.environment | {"URL": f"http://{relay}"},
            capture_output=True,
            timeout=4 * LONG_S,
        )
        self.said = (done.stdout + done.stderr).decode(errors="replace")
        return done.returncode

    def got(self) -> bytes:
        return (self.work / "big.bin").read_bytes()

    def test_the_check_knows_the_version_that_is_served(self) -> None:
        self.need("curl")
        content, other = _versions()
        self.serve(content)
        relay = self.broken(lambda: None)
        get, check = commands_of("Checking what came").splitlines()
        self.run_script(f"{get} || {get}", relay)
        self.assertEqual(self.run_again(check, relay), 0, self.said)
        self.serve(other)
        self.assertEqual(self.run_again(check, relay), 1)
        (self.scene.root / "big.bin").unlink()
        self.assertEqual(self.run_again(check, relay), 1)

    def test_a_copy_that_breaks_off_changes_nothing(self) -> None:
        self.need("curl")
        script = commands_of("From one server to another")
        target = f"http://{self.server.further_address('http')}/copy.bin"
        script = re.sub(r"TO=\S+", f"TO={target}", script)
        copied = self.scene.root / "copy.bin"
        for when_broken in (lambda: None, lambda: self.serve(other)):
            content, other = _versions()
            self.serve(content)
            copied.write_bytes(b"before")
            relay = self.broken(when_broken)
            self.assertEqual(self.run_script(script, relay), 22, self.said)
            self.assertEqual(copied.read_bytes(), b"before")
            self.assertEqual(self.run_again(script, relay), 0, self.said)
            self.assertEqual(copied.read_bytes(), (self.scene.root / "big.bin").read_bytes())
        self.serve(content)
        relay = self.broken(lambda: None)
        self.run_again(script.replace(' -H "$digest"', ""), relay)
        self.assertLess(copied.stat().st_size, _SIZE)  # the control


def _versions() -> tuple[bytes, bytes]:
    return os.urandom(_SIZE), os.urandom(_SIZE)


def _add_tests() -> None:
    for name in _PROGRAMS:
        for kind in (_never_mixed, _goes_on, _plain_mixes):
            setattr(LargeFilesTest, f"test_{name}{kind.__name__}", _of(kind, name))


def _of(kind: Callable[[LargeFilesTest, str], None], name: str) -> Callable[[LargeFilesTest], None]:
    def test(self: LargeFilesTest) -> None:
        self.need(_PROGRAMS[name])
        kind(self, name)

    return test


def _never_mixed(test: LargeFilesTest, name: str) -> None:
    """A file that is replaced in the middle is refused, and comes whole when begun again."""
    script = commands_of(name)
    for _ in range(_ROUNDS):
        old, new = _versions()
        test.serve(old)
        relay = test.broken(lambda content=new: test.serve(content))
        status = test.run_script(script, relay)
        test.endings[f"{name}, replaced: {'refused' if status else 'called good'}"] += 1
        if status == 0:
            test.assertIn(test.got(), (old, new))
        else:
            test.assertEqual(test.run_script(script, relay), 0, test.said)
            test.assertEqual(test.got(), new)
        relay.close()


def _goes_on(test: LargeFilesTest, name: str) -> None:
    """A file that stays as it was comes whole, and no part of it twice."""
    for _ in range(_ROUNDS):
        content, _ = _versions()
        test.serve(content)
        relay = test.broken(lambda: None)
        test.assertEqual(test.run_script(commands_of(name), relay), 0, test.said)
        test.assertEqual(test.got(), content)
        if name not in _GETS_MORE:
            test.assertLess(relay.passed, _RESUMED * _SIZE)
        relay.close()


def _plain_mixes(test: LargeFilesTest, name: str) -> None:
    """The control: without what the page adds, the same program calls a mixture good."""
    mixed = rounds = 0
    while rounds < _ROUNDS or (mixed == 0 and rounds < _ALMOST_SURE):
        rounds += 1
        old, new = _versions()
        test.serve(old)
        relay = test.broken(lambda content=new: test.serve(content))
        if test.run_script(_PLAIN[name], relay) != 0:
            test.run_again(_PLAIN[name], relay)
        mixed += test.got() not in (old, new)
        relay.close()
    test.endings[f"{name}, replaced, plain command: mixed"] += mixed
    test.assertGreater(mixed, 0)


_add_tests()
