"""The commands of docs/large-files.md, while their connection breaks and the file is replaced.

TURNSTILE_LARGE_FILES=N makes N rounds of each, and prints how they ended.
"""

import contextlib
import os
import random
import re
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
from needs import missing
from peers import Relay
from scene import create_account, for_each
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
# With these, a transfer that goes on gets hardly more than the file in all. Those with several
# connections leave what is under way.
_ONE_CONNECTION = ("curl", "wget")
_RESUMED = 1.1
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
    endings: Counter[str] = Counter()
    relay: BreakingRelay
    said = ""

    @classmethod
    def prepare(cls) -> None:
        authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(authserver, "amy", "secret")
        flags = (*FLAG, "--files", "disk", "--uploads", "folder")
        cls.server = cls.scene.fileserver(authserver, *flags)

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
        if not missing(program):
            return
        if program != "lftp":
            self.skipTest(missing(program))
        try:
            copy = unpacked("lftp", _PACKAGES)
        except LeftOut as reason:
            self.skipTest(str(reason))
        self.environment["PATH"] += f":{copy.folder / 'usr/bin'}"
        self.environment["LD_LIBRARY_PATH"] = copy.environment["LD_LIBRARY_PATH"]

    def serve(self, content: bytes) -> None:
        """A new file takes the name, as an upload does it."""
        self.scene.write("new", content).rename(self.scene.root / "big.bin")

    def break_once(self, when_broken: Callable[[], None]) -> None:
        """The commands that are run from now on meet it."""
        after = random.randrange(_SIZE // 5, _SIZE * 4 // 5)
        self.relay = BreakingRelay(self.server.further_address("http"), after, when_broken)
        self.addCleanup(self.relay.close)

    def replaced_when_broken(self) -> tuple[bytes, bytes]:
        """Returns the version before and the one after."""
        old, new = os.urandom(_SIZE), os.urandom(_SIZE)
        self.serve(old)
        self.break_once(lambda: self.serve(new))
        return old, new

    def run_script(self, script: str) -> int:
        """From the beginning."""
        for left in self.work.glob("big.*"):
            left.unlink()
        return self.run_again(script)

    def run_again(self, script: str) -> int:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.work,
            env=self.environment | {"URL": f"http://{self.relay}"},
            capture_output=True,
            timeout=4 * LONG_S,
        )
        self.said = (done.stdout + done.stderr).decode(errors="replace")
        return done.returncode

    @for_each(_PROGRAMS)
    def test_a_file_that_was_replaced_is_never_called_good_in_parts(self, name: str) -> None:
        """It is refused, and comes whole when the commands are begun again."""
        self.need(_PROGRAMS[name])
        for _ in range(_ROUNDS):
            old, new = self.replaced_when_broken()
            status = self.run_script(commands_of(name))
            self.endings[f"{name}: {'refused' if status else 'called good'}"] += 1
            if status == 0:
                self.assertIn(self.got(), (old, new))
            else:
                self.check_refusal(name, status, old)
                self.assertEqual(self.run_script(commands_of(name)), 0, self.said)
                self.assertEqual(self.got(), new)

    def check_refusal(self, name: str, status: int, old: bytes) -> None:
        """As the page says: curl leaves what it had, and the check leaves no file."""
        if name == "curl":
            self.assertEqual(status, 33)
            self.assertTrue(old.startswith(self.got()))
        elif name != "aria2":
            self.assertEqual(status, 1)
            self.assertFalse((self.work / "big.bin").exists())

    @for_each(_PROGRAMS)
    def test_a_transfer_that_breaks_off_goes_on(self, name: str) -> None:
        self.need(_PROGRAMS[name])
        for _ in range(_ROUNDS):
            content = os.urandom(_SIZE)
            self.serve(content)
            self.break_once(lambda: None)
            self.assertEqual(self.run_script(commands_of(name)), 0, self.said)
            self.assertEqual(self.got(), content)
            if name in _ONE_CONNECTION:
                self.assertLess(self.relay.passed, _RESUMED * _SIZE)

    @for_each(_PROGRAMS)
    def test_the_control_without_what_the_page_adds_mixes(self, name: str) -> None:
        self.need(_PROGRAMS[name])
        mixed = rounds = 0
        while rounds < _ROUNDS or (mixed == 0 and rounds < _ALMOST_SURE):
            rounds += 1
            versions = self.replaced_when_broken()
            if self.run_script(_PLAIN[name]) != 0:
                self.run_again(_PLAIN[name])
            mixed += self.got() not in versions
        self.endings[f"{name}, plain: mixed in {rounds}"] += mixed
        self.assertGreater(mixed, 0)

    def got(self) -> bytes:
        return (self.work / "big.bin").read_bytes()

    def test_curl_says_that_nothing_is_left_to_get(self) -> None:
        self.need("curl")
        _, resume = commands_of("curl").split("||")
        self.replaced_when_broken()
        self.assertEqual(self.run_script(commands_of("curl")), 33)
        self.assertEqual(self.run_script(commands_of("curl")), 0, self.said)
        content = self.got()
        self.assertEqual(self.run_again(resume), 22)
        self.assertEqual(self.got(), content)

    def test_the_check_knows_the_version_that_is_served(self) -> None:
        self.need("curl")
        _, new = self.replaced_when_broken()
        get, check = commands_of("Checking what came").splitlines()
        self.assertEqual(self.run_script(f"{get} || {get}"), 0, self.said)
        self.assertEqual(self.run_again(check), 0, self.said)
        self.serve(new[::-1])
        self.assertEqual(self.run_again(check), 1)
        (self.scene.root / "big.bin").unlink()
        self.assertEqual(self.run_again(check), 1)

    def test_a_copy_that_breaks_off_or_is_mixed_changes_nothing(self) -> None:
        self.need("curl")
        target = f"http://{self.server.further_address('http')}/copy.bin"
        script = re.sub(r"TO=\S+", f"TO={target}", commands_of("From one server to another"))
        copied = self.scene.root / "copy.bin"
        copied.write_bytes(b"before")
        _, new = self.replaced_when_broken()
        self.assertEqual(self.run_script(script), 22, self.said)
        self.assertEqual(copied.read_bytes(), b"before")
        self.assertEqual(self.run_again(script), 0, self.said)
        self.assertEqual(copied.read_bytes(), new)

    def test_the_control_of_a_copy_without_a_digest_is_short(self) -> None:
        self.need("curl")
        script = commands_of("From one server to another").replace(' -H "$digest"', "")
        target = f"http://{self.server.further_address('http')}/copy.bin"
        self.replaced_when_broken()
        self.run_script(re.sub(r"TO=\S+", f"TO={target}", script))
        self.assertLess((self.scene.root / "copy.bin").stat().st_size, _SIZE)
