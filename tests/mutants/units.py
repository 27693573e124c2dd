"""The unit tests as the ledger runs them: many in one process, as long as none ends it."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from running import end_children

_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
_FAILED = re.compile(r"^FAILED (.+)$", re.MULTILINE)
_MOST_HANGS = 3  # of one mutation; the tests behind them are not run
_MOST_BYTES = 8 << 30  # of memory, as a mutation may allocate without end


@dataclass
class Units:
    """What came of unit tests. A test that did not end in time failed too."""

    failed: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)


def names_of(tree: Path) -> list[str]:
    """All, in the order in which they run."""
    listed = subprocess.run(
        [tree / "build" / "unit_tests", "--list-test-names-only"],
        check=False,  # version 2 of Catch2 returns how many there are
        capture_output=True,
        text=True,
    )
    return [line for line in listed.stdout.splitlines() if line]


def run_units(
    names: Sequence[str], tree: Path, limit_s: int, variables: Mapping[str, str]
) -> Units:
    """Runs these, which are in the order of names_of(), each with the time limit."""
    done, left, hangs = Units(), list(names), 0
    while left:
        if hangs == _MOST_HANGS:
            done.not_run += left
            break
        said = _run(left, tree, limit_s, variables)
        failed = [name for name in _FAILED.findall(said) if name in left]
        counts = _COUNTS.findall(said)
        done.failed += dict.fromkeys(failed)
        if counts and sum(map(int, counts[-1])) >= len(left):
            break
        hangs += "\nno end after " in said
        if not failed and len(left) > 1:  # one of them ended the program without a word
            for name in left:
                one = run_units([name], tree, limit_s, variables)
                done.failed += one.failed
            break
        if not failed:
            done.failed += left
            break
        left = left[left.index(failed[-1]) + 1 :]
    return done


def _run(names: Sequence[str], tree: Path, limit_s: int, variables: Mapping[str, str]) -> str:
    scratch = tempfile.mkdtemp(prefix="ledger-")
    try:
        chosen = Path(scratch) / "names"
        chosen.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        environment = {"TMPDIR": scratch, "TURNSTILE_TEST_LIMIT_S": str(limit_s), **variables}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(
                [tree / "build" / "unit_tests", "--input-file", chosen],
                cwd=tree,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_limit_memory,
            )
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(limit_s * (len(names) + 1))
            finally:
                process.kill()
                process.wait()
            output.seek(0)
            return output.read()
    finally:
        end_children()
        shutil.rmtree(scratch, ignore_errors=True)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
