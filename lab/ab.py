"""`lab ab`: two variants of a stage side by side, and one sentence on how they differ.

A variant has flags of its own, or programs of its own from a folder or from a commit. Both are up
at once and serve in blocks A B B A, as procedures/side_by_side.py makes them, with servers that are
started anew for each block. Each block gives one ratio, B / A, of throughput, of the mean response
time, and of the CPU time that the servers and their store need for a request. The interval of a
ratio is a 99% one, by Student's t over the blocks.

Other programs take throughput away, but add little to the CPU time of a request. So a block that
they disturbed counts too, but then nothing but the CPU time is judged.
"""

import argparse
import math
import os
import re
import shlex
import statistics
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rig.errors import Failed, NotValid, WrongUsage
from rig.servers import Programs

from . import run
from .analysis import intervals
from .kinds import CLOSED_LOOP
from .plan import catalog
from .plan.catalog import Cell, Stage
from .plan.plan import Options, Plan
from .plan.planned import Pair, Setting
from .procedures import checks, side_by_side
from .procedures.campaign import make_files
from .results.records import Run, write_json

_SIDES = ("A", "B")
_TRIALS = 4  # of a block
_SPARE_BLOCKS = 3  # that may be lost
_AUTHSERVER = "authserver:"  # the flags behind it are the authserver's
_ROOT = Path(__file__).resolve().parent.parent
_SERVERS = ("fileserver", "authserver")

_CPU = "cpu_per_request"
_QUANTITIES: Mapping[str, tuple[str, Callable[[Run], float]]] = {
    _CPU: (
        "CPU for each request",
        lambda run: run.servers_cores / run.throughput_rps,
    ),
    "throughput": ("throughput", lambda run: run.throughput_rps),
    "mean_response_time": ("mean response time", lambda run: run.mean_ms),
}


@dataclass(frozen=True)
class Ratio:
    """B / A. low and high are its 99% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"×{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"

    @property
    def is_told(self) -> bool:
        return self.low > 1 or self.high < 1


@dataclass(frozen=True)
class Variant:
    """programs is a folder. flags are those of the command line, as they were given."""

    stage: Stage
    programs: Path
    flags: str
    origin: str  # of its programs: a folder, or a commit


@dataclass(frozen=True)
class Asked:
    """The command line, beside what `lab run` would take of it."""

    stage: str
    row: str
    threads: int
    blocks: int
    variants: tuple[Variant, Variant]


def row_of(parsed: argparse.Namespace) -> tuple[str, str]:
    """The experiment of `lab run` that has this stage and row, and the row. WrongUsage if none."""
    if parsed.stage not in catalog.stages():
        raise WrongUsage(
            f"no stage '{parsed.stage}'{catalog.instead(parsed.stage, list(catalog.stages()))}"
        )
    for name, one in catalog.experiments().items():
        if one.kind is CLOSED_LOOP and parsed.size in one.rows and "profile" not in one.views:
            return name, parsed.size
    rows = ", ".join([catalog.NEW, *catalog.sizes()])
    raise WrongUsage(f"--size: no '{parsed.size}'; there are: {rows}")


def variants(parsed: argparse.Namespace, work: Path) -> tuple[Variant, Variant]:
    """Builds what is to be built. WrongUsage where nothing is given for either.

    Both may be the same: how such blocks differ is the noise of the machine.
    """
    stage = catalog.stages()[parsed.stage]
    given = [
        tuple(getattr(parsed, f"{side}_{what}") for what in ("flags", "programs", "commit"))
        for side in ("a", "b")
    ]
    if all(one is None for one in (*given[0], *given[1])):
        raise WrongUsage("nothing is given for A or B: give --b-flags, --b-programs or --b-commit")
    found = []
    for side, (flags, programs, commit) in zip(_SIDES, given):
        if programs and commit:
            raise WrongUsage(f"--{side.lower()}-programs and --{side.lower()}-commit: one of both")
        folder = built(commit, work) if commit else (programs or parsed.programs).resolve()
        if missing := [one for one in _SERVERS if not (folder / one).is_file()]:
            raise WrongUsage(f"{', '.join(missing)} not found in {folder}")
        own = replace(_with_flags(stage, flags or ""), name=side)
        found.append(Variant(own, folder, flags or "", commit or str(folder)))
    return found[0], found[1]


def _with_flags(stage: Stage, text: str) -> Stage:
    """A flag that is given takes the place of the stage's own."""
    try:
        of_fileserver, _, of_authserver = (shlex.join(one) for one in _split(shlex.split(text)))
    except ValueError as error:
        raise WrongUsage(f"flags '{text}': {error}") from error
    return replace(
        stage,
        fileserver=_merged(stage.fileserver, shlex.split(of_fileserver)),
        authserver=_merged(stage.authserver, shlex.split(of_authserver)),
    )


def _split(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    place = words.index(_AUTHSERVER) if _AUTHSERVER in words else len(words)
    return words[:place], words[place : place + 1], words[place + 1 :]


def _merged(flags: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Without those of the stage that are given once more. Each of its flags has a value."""
    again = {word.partition("=")[0] for word in more if word.startswith("--")}
    pairs = [flags[place : place + 2] for place in range(0, len(flags), 2)]
    return (*(word for pair in pairs if pair[0] not in again for word in pair), *more)


def built(commit: str, work: Path) -> Path:
    """The folder of the programs of a commit. They are built once, from a copy of its files.

    WrongUsage if there is none of this name, Failed if it does not build.
    """
    asked = ["git", "-C", str(_ROOT), "rev-parse", "--verify", "--end-of-options"]
    try:
        name = _said([*asked, f"{commit}^{{commit}}"]).strip()
    except Failed as error:
        raise WrongUsage(f"no commit '{commit}': {error}") from error
    folder = work / "commits" / name
    if not all((folder / "build" / one).is_file() for one in _SERVERS):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile() as packed:
            command = ["git", "-C", str(_ROOT), "archive", name]
            subprocess.run(command, stdout=packed, check=True)
            packed.seek(0)
            with tarfile.open(fileobj=packed) as archive:
                archive.extractall(folder)  # what git made
        _said(["make", "-C", str(folder), f"-j{os.cpu_count()}", "UNITY=1", "all"])
    return folder / "build"


def _said(command: list[str]) -> str:
    """Its output. Failed with its last line if it fails."""
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Failed(f"{command[0]} is not installed") from error
    if found.returncode:
        last = (found.stderr.strip() or found.stdout.strip()).rpartition("\n")[2]
        raise Failed(f"{' '.join(command[:1])}: {last}")
    return found.stdout


@dataclass(frozen=True)
class _Overlay(Programs):
    """The servers of a variant, and all other programs of the usual folder."""

    servers: Path

    def path(self, name: str) -> Path:
        return (self.servers if name in _SERVERS else self.folder) / name


def measure(asked: Asked, options: Options, places: run.Places) -> int:
    """Makes the blocks, writes ab.json and prints the sentence. NotValid if no block counts."""
    bench = run.prepared(_options(asked, options), places, lambda plan: _planned(asked, plan))
    make_files(bench)
    pair = Pair(*_SIDES, asked.row)
    benches = [
        replace(bench, programs=_Overlay(places.programs.folder, one.programs))
        for one in asked.variants
    ]
    failures = ""
    with side_by_side.both_ready((benches[0], benches[1]), pair) as make:
        for _ in range(asked.blocks + _SPARE_BLOCKS):
            if len(counting_blocks(bench.runs, pair)) >= asked.blocks:
                break
            failures = make(Setting(asked.threads)) or failures
    bench.environment.is_complete = True
    bench.folder.write_environment(bench.environment)
    blocks = counting_blocks(bench.runs, pair)
    if not blocks:
        raise NotValid(f"no block is valid; the last: {failures}")
    found = result(asked, blocks)
    write_json(bench.folder.path / "ab.json", found)
    print(found["sentence"])
    return 0


def _options(asked: Asked, options: Options) -> Options:
    """What differs is part of the settings of the folder, so another pair needs another one."""
    differs = (f"{one.stage.name}: {one.origin} {one.flags}" for one in asked.variants)
    return replace(options, note="; ".join(differs).strip())


def _planned(asked: Asked, plan: Plan) -> Plan:
    """With the two variants in place of their stage."""
    usual = plan.planned[Cell(asked.stage, asked.row)]
    stages = {one.stage.name: one.stage for one in asked.variants}
    cells = tuple(Cell(name, asked.row) for name in stages)
    return replace(
        plan,
        cells=cells,
        planned={cell: replace(usual, cell=cell, stage=stages[cell.stage]) for cell in cells},
        stages=stages,
        pairs=(),
        mode=replace(plan.mode, blocks=asked.blocks, block_seconds=plan.mode.seconds),
    )


def counting_blocks(runs: Sequence[Run], pair: Pair) -> dict[int, list[Run]]:
    """block -> its four trials, of which each tells at least the CPU time of a request."""
    found: dict[int, list[Run]] = {}
    for one in runs:
        if one.pair == pair.name and checks.counts_cpu(one.failures) and not one.errors:
            found.setdefault(one.repeat, []).append(one)
    return {block: trials for block, trials in found.items() if len(trials) == _TRIALS}


def result(asked: Asked, blocks: Mapping[int, Sequence[Run]]) -> dict[str, Any]:
    """ab.json. Requires: at least one block."""
    disturbed = sum(any(one.failures for one in trials) for trials in blocks.values())
    ratios = {name: _ratio(blocks, of) for name, (_, of) in _QUANTITIES.items()}
    told = [
        name for name, one in ratios.items() if one.is_told and not (disturbed and name != _CPU)
    ]
    return {
        "stage": asked.stage,
        "row": asked.row,
        "threads": asked.threads,
        "blocks": len(blocks),
        "disturbed_blocks": disturbed,
        **{
            one.stage.name.lower(): {"programs": one.origin, "flags": one.flags}
            for one in asked.variants
        },
        **{
            name: {"ratio": one.value, "interval": [one.low, one.high], "is_told": name in told}
            for name, one in ratios.items()
        },
        "sentence": sentence(ratios, told, len(blocks), disturbed),
    }


def sentence(ratios: Mapping[str, Ratio], told: Sequence[str], blocks: int, disturbed: int) -> str:
    """told are the quantities that differ for sure."""
    found = [
        f"{_QUANTITIES[name][0]} is {'higher' if ratios[name].value > 1 else 'lower'}"
        for name in told
    ]
    counted = f"{blocks} block{'' if blocks == 1 else 's'}"
    if disturbed:
        counted += f", of which other programs disturbed {disturbed}, so that only CPU is judged"
    figures = ", ".join(f"{_QUANTITIES[name][0]} {one}" for name, one in ratios.items())
    said = ", ".join(found) or "no difference can be told"
    return f"B against A in {counted}: {said}; B / A is {figures}."


def _ratio(blocks: Mapping[int, Sequence[Run]], of: Callable[[Run], float]) -> Ratio:
    """Over the blocks; over the two halves, if there is one block only."""
    groups = [list(trials) for trials in blocks.values()]
    if len(groups) == 1:
        groups = [groups[0][:2], groups[0][2:]]
    logs = [_level(trials, "B", of) - _level(trials, "A", of) for trials in groups]
    middle = statistics.fmean(logs)
    half = intervals.student_t_99(len(logs) - 1) * intervals.standard_error(logs)
    return Ratio(*map(math.exp, (middle, max(-_WIDE, middle - half), min(_WIDE, middle + half))))


_WIDE = 50.0  # of a logarithm: nothing is known


def _level(trials: Sequence[Run], side: str, of: Callable[[Run], float]) -> float:
    return statistics.fmean(math.log(of(one)) for one in trials if one.cell.stage == side)


def number(flag: str, text: str, most: int) -> int:
    """WrongUsage if it is none from 1 to most."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text) or int(text) > most:
        raise WrongUsage(f"{flag} '{text}': wanted a number from 1 to {most}")
    return int(text)
