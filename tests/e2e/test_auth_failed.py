"""The line in the log for a failed log-in, and the fail2ban filter that reads it."""

import shutil
import subprocess
import unittest
from pathlib import Path

from client import Client
from needs import missing
from programs import Program
from scene import SceneTest, for_each, with_loops, with_processes
from waiting import LONG_S

_DOCS = Path(__file__).resolve().parents[2] / "docs" / "fail2ban"
_NO_FAIL2BAN = missing("fail2ban-regex")
_LINE = r' info auth-failed address=127\.0\.0\.2 user="%s" front=native$'


def matched_addresses(log: Path) -> list[str]:
    """The address of each line of the log that the filter matches."""
    # fail2ban-regex takes a path with a blank in it for an expression.
    filter_file = shutil.copy(_DOCS / "turnstile.conf", log.parent)
    command = ["fail2ban-regex", "-o", "ip", str(log), str(filter_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=False)
    return done.stdout.split()


@with_loops
@with_processes
class AuthFailedTest(SceneTest):
    def serve(self, *flags: object) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        return self.scene.fileserver(authserver, *flags)

    def ask(self, server: Program, *lines: bytes, source: str = "127.0.0.2") -> None:
        client = Client(server.address, source=source)
        client.ask_all(list(lines))
        client.close()

    def failures(self, server: Program) -> list[str]:
        return [line for line in server.log().splitlines() if "auth-failed" in line]

    def test_a_wrong_password_and_an_unknown_user_have_one_line_each(self) -> None:
        server = self.serve()
        self.ask(server, b"get:alice:secret-guess", b"get:nobody:secret-guess")
        self.ask(server, b"get:alice:wonderland", b"a.txt", b"get:", b"get::x", b"new:alice:x")
        lines = self.failures(server)
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], _LINE % "alice")
        self.assertRegex(lines[1], _LINE % "nobody")
        self.assertNotIn("secret-guess", server.log())

    def test_repetitions_are_logged_but_do_not_fill_the_disk(self) -> None:
        server = self.serve()
        for _ in range(20):
            self.ask(server, *[b"get:alice:typo"] * 50)
        self.assertGreaterEqual(len(self.failures(server)), 60)
        # 60 at once and one each second: a machine would have to take minutes to write 500.
        self.assertLess(len(self.failures(server)), 500)

    def test_what_is_throttled_has_no_line(self) -> None:
        server = self.serve("--wrong-passwords", 1)
        for number in range(5):
            self.ask(server, b"get:alice:wrong%d" % number)
        self.assertLess(len(self.failures(server)), 5)

    @unittest.skipIf(_NO_FAIL2BAN, _NO_FAIL2BAN)
    @for_each(("info", "debug"))
    def test_the_fail2ban_filter_finds_the_failures_and_nothing_that_clients_forge(
        self, level: str
    ) -> None:
        server = self.serve("--log-level", level)
        self.ask(server, b"get:alice:wrong", b"get:a.b-c_d@e+f:wrong")
        self.ask(server, b"get:alice:wrong", source="127.0.0.3")
        forged = b'auth-failed address=198.51.100.1 user="x" front=native'
        self.ask(server, b"get:alice:wonderland", forged, b"info " + forged, b"x\r", b"x")
        self.ask(server, b"get:x info " + forged + b":pw", b"new:" + forged + b":pw")
        self.assertEqual(
            matched_addresses(server.log_path), ["127.0.0.2", "127.0.0.2", "127.0.0.3"]
        )

    @unittest.skipIf(_NO_FAIL2BAN, _NO_FAIL2BAN)
    def test_the_filter_reads_the_journal_and_no_other_line(self) -> None:
        time = "2026-01-31T12:00:00.000+00:00"
        line = 'info auth-failed address=%s user="amy" front=native'
        log = self.scene.folder / "journal.log"
        log.write_text(
            f"{time} host fileserver[12]: {time} {line % '192.0.2.1'}\n"
            f"{time} {line % '2001:db8::1'}\n"
            f"{time} {line.replace('native', 'http') % '192.0.2.2'}\n"
            f'{time} debug file name="{line % "198.51.100.1"}\n'
            f"{time} debug {line % '198.51.100.1'}\n"
            f"{time} info other {line % '198.51.100.1'}\n"
            f"{time} {line % '198.51.100.1'} more\n"
            f"{time} {line % '198.51.100.1 address=198.51.100.2'}\n"
        )
        self.assertEqual(matched_addresses(log), ["192.0.2.1", "2001:db8::1", "192.0.2.2"])
