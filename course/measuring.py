"""Measures a server of a student beside the reference of its stage, with `lab ab`.

Both run in the jail, in blocks A B B A. The load generator compares each file with what is on the
disk, and the authserver's own count says whether it was asked about each request.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lab.results.records import Folder
from rig.errors import Failed

from .sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[1]
_TEACHER = ROOT / "course" / "teacher"
_SERVERS = ("fileserver", "authserver")
_STAGE, _ROW, _THREADS = "turnstile", "1KB", 4
_LIMIT_S = 240.0
_STOP_S = 20.0
_LAST_STAGE = 4  # of a reference; an idea of one's own is measured beside this one
_STOLEN = ("the authserver answered", "it served what it had not asked for")
_FORGED = ("mismatch", "it sent other bytes than those of the file")


class NotMeasured(Exception):
    """The machine or the grader is why; the submission gets no marks now."""


@dataclass(frozen=True)
class Measured:
    """ratio is the CPU time of a request, student / reference; None when its server failed.

    is_cheat: under load it did what no server may do. why is "" where it did well.
    """

    ratio: float | None
    why: str = ""
    is_cheat: bool = False


@dataclass(frozen=True)
class Tools:
    """build has our programs, work is for test files and stores, as of the lab."""

    build: Path
    work: Path
    blocks: int
    seconds: float

    @property
    def files(self) -> Path:
        return self.work / "files"

    def missing(self) -> list[str]:
        names = ("loadgen", *_SERVERS)
        return [name for name in names if not (self.build / name).is_file()]


def reference(stage: int, out: Path) -> Path:
    """Builds the teacher's solution of a stage, once. Failed when that fails."""
    stage = min(max(1, stage), _LAST_STAGE)
    program = out / f"stage{stage}" / "fileserver"
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        command = ["make", "-s", "-C", str(_TEACHER), f"STAGE={stage}", f"OUT={program.parent}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"the reference does not build: {done.stderr.strip()[:300]}")
    return program


def measure(
    servers: tuple[Path, Path], sandboxes: tuple[Sandbox, Sandbox], place: Path, tools: Tools
) -> Measured:
    """servers are the reference and the student's. NotMeasured when the machine is to blame."""
    tools.files.mkdir(parents=True, exist_ok=True)
    folders = [
        _programs(
            place / name,
            sandbox.command([str(server)], show=[server.parent, tools.files], folder=server.parent),
            tools,
        )
        for name, server, sandbox in zip("ab", servers, sandboxes)
    ]
    out = place / "lab"
    command = [sys.executable, str(ROOT / "scripts" / "lab"), "ab", _STAGE, "--wait"]
    command += ["--a-programs", str(folders[0]), "--b-programs", str(folders[1])]
    command += ["--size", _ROW, "--threads", str(_THREADS), "--blocks", str(tools.blocks)]
    command += ["--seconds", f"{tools.seconds:g}", "--out", str(out), "--work", str(tools.work)]
    command += ["--programs", str(_verifying(place / "load", tools))]
    said = _run(command, _LIMIT_S)
    if (out / "ab.json").is_file():
        found = json.loads((out / "ab.json").read_text(encoding="utf-8"))
        return Measured(found["cpu_per_request"]["ratio"])
    return _failed(out, said)


def _programs(folder: Path, command: list[str], tools: Tools) -> Path:
    """A folder as the lab wants it: a fileserver that starts in the jail, and our authserver."""
    folder.mkdir(parents=True)
    (folder / "authserver").symlink_to(tools.build / "authserver")
    _script(folder / "fileserver", f'exec {shlex.join(command)} "$@"')
    return folder


def _verifying(folder: Path, tools: Tools) -> Path:
    """Our programs, but a load generator that compares each file."""
    folder.mkdir(parents=True)
    for name in _SERVERS:
        (folder / name).symlink_to(tools.build / name)
    loadgen, root = shlex.quote(str(tools.build / "loadgen")), shlex.quote(str(tools.files / _ROW))
    verified = f'exec {loadgen} "$@" --verify --verify-root {root}'
    _script(folder / "loadgen", f'[ "$1" = get ] && {verified}\nexec {loadgen} "$@"')
    return folder


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def _run(command: list[str], limit_s: float) -> str:
    """What it said last. It ends in time, and with it all that it started."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    try:
        said = process.communicate(timeout=limit_s)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=_STOP_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
        said += f"\nnot done within {limit_s:.0f} s"
    lines = said.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _failed(out: Path, said: str) -> Measured:
    """Without a block that counts. Who is to blame?"""
    try:
        runs = Folder(out).runs()
    except (Failed, OSError):
        runs = []
    reasons = {
        side: [f"{one.failures}; {one.errors}" for one in runs if one.cell.stage == side]
        for side in "AB"
    }
    for what, why in (_STOLEN, _FORGED):
        if any(what in one for one in reasons["B"]):
            return Measured(None, f"under load {why}", is_cheat=True)
    bad = [one.strip("; ") for one in reasons["B"] if one.strip("; ")]
    if bad:
        return Measured(None, f"under load: {bad[-1][:200]}")
    if "B: " in said or "fileserver" in said:
        return Measured(None, f"its server failed: {said[:200]}")
    raise NotMeasured(f"{said[:200]}")


def usable_build(folder: Path) -> Path:
    """Failed where our programs are not built."""
    if lacking := Tools(folder, folder, 1, 1.0).missing():
        raise Failed(f"{', '.join(lacking)} not found in {folder}: run make")
    return folder.resolve()


DEFAULT_BUILD = Path(os.environ.get("TURNSTILE_BUILD", ROOT / "build"))
DEFAULT_WORK = ROOT / "build" / "lab"
