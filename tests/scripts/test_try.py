"""scripts/try: what it prints can be pasted, and nothing is left when it ends. And scripts/demo."""

import os
import re
import shlex
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TURNSTILE_BUILD", ROOT / "build"))
PROGRAMS = ("authserver", "fileserver", "loadgen")


class Trial:
    """A scripts/try that runs, with the lines that it printed up to the last one."""

    def __init__(self, build: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "scripts" / "try", "--build", build, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout
        self.shown = ""
        while "Ctrl-C" not in self.shown:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(self.shown)
            self.shown += line
        self.commands = re.findall(r"^  (?=curl|LOADGEN)(.*)$", self.shown, re.MULTILINE)

    def value(self, name: str) -> str:
        found = re.search(rf"^  {name} +(\S+)$", self.shown, re.MULTILINE)
        assert found, self.shown
        return found[1]

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        last_words, _ = self.process.communicate(timeout=60)
        return self.process.returncode, last_words


def status(*arguments: str) -> str:
    """The HTTP status that curl gets."""
    return subprocess.run(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class TryTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-try-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"
        self.build.mkdir()
        for name in PROGRAMS:
            (self.build / name).symlink_to(BUILD.resolve() / name)

    def start(self, *arguments: str) -> Trial:
        trial = Trial(self.build, *arguments)

        def end() -> None:
            trial.process.kill()
            trial.process.communicate()

        self.addCleanup(end)
        return trial

    def assert_nothing_is_left(self) -> None:
        left = {path.name for path in self.build.iterdir()}
        self.assertLessEqual(left, set(PROGRAMS))

    def test_the_servers_are_enough(self) -> None:
        (self.build / "loadgen").unlink()  # `make try` does not build it
        trial = self.start()
        self.assertEqual([command.split()[0] for command in trial.commands], ["curl", "curl"])
        self.assertEqual(trial.end()[0], 0)
        self.assert_nothing_is_left()

    def run_pasted(self, command: str) -> str:
        """In a folder of its own, where LICENSE and build/loadgen are as in the checkout."""
        place = self.folder / "checkout"
        place.mkdir(exist_ok=True)
        for name, target in (("LICENSE", ROOT / "LICENSE"), ("build", BUILD.resolve())):
            if not (place / name).exists():
                (place / name).symlink_to(target)
        command = command.replace("--seconds 5", "--seconds 1").replace("curl ", "curl -sS -f ")
        done = subprocess.run(
            ["bash", "-c", command], check=False, capture_output=True, text=True, cwd=place
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout or done.stderr

    def test_what_it_prints_can_be_pasted(self) -> None:
        trial = self.start()
        login = f"{trial.value('user')}:{trial.value('password')}"
        url = trial.value("in a browser")
        self.assertEqual(status(url), "401")
        self.assertEqual(status("-u", login, url), "200")
        fetch, upload, measure = trial.commands
        self.assertEqual(self.run_pasted(fetch), "hello\n")
        self.run_pasted(upload)
        self.assertEqual(status("-u", login, f"{url}LICENSE"), "200")
        self.assertIn("requests", self.run_pasted(measure))

    def test_by_https_the_browser_shows_the_printed_fingerprint(self) -> None:
        trial = self.start("--tls")
        url = urllib.parse.urlsplit(trial.value("in a browser"))
        self.assertEqual((url.scheme, url.hostname), ("https", "127.0.0.1"))
        assert url.port
        pem = ssl.get_server_certificate(("127.0.0.1", url.port)).encode()
        shown = subprocess.run(
            ["openssl", "x509", "-noout", "-fingerprint", "-sha256"],
            input=pem,
            check=True,
            capture_output=True,
        ).stdout.decode()
        printed = re.search(r"^  ([0-9A-F:]{95})$", trial.shown, re.MULTILINE)
        assert printed, trial.shown
        self.assertEqual(shown.partition("=")[2].strip(), printed[1])
        for command in trial.commands[:2]:
            self.assertNotRegex(command, r" -k| --insecure|http:")
        self.assertEqual(self.run_pasted(trial.commands[0]), "hello\n")
        self.run_pasted(trial.commands[1])
        keys = [path.name for path in self.build.glob("try-*/tls/*key.pem")]
        self.assertEqual(keys, ["127.0.0.1-key.pem"])  # nobody makes another certificate
        self.assertEqual(trial.end()[0], 0)
        self.assert_nothing_is_left()

    def test_nobody_else_can_make_an_account(self) -> None:
        trial = self.start()
        accounts = f"{trial.value('in a browser')}-/accounts"
        self.assertEqual(status("-d", '{"user": "eve", "password": "x"}', accounts), "403")

    def test_each_way_to_end_it_leaves_nothing(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                trial = self.start()
                url = trial.value("in a browser")
                ended, last_words = trial.end(number)
                self.assertEqual(ended, 0)
                self.assertIn("Both servers are stopped", last_words)
                self.assert_nothing_is_left()
                with self.assertRaises(subprocess.CalledProcessError) as refused:
                    status(url)
                self.assertEqual(refused.exception.returncode, 7)  # nobody listens

    def test_a_folder_of_ones_own_is_served_and_only_read(self) -> None:
        mine = self.folder / "mine & yours"
        mine.mkdir()
        (mine / "a b.txt").write_text("mine\n", encoding="utf-8")
        trial = self.start(str(mine))
        fetch, measure = trial.commands
        self.assertEqual(self.run_pasted(fetch), "mine\n")
        self.assertIn("requests", self.run_pasted(measure))
        login = f"{trial.value('user')}:{trial.value('password')}"
        put = ("-u", login, "-T", str(mine / "a b.txt"), f"{trial.value('in a browser')}new.txt")
        self.assertEqual(status(*put), "405")
        trial.end()
        self.assertEqual([path.name for path in mine.iterdir()], ["a b.txt"])
        self.assert_nothing_is_left()
        trial = self.start("--uploads", str(mine))
        self.assertEqual(len(trial.commands), 3)
        self.run_pasted(trial.commands[1])
        self.assertEqual((mine / "LICENSE").read_bytes(), (ROOT / "LICENSE").read_bytes())

    def test_an_empty_folder_is_served_and_a_missing_one_is_not(self) -> None:
        empty = self.folder / "empty"
        empty.mkdir()
        trial = self.start(str(empty))
        login = f"{trial.value('user')}:{trial.value('password')}"
        self.assertEqual(trial.commands, [])
        self.assertEqual(status("-u", login, trial.value("in a browser")), "200")
        with self.assertRaises(AssertionError) as failed:
            self.start(str(self.folder / "nosuch"))
        self.assertIn("nosuch is no folder", str(failed.exception))

    def test_a_server_that_ends_is_told(self) -> None:
        trial = self.start()
        children = Path(f"/proc/{trial.process.pid}/task/{trial.process.pid}/children")
        for pid in shlex.split(children.read_text(encoding="ascii")):
            os.kill(int(pid), signal.SIGKILL)
        last_words, _ = trial.process.communicate(timeout=60)
        self.assertEqual(trial.process.returncode, 1)
        self.assertRegex(last_words, "try: the (file|auth)server has ended")
        self.assert_nothing_is_left()


class WithoutProgramsTest(unittest.TestCase):
    def test_each_says_what_to_do_before_it_makes_anything(self) -> None:
        for script in ("try", "demo"):
            with self.subTest(script), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [sys.executable, ROOT / "scripts" / script, "--build", folder],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                said = rf"\A{script}: fileserver, .* not found in {folder}: run make\n\Z"
                self.assertRegex(done.stderr, said)
                self.assertEqual(list(Path(folder).iterdir()), [])
