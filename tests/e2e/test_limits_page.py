"""docs/limits.md and --help=all agree about every limit that has a flag."""

import re
import unittest
from pathlib import Path

from flags import shown
from programs import run

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
PROGRAMS = ("authserver", "fileserver", "loadgen")

# The flags that say what to do, and not how much of it.
NO_LIMITS = {
    *(
        "version",
        "help",
        "config",
        "listen",
        "log-level",
        "user",
        "debuggable",
        "model",
        "ftp-data",
    ),
    *("auth", "auth-connection", "sandbox", "telemetry-listen", "http-listen", "listings"),
    *("new-accounts", "uploads", "rights", "show-rights", "trusted-proxy", "http-host"),
    *("locks-of", "end-lock", "share-name"),
    *("https-listen", "tls-listen", "tls-certificate", "tls-key", "tls-client-ca"),
    "tls-kernel",
    *("auth-ca", "auth-certificate", "auth-key"),
    *(
        "root",
        "files",
        "read-ahead",
        "evict",
        "transfer-log",
        "transfer-log-users",
        "store",
        "store-connection",
        "password-scheme",
    ),
    *("sqlite-path", "export", "import", "server", "connection", "pipeline", "user", "password"),
    *("add-account", "remove-account", "set-password", "list-accounts", "create-store"),
    *("disable-account", "enable-account", "make-admin", "unmake-admin", "invite"),
    *("file", "once", "verify", "verify-root", "save", "json", "protocol", "arrivals", "seed"),
    *("too-slow", "engine", "release", "hold", "transfers", "series", "start-at", "distribution"),
    *("telemetry", "popularity", "mix", "think", "share", "write"),
    *("tls", "tls-ca", "tls-insecure", "tls-resume"),
}
NO_LIMIT_PREFIXES = ("mysql-", "redis-")

_FLAG = re.compile(r"`--([a-z-]+)`")


def limits_in_help(program: str) -> dict[str, str]:
    """The flags that are limits, with their defaults. No default is an empty text."""
    help_text = run(program, "--help=all", env={"COLUMNS": "120"}).stdout
    return {
        name: default
        for name, (default, _) in shown(help_text).items()
        if name not in NO_LIMITS and not name.startswith(NO_LIMIT_PREFIXES)
    }


def rows_of_page() -> list[list[str]]:
    """The cells of each row of each table: limit, default, flag, what happens."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] != "limit"]


class LimitsPageTest(unittest.TestCase):
    def setUp(self) -> None:
        self.page = {
            flag[1]: default
            for _, default, cell, _ in rows_of_page()
            if (flag := _FLAG.fullmatch(cell))
        }

    def test_every_limit_in_help_is_on_the_page_with_its_default(self) -> None:
        for program in PROGRAMS:
            limits = limits_in_help(program)
            self.assertGreater(len(limits), 4)
            on_page = {name: self.page.get(name, "no row") for name in limits}
            self.assertEqual(on_page, limits, program)

    def test_every_flag_on_the_page_is_a_limit_in_help(self) -> None:
        in_help: set[str] = set()
        for program in PROGRAMS:
            in_help |= limits_in_help(program).keys()
        self.assertEqual(self.page.keys() - in_help, set())

    def test_every_row_says_what_happens_and_has_at_most_one_flag(self) -> None:
        for limit, default, flag, what_happens in rows_of_page():
            with self.subTest(limit):
                self.assertTrue(limit and what_happens)
                self.assertTrue(flag or default)
                self.assertIsNotNone(_FLAG.fullmatch(flag or "`--none`"))
