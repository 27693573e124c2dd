"""Runs `scripts/lab` for real, for the tests of what it writes."""

import csv
import os
import re
import subprocess
import tempfile
from pathlib import Path

from rig.files import DROP_CACHES
from rig.servers import Programs
from rig.stores import KINDS

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TURNSTILE_BUILD", ROOT / "build")).resolve()
# What a busy machine does to a run. Each test adds what is so of its own workload.
BUSY = (
    r"other programs used \d+% of the cores",
    r"load generator: loadgen itself stood still for [^;]*",
    r"load generator: loadgen's threads waited for a core [^;]*; use fewer threads, or [^;]*",
    r"load generator: the load generator itself was late: [^;]*",
)
# How a run ends that has measured all: 3 where a busy machine has left no point valid.
DONE = (0, 3)
TINY = ["--quick", "--threads", "1,2", "--seconds", "1", "--repeat", "1"]


def why_no_run() -> str:
    """Empty where the lab can run, else the reason, to skip with."""
    missing = Programs(BUILD).missing()
    return f"not built: {', '.join(missing)}" if missing else ""


def why_no_cold_stages() -> str:
    """Empty where the lab may drop the kernel's caches, else the reason, to skip with.

    Only root of the host may; root of a container or of a user namespace usually may not.
    """
    may = os.access(DROP_CACHES, os.W_OK)
    return "" if may else f"cold stages need to write {DROP_CACHES}, which is not permitted here"


def why_no_store(kind: str) -> str:
    """Empty where this kind of store can be started."""
    missing = [tool.package for tool in KINDS[kind].tools if not tool.found()]
    return f"not installed: {', '.join(missing)}" if missing else ""


def lab(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Has its own folder for temporary files, and so its own lock beside that of a real lab.

    A run measures all points, however busy the machine is, and ends with one of DONE.

    path is a folder whose programs are found first.
    """
    before = [path] if path else []
    anyway = ["--anyway"] if arguments[0] == "run" else []
    with tempfile.TemporaryDirectory() as temporary:
        return subprocess.run(
            [ROOT / "scripts" / "lab", *arguments, *anyway],
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "TMPDIR": temporary,
                "PATH": os.pathsep.join([*before, os.environ["PATH"]]),
            },
        )


def unexplained(failures: str, *more: str) -> list[str]:
    """The reasons why a run is not valid that no busy machine explains, by BUSY and by `more`."""
    for pattern in (*BUSY, *more):
        failures = re.sub(rf"(^|; ){pattern}(?=; |$)", "", failures)
    return [one for one in failures.split("; ") if one]


def disk_folder() -> str | None:
    """/tmp is memory on some systems, where nothing can be cold; what `make` wrote is on a disk."""
    return str(BUILD) if os.access(BUILD, os.W_OK) else None


def table(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
