"""What the tests of the scripts share: running one, and asking what this host permits."""

import os
import subprocess
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / "scripts"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    """Runs to the end and keeps both outputs; standard input is empty, messages are in English."""
    options = {"env": {**os.environ, "LC_ALL": "C"}, **options}
    words = [str(part) for part in command]
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options
    )


def in_namespace(
    kind: str, script: str, *arguments: str | Path, **options
) -> subprocess.CompletedProcess[str]:
    """Runs a bash script in a new namespace (--mount, --net): what it changes there ends with it."""
    return run("unshare", kind, "bash", "-euc", script, "bash", *arguments, **options)


def why_no_namespace(kind: str) -> str:
    """Empty where this user may make such a namespace, else the reason, to skip with."""
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
        """How every script ends that fails (1) or is used wrongly (2)."""
        self.assertEqual((result.returncode, result.stderr.count("\n")), (code, 1), result.stderr)
        self.assertIn(words, result.stderr)
