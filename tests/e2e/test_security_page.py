"""SECURITY.md knows the flags of today."""

import re
import unittest
from pathlib import Path

from programs import run

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
SERVERS = ("authserver", "fileserver")

# The flags that decide who gets in, who may do what, and what can be reached.
PROTECTIONS = {
    *("wrong-passwords", "new-accounts", "uploads", "rights", "trusted-proxy", "http-listen"),
    *("accounts-per-address", "http-host"),
    *("sandbox", "user", "debuggable", "idle-timeout", "max-connections", "password-scheme"),
    *("transfer-log", "telemetry-listen"),
}
# A sentence that says so of something names the flag that changes it, or is in ABSOLUTE.
SWEEPING = re.compile(
    r"\b(nothing|no limit|no rights|every file|nobody|anyone|everyone|everybody)\b", re.IGNORECASE
)
# Where "nothing" has no flag beside it: these servers need no file.
ABSOLUTE = ("| authserver, SQLite |", "| authserver, Redis |", "| authserver, MySQL |")


def flags_of(text: str) -> set[str]:
    return set(re.findall(r"--([a-z][a-z-]+)", text))


def flags_of_servers() -> set[str]:
    return {flag for server in SERVERS for flag in flags_of(run(server, "--help=all").stdout)}


def statements() -> list[str]:
    """Each bullet, row and paragraph as one line."""
    parts = re.split(r"\n(?=- |\||\n)", PAGE)
    return [" ".join(part.split()) for part in parts if part.strip()]


class SecurityPageTest(unittest.TestCase):
    def test_each_flag_that_it_names_exists(self) -> None:
        self.assertEqual(flags_of(PAGE) - flags_of_servers(), set())

    def test_it_names_each_flag_that_protects(self) -> None:
        self.assertEqual(PROTECTIONS - flags_of_servers(), set())
        self.assertEqual(PROTECTIONS - flags_of(PAGE), set())

    def test_no_sweeping_word_stands_without_the_flag_that_changes_it(self) -> None:
        sweeping = [text for text in statements() if SWEEPING.search(text)]
        self.assertGreater(len(sweeping), 3)
        alone = [text for text in sweeping if not flags_of(text)]
        self.assertEqual([text for text in alone if not text.startswith(ABSOLUTE)], [])
