"""Shared by the tests of the scripts: running a script, and finding out what this host permits."""

import os
import subprocess
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / "scripts"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    """Runs a command and returns both outputs. Standard input is empty; messages are English."""
    options = {"env": {**os.environ, "LC_ALL": "C"}, **options}
    words = [str(part) for part in command]
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options
    )


def in_namespace(
    kind: str, script: str, *arguments: str | Path, **options
) -> subprocess.CompletedProcess[str]:
    """Runs a bash script in a new namespace (--mount, --net). Its changes there end with it."""
    return run("unshare", kind, "bash", "-euc", script, "bash", *arguments, **options)


def why_no_namespace(kind: str) -> str:
    """Returns why this user may not create such a namespace, or "" if that is permitted."""
    attempt = run("unshare", kind, "true")
    return (
        ""
        if attempt.returncode == 0
        else f"no new namespace ({kind}) permitted here: {attempt.stderr.strip()}"
    )


def why_not_root() -> str:
    return "" if os.geteuid() == 0 else "needs root"


class ScriptTest(unittest.TestCase):
    def assert_one_line(
        self, result: subprocess.CompletedProcess[str], code: int, words: str
    ) -> None:
        """Asserts that a script failed (1) or was used wrongly (2), with one line that says why."""
        self.assertEqual((result.returncode, result.stderr.count("\n")), (code, 1), result.stderr)
        self.assertIn(words, result.stderr)
