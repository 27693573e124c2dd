"""A scene for programs that nobody of us wrote: a served folder, and a way to run a judge on it."""

import os
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import shared_path
from http_client import FLAG, basic
from needs import missing
from scene import SharedSceneTest, create_account
from waiting import LONG_S

# What requirements.txt names is here; `make judges` installs it.
PYTHON_TOOLS = shared_path.TESTS.parent / "build" / "judges"
USER = "alice"
PASSWORD = "wonderland"
AUTHORIZATION = f"Authorization: {basic(USER, PASSWORD)}"
SMALL = b"0123456789" * 10
LARGE = os.urandom(9_000_000)
# Names with what a URL has to escape, and those beside them.
FILES = {
    "small.txt": SMALL,
    "large.bin": LARGE,
    "sub/page.html": b"<!doctype html><title>A page</title><p>Hello" + b"." * 200,
    "sub/deep/a b+c%&'#?.txt": b"odd",
    "sub/deep/caf\u00e9 \u2603": b"snow",
    "sub/empty": b"",
}
_A_DAY_AGO_S = 86_400

Test = TypeVar("Test", bound=Callable)


def needs(*programs: str) -> Callable[[Test], Test]:
    """Skips a test, or a class of tests, where one of the programs is not installed."""
    return unittest.skipIf(missing(*programs), missing(*programs))


def needs_python_tools(test: Test) -> Test:
    """Skips where `make judges` has not installed what requirements.txt names."""
    reason = "httplint, REDbot and h11 are missing (make judges)"
    return unittest.skipUnless((PYTHON_TOOLS / "installed").exists(), reason)(test)


class JudgeTest(SharedSceneTest):
    """Each test has a folder of its own, `work`, in which the judges run."""

    server_flags: tuple[str, ...] = ("--uploads", "folder")
    server_prefix: tuple[str, ...] = ()  # of the command that starts the fileserver

    @classmethod
    def prepare(cls) -> None:
        for name, content in FILES.items():
            path = cls.scene.write(name, content)
            time_s = int(path.stat().st_mtime) - _A_DAY_AGO_S
            os.utime(path, (time_s, time_s))
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(cls.authserver, USER, PASSWORD)
        flags = (*FLAG, *cls.server_flags)
        cls.server = cls.scene.fileserver(cls.authserver, *flags, prefix=cls.server_prefix)
        cls.address = str(cls.server.further_address("http"))
        cls.url = f"http://{cls.address}"
        cls.url_with_password = f"http://{USER}:{PASSWORD}@{cls.address}"

    def setUp(self) -> None:
        self.work = Path(tempfile.mkdtemp(dir=self.scene.folder))

    def run_judge(
        self, *command: object, status: int = 0, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program until it ends, and fails unless it ends with this status."""
        done = subprocess.run(
            [str(word) for word in command],
            input=stdin,
            cwd=self.work,
            env=environment(self.work),
            capture_output=True,
            timeout=4 * LONG_S,
            check=False,
        )
        output, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, f"{command}\n{output}\n{errors}")
        return subprocess.CompletedProcess(done.args, done.returncode, output, errors)

    def start_judge(self, *command: object) -> subprocess.Popen[bytes]:
        """Starts a program. It is killed at the end of the test, if it runs then."""
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=self.work,
            env=environment(self.work),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes files below the folder, by their names in it, and makes the folders on the way."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def environment(home: Path) -> dict[str, str]:
    """Without proxies, and without the settings of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
