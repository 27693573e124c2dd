"""Callgrind counts a program's instructions per function: its files, and what they say."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rig.errors import Failed
from rig.processes import run_tool

from ..plan.catalog import Cell

PROFILE = "callgrind.out.fileserver"  # its name in a folder of results
_TOP = 15
_OURS = ("fileserver::", "serve::", "net::", "wire::", "base::")


@dataclass(frozen=True)
class Share:
    function: str
    share: float  # of all instructions


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Where the instructions of some requests were spent: in functions, and with their callees."""

    command: str
    requests: int
    row: str
    stage: str
    functions: tuple[Share, ...]
    with_callees: tuple[Share, ...]


def wrapper(folder: Path) -> tuple[str, ...]:
    """What stands before the command of a program, to write its profiles into the folder."""
    return ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out")


def keep_largest(folder: Path, out: Path) -> Path:
    """Of the profiles in the folder, as out/callgrind.out.fileserver.

    Callgrind writes a file for each process and dump. The largest has the work. Failed if there is
    none.
    """
    profiles = sorted(folder.glob("callgrind.out*"), key=lambda path: path.stat().st_size)
    if not profiles:
        raise Failed("callgrind wrote no profile")
    kept = profiles[-1].replace(out / PROFILE)
    kept.chmod(0o644)  # so that kcachegrind need not run as root
    return kept


def read(profile: Path, *, command: str, requests: int, cell: Cell) -> Profile:
    """The functions with the largest shares of this many requests."""
    ours = [entry for entry in _annotated(profile, "yes") if entry[0].startswith(_OURS)]
    return Profile(
        command=command,
        requests=requests,
        row=cell.row,
        stage=cell.stage,
        functions=_largest(_annotated(profile, "no"), sum),
        with_callees=_largest(ours, max),
    )


def functions_of(annotated: str) -> list[tuple[str, float]]:
    """Reads callgrind_annotate: functions, without parameters, and their shares of instructions."""
    found = []
    for line in annotated.partition("-- Auto-annotated source")[0].splitlines():
        match = re.match(r"\s*[\d,]+ \(\s*([\d.]+)%\)\s+(\S.*)$", line)
        if match and "PROGRAM TOTALS" not in line:
            without_object = re.sub(r"\s*\[[^\]]*\]$", "", match[2])
            function = without_object.partition(":")[2] or without_object  # after the source file
            name = function.replace("(anonymous namespace)::", "").partition("(")[0]
            found.append((name, float(match[1]) / 100))
    return found


def _annotated(profile: Path, inclusive: str) -> list[tuple[str, float]]:
    return functions_of(
        run_tool(
            [
                "callgrind_annotate",
                f"--inclusive={inclusive}",
                "--auto=no",
                "--threshold=100",
                str(profile),
            ],
            "callgrind_annotate",
        )
    )


def _largest(
    functions: list[tuple[str, float]], combine: Callable[[list[float]], float]
) -> tuple[Share, ...]:
    """The functions with the largest shares.

    Overloads and recursion give a function several entries; combine() makes one of them.
    """
    shares: dict[str, list[float]] = {}
    for name, share in functions:
        shares.setdefault(name, []).append(share)
    combined = sorted(((combine(each), name) for name, each in shares.items()), reverse=True)
    return tuple(Share(name, share) for share, name in combined[:_TOP])
