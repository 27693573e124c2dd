"""Figure 3: callgrind counts the fileserver's instructions per function, under a small load."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..plan import pinning
from ..plan.catalog import Cell, Size, Stage
from ..rig.cores import usable_cores
from ..rig.errors import Failed
from ..rig.place import HERE
from ..rig.processes import run_tool
from ..rig.servers import Programs
from ..systems import files, known
from ..systems.system import Running
from ..workloads import closed_loop, loadgen_run
from ..workloads.outcome import Result

_THREADS = 4
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


def run(
    cell: Cell,
    stage: Stage,
    size: Size,
    file_count: int,
    seconds: float,
    programs: Programs,
    work: Path,
    out: Path,
) -> Profile:
    """Writes out/callgrind.out.fileserver, for kcachegrind. Returns the largest functions.

    Failed when valgrind is not installed, or when the run fails.
    """
    if shutil.which("valgrind") is None:
        raise Failed("valgrind is not installed")
    root = files.make(size, file_count, work / "files")
    pins = pinning.choose("none", usable_cores())
    logs = out / "logs"
    kept = out / "callgrind.out.fileserver"
    with (
        known.of(stage).prepared(stage, programs, work, pins.cores["store"]) as system,
        tempfile.TemporaryDirectory(prefix="callgrind-", dir=out) as folder,
    ):
        output = f"--callgrind-out-file={folder}/callgrind.out"
        valgrind = ("valgrind", "--tool=callgrind", output)
        with system.running(cell, pins, root, logs, wrapper=valgrind) as servers:
            load = _load(servers, stage, size, file_count, seconds)
            result = _loaded(load, programs, logs / "profile.loadgen.log")
            command = servers.commands()["fileserver"].replace(folder, "…")
        _keep_largest(Path(folder), kept)
    ours = [entry for entry in _annotated(kept, "yes") if entry[0].startswith(_OURS)]
    return Profile(
        command=command,
        requests=result.requests,
        row=cell.row,
        stage=cell.stage,
        functions=_largest(_annotated(kept, "no"), sum),
        with_callees=_largest(ours, max),
    )


def _load(
    servers: Running, stage: Stage, size: Size, file_count: int, seconds: float
) -> closed_loop.Load:
    return closed_loop.Load(
        request="get",
        server=str(servers.address),
        threads=_THREADS,
        seconds=seconds,
        warmup_s=0,
        flags=stage.loadgen,
        user=servers.user,
        password=servers.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        files_per_thread=max(1, file_count // _THREADS),
    )


def _loaded(load: closed_loop.Load, programs: Programs, log: Path) -> Result:
    """Runs the load generator, on all cores, until it ends."""
    generator = loadgen_run.start(load, programs.path("loadgen"), HERE, usable_cores(), log)
    try:
        return loadgen_run.finish(generator, load)
    finally:
        generator.stop()


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


def _keep_largest(folder: Path, kept: Path) -> None:
    """Callgrind writes a file for each process and dump. The largest has the work."""
    profiles = sorted(folder.glob("callgrind.out*"), key=lambda path: path.stat().st_size)
    if not profiles:
        raise Failed("callgrind wrote no profile")
    profiles[-1].replace(kept)
    kept.chmod(0o644)  # so that kcachegrind need not run as root
