"""Judges a results folder of the lab: do its figures fit together, and do the claims fit to them?

Each check is a law that measurements obey and that one who changes figures breaks: of queues, of
the kernel's counters, of clocks. One check needs git: predictions are older than the run.
"""

import os
import re
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.analysis import gains, verdict
from lab.analysis.cells import Analysis
from lab.kinds import CLOSED_LOOP
from lab.observe.usage import MOST_FOREIGN
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.results.environment import Environment
from lab.results.records import Folder, Run
from rig.errors import Failed
from rig.place import LOOPBACK

from .answers import NAME, Answers, Claim, of_text
from .contract import Outcome

_FEWEST_WORDS = 5  # of a sentence
_FEWEST_CLAIMS = 3
_N_STAR_OFF = 2.0  # how many times the N* of the lab one may differ
_GAIN_OFF = 0.15  # of a gain without an interval
_REQUESTS_OF_A_USER = 20  # from which on
_SAME_TIME_S = 0.05  # two clocks of one host
_MOST_EVIDENCE_OFF = 0.001
_MOST_COMMITS = 500
_GIT_S = 60


@dataclass(frozen=True)
class Found:
    """A results folder that was read."""

    folder: Folder
    environment: Environment
    runs: list[Run]

    @property
    def valid(self) -> list[Run]:
        return [run for run in self.runs if run.is_valid and run.requests > 0]

    @property
    def closed(self) -> list[Run]:
        """Those of a closed loop, in which the course measures."""
        return [run for run in self.valid if run.cell.kind is CLOSED_LOOP]

    @property
    def long(self) -> list[Run]:
        """With so many requests that those at the edges of the window do not count."""
        return [run for run in self.closed if run.requests > _REQUESTS_OF_A_USER * run.threads]

    @property
    def gets(self) -> list[tuple[Run, int]]:
        """With the size of their files."""
        sizes = catalog.sizes()
        return [
            (run, sizes[run.cell.row].size_bytes) for run in self.closed if run.cell.row in sizes
        ]


def is_folder(path: Path) -> bool:
    """Whether it is a results folder of the lab."""
    return any((path / name).is_file() for name in ("environment.json", "recorded.zip"))


def read(path: Path) -> Found:
    """Failed when it cannot be read as one."""
    try:
        folder = Folder(path)
        found = Found(folder, folder.environment(), folder.runs())
    except Failed:
        raise
    except Exception as error:  # of any kind: students may have changed any byte of it
        raise Failed(f"{path.name} cannot be read: {type(error).__name__}: {error}") from error
    if not found.runs:
        raise Failed(f"{path.name} has no point")
    return found


class _Off(Exception):
    """A law that does not hold; the text says at which point."""


def _each(checks: Iterator[tuple[Run, bool, str]]) -> None:
    for run, holds, text in checks:
        if not holds:
            raise _Off(f"at point {run.trial} ({run.cell}, N = {run.threads}) {text}")


def _laws(found: Found) -> None:
    def checks() -> Iterator[tuple[Run, bool, str]]:
        for run in found.closed:
            rate = run.requests / run.elapsed_s / run.throughput_rps
            yield run, 0.99 < rate < 1.01, f"requests / time is {rate:.2f} of X"
            users = run.throughput_rps * run.mean_ms / 1000 / run.threads
            yield run, 0.9 < users < 1.1, f"X · R is {users:.2f} of N"

    _each(checks())


def _bytes(found: Found) -> None:
    _each(
        (run, run.bytes == run.requests * size, f"{run.bytes} bytes are no whole files")
        for run, size in found.gets
    )


def _kernel(found: Found) -> None:
    """The kernel counts all bytes of the loopback interface, those of all hops."""
    ratios = defaultdict(list)
    long = {run.trial for run in found.long}
    for run, size in found.gets:
        counted = run.usage.loopback_bytes_per_s
        if counted and run.topology == LOOPBACK and run.trial in long:
            ratios[run.cell, size].append(counted / (run.throughput_rps * size))
    for (cell, size), values in ratios.items():
        middle, most = statistics.median(values), 1.3 + 8000 / size
        if not 0.9 < middle < most:
            raise _Off(f"at {cell} the kernel counted {middle:.2f} times the bytes of the files")


def _cpu(found: Found) -> None:
    def checks() -> Iterator[tuple[Run, bool, str]]:
        for run in found.long:
            worked = sum(core.worked for core in run.usage.cores.values())
            ours = sum(one.cpu_cores for one in run.usage.components.values())
            text = f"the programs used {ours:.2f} cores, and the cores worked {worked:.2f}"
            yield run, 0 < ours < 1.1 * worked + 0.15, text

    _each(checks())


def _valid(found: Found) -> None:
    most = MOST_FOREIGN + 0.01
    _each(
        (
            run,
            run.usage.foreign_share <= most,
            f"others used {run.usage.foreign_share:.0%} of the cores, but it is not invalid",
        )
        for run in found.long
    )


def _commands(found: Found) -> None:
    for run in found.valid:
        stage, stack = (
            found.environment.stages.get(run.cell.stage),
            found.environment.stack(run.cell),
        )
        if not stage or not stack:
            raise _Off(f"environment.json does not say what served {run.cell}")
        if run.cell.kind is not CLOSED_LOOP or stage.system != "turnstile":
            continue
        known = catalog.stages().get(run.cell.stage)
        for name in ("fileserver", "authserver"):
            words, wanted = stack.commands.get(name, ""), list(getattr(stage, name))
            if " ".join(wanted) not in words:
                raise _Off(f"the {name} of {run.cell} was started without {' '.join(wanted)}")
            if known and _flags(getattr(known, name)) - _flags(wanted):
                raise _Off(f"{run.cell.stage} is another stage than the lab's")
        if known and known.store != stage.store:
            raise _Off(f"{run.cell.stage} has another store than the lab's")


def _flags(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(zip(words[::2], words[1::2]))


def _machine(found: Found) -> None:
    host, cores = found.environment.host, {str(core) for core in found.environment.cores}
    if not host.machine_id:
        raise _Off("environment.json does not name the machine")
    for run in found.valid:
        if not cores <= set(run.usage.cores):
            raise _Off(f"point {run.trial} is of a machine with other cores")
        total = sum(
            sum((c.user, c.system, c.wait, c.idle, c.stolen)) for c in run.usage.cores.values()
        )
        if run.usage.cores and not 0.95 < total / len(run.usage.cores) < 1.05:
            raise _Off(f"the shares of the cores of point {run.trial} do not add up to 1")
        used = run.usage.used_memory_bytes
        if used and host.memory_bytes and used > host.memory_bytes:
            raise _Off(f"point {run.trial} used more memory than the machine has")


def _times(found: Found) -> None:
    end_s = found.environment.started_unix_s - _SAME_TIME_S
    for run in found.runs:
        if run.started_unix_s < end_s:
            raise _Off(f"point {run.trial} began before the one in front of it had ended")
        end_s = run.started_unix_s + run.elapsed_s - _SAME_TIME_S
    if end_s > time.time() + 60:
        raise _Off("the run ends in the future")


def _evidence(found: Found) -> None:
    """samples/ has what the load generator said itself."""
    if [run.trial for run in found.runs] != list(range(1, len(found.runs) + 1)):
        raise _Off("points are missing: the numbers of the trials have a gap")
    for run in found.runs:
        kept = (found.folder.evidence(run) or {}).get("loadgen")
        if not isinstance(kept, dict):
            raise _Off(f"samples/ has nothing of point {run.trial}")
        for name, ours in (("requests", run.requests), ("throughput_rps", run.throughput_rps)):
            said = kept.get(name, ours)
            if not isinstance(said, (int, float)) or abs(said - ours) > _MOST_EVIDENCE_OFF * ours:
                raise _Off(f"of point {run.trial} samples/ has {name} {said}, points.csv {ours}")


_CHECKS: tuple[tuple[str, str, Callable[[Found], None]], ...] = (
    ("laws", "X · R = N, and X is requests by time, at every valid point.", _laws),
    ("bytes", "The bytes are whole files.", _bytes),
    ("kernel", "The kernel saw the bytes go over the loopback interface.", _kernel),
    ("cpu", "The programs used no more CPU time than the cores had.", _cpu),
    ("valid", "No point that others disturbed counts as valid.", _valid),
    ("commands", "The programs were started as the stage says.", _commands),
    ("machine", "All points are of one machine.", _machine),
    ("times", "One point was measured after the other.", _times),
    ("evidence", "No point is missing, and each is as the load generator said.", _evidence),
)
_PREDICTIONS = ("predictions", "The predictions were committed before the run began.")
CHECKS = len(_CHECKS) + 1


def judge(found: Found, answers: Answers, answers_path: Path) -> list[Outcome]:
    outcomes = []
    for name, sentence, check in _CHECKS:
        why = ""
        try:
            check(found)
        except _Off as off:
            why = str(off)
        except Exception as error:  # of any kind, as above
            why = f"a figure is none ({type(error).__name__}: {error})"
        outcomes.append(Outcome(name, sentence, why))
    return [*outcomes, Outcome(*_PREDICTIONS, _predicted(found, answers, answers_path))]


def _predicted(found: Found, answers: Answers, path: Path) -> str:
    if not answers.predicted:
        return f'"predicted" of {NAME} is empty'
    first_s = min(run.started_unix_s for run in found.runs)
    for commit, seconds in _commits(path):
        try:
            then = of_text(_git(path, "cat-file", "blob", f"{commit}:./{path.name}").encode())
        except Failed:
            continue
        if then.predicted == answers.predicted:
            late_s = seconds - first_s
            return f"they were committed {late_s / 60:.0f} minutes after it" if late_s > 1 else ""
    return f"git knows no commit of {path.name} with them"


def _commits(path: Path) -> list[tuple[str, int]]:
    """Of this file, the oldest one first, with their times."""
    said = _git(path, "log", "--format=%H %ct", f"-{_MOST_COMMITS}", "--", path.name)
    found = re.findall(r"^([0-9a-f]{40,64}) (\d{1,12})$", said, re.MULTILINE)
    return [(commit, int(seconds)) for commit, seconds in reversed(found)]


def _git(path: Path, *words: str) -> str:
    """ "" when it fails, Failed without git.

    The repository is a student's, so no program that it names is run.
    """
    off = ("core.fsmonitor=false", "core.pager=cat", "log.showSignature=false")
    safe = [word for one in ("safe.directory=*", *off) for word in ("-c", one)]
    try:
        done = subprocess.run(
            ["git", *safe, "-C", str(path.parent), *words],
            capture_output=True,
            check=False,
            timeout=_GIT_S,
            env={**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except subprocess.TimeoutExpired:
        return ""
    except FileNotFoundError as error:
        raise Failed("git is not installed, which knows when the predictions were made") from error
    return "" if done.returncode else done.stdout.decode(errors="replace")


def claims(found: Found, answers: Answers) -> list[Outcome]:
    """Each claim beside what the lab computes of the same folder."""
    if len(answers.claims) < _FEWEST_CLAIMS:
        few = f'"gains", "limits" and "n_stars" of {NAME} have {len(answers.claims)}'
        return [Outcome("claims", f"There are at least {_FEWEST_CLAIMS} claims.", few)]
    try:
        analysis = Analysis(found.runs, found.environment)
        return [Outcome(one.kind, f"{one}.", _off(analysis, one)) for one in answers.claims]
    except Exception as error:  # of any kind, as above
        why = f"the lab cannot compute them ({type(error).__name__}: {error})"
        return [Outcome("claims", "The claims are those of the lab.", why)]


def _off(analysis: Analysis, claim: Claim) -> str:
    if len(claim.why.split()) < _FEWEST_WORDS:
        return f"its sentence has fewer than {_FEWEST_WORDS} words"
    try:
        return _JUDGES[claim.kind](analysis, claim)
    except (ValueError, ZeroDivisionError, KeyError, ArithmeticError) as error:
        return f"the lab cannot compute it here ({error})"


def _gain_off(analysis: Analysis, claim: Claim) -> str:
    found, said = gains.gain(analysis, claim.before, claim.after, claim.row), claim.said
    assert isinstance(said, (int, float))
    if found is None:
        return "one of both was not measured"
    spread = found.spread
    low, high = spread.low, spread.high
    if not spread.is_interval:
        low, high = spread.median * (1 - _GAIN_OFF), spread.median * (1 + _GAIN_OFF)
    rounded = 0.005  # what is told has two decimals
    inside = low - rounded <= said <= high + rounded
    return "" if inside else f"the folder says {spread.median:.2f} ({low:.2f}–{high:.2f})"


def _limit_off(analysis: Analysis, claim: Claim) -> str:
    found = analysis.result(Cell(claim.after, claim.row))
    if found is None:
        return "it was not measured"
    said, label = str(claim.said).lower(), found.verdict.label.lower()
    is_said = re.search(rf"\b{re.escape(said)}\b", label) is not None
    is_said |= said == "nothing" and label == verdict.NOT_SATURATED
    return "" if is_said else f"the folder says: {found.verdict.label}"


def _n_star_off(analysis: Analysis, claim: Claim) -> str:
    found, said = analysis.result(Cell(claim.after, claim.row)), claim.said
    assert isinstance(said, (int, float))
    if found is None:
        return "it was not measured"
    inside = found.n_star / _N_STAR_OFF <= said <= found.n_star * _N_STAR_OFF
    return "" if inside else f"the folder says {found.n_star}"


_JUDGES: dict[str, Callable[[Analysis, Claim], str]] = {
    "gain": _gain_off,
    "limit": _limit_off,
    "n_star": _n_star_off,
}
