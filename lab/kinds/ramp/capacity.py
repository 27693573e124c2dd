"""How many clients memory bears: foretold from ramps with fewer of them, then tried.

Memory is that of the servers' control group, without page cache, which the kernel drops first. A
shared link and the CPU are no ends: past them the server only gets slower.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ...analysis.blocks import Estimate
from ...analysis.regression import Line
from ...results.records import Run
from .analysis import RampResult

MEMORY = "memory"
SERVER_KILLED = "the kernel ended the server"
SERVER_ENDED = "the server ended itself"
SESSIONS_KILLED = "the kernel ended sessions"
FAILED = "uploads failed, but the kernel ended nothing"
SLOWER = "nothing failed"
NOT_REACHED = "the limit was not reached"
_AT_THE_LIMIT = 0.95  # of its memory; samples are too far apart to see all of it
_CLOSE, _FAR = 0.1, 0.3  # of what was tried


@dataclass(frozen=True)
class Foretold:
    """By a run with so many clients. estimate is None where its memory tells no end."""

    clients: int
    estimate: Estimate | None

    def error(self, tried: float) -> float | None:
        """As a share of what was tried; above 0 where too many were foretold."""
        value = self.estimate.value if self.estimate else inf
        return value / tried - 1 if value < inf and tried else None

    def holds(self, tried: float) -> bool | None:
        """Whether it has the number in its interval, or nearly met it. None: it tells nothing, or
        its interval is wider than the number itself, or it is neither near nor far.
        """
        found, error = self.estimate, self.error(tried)
        if found is None or error is None:
            return None
        if abs(error) <= _CLOSE:
            return True
        if found.high - found.low > found.value:
            return None
        if found.has(tried):
            return True
        return False if abs(error) > _FAR else None


@dataclass(frozen=True)
class Tried:
    """The most uploads under way until the first one failed or the kernel ended a session, and what
    happened then.
    """

    uploads: int
    at_the_end: str  # one of those above

    @property
    def is_reached(self) -> bool:
        return self.at_the_end != NOT_REACHED

    def __str__(self) -> str:
        return f"{self.at_the_end} at {self.uploads:,} uploads"


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Of one server, and one trial. foretold is in the order of clients."""

    name: str  # of the server, and of the trial where fewer clients came than memory was to bear
    limit_bytes: float
    foretold: Sequence[Foretold]
    tried: Tried


def of_runs(fewer: Sequence[RampResult], tried: RampResult) -> Capacity | None:
    """None where the servers had no limit, or nothing was tried."""
    limit_bytes = tried.run.figure("memory_limit_bytes")
    found = of_trial(tried)
    if limit_bytes is None or found is None:
        return None
    cell = tried.run.cell
    return Capacity(
        name=cell.stage if tried.ramp.until_it_ends else f"{cell.stage}, {cell.row}",
        limit_bytes=limit_bytes,
        foretold=[
            Foretold(one.run.threads, foretell(one.group_memory, limit_bytes))
            for one in sorted(fewer, key=lambda one: one.run.threads)
        ],
        tried=found,
    )


def foretell(line: Line | None, limit_bytes: float) -> Estimate | None:
    """The clients at which memory ends. None without a line, or for one that never gets there."""
    if line is None or line.predict(line.middle).value >= limit_bytes:
        return None
    end = first(ends([Resource(MEMORY, limit_bytes, line)]))
    return end.clients if end else None


def of_trial(result: RampResult) -> Tried | None:
    """None for a run that was not to go on until memory ends."""
    uploads, killed = result.run.figure("uploads_borne"), _first_killed(result)
    if uploads is None:
        return None
    failed_s = result.run.figure("first_failed_s")
    if killed is not None and (failed_s is None or failed_s > result.times_s[killed]):
        uploads = max(one.load for one in result.courses.clients[: killed + 1])
    # Samples may have gaps; the count of the whole run has none.
    is_killed = killed is not None or bool(result.run.usage.figures.get("group_oom_kills"))
    return Tried(round(uploads), _end(result.run, is_killed=is_killed))


def _first_killed(result: RampResult) -> int | None:
    """The step in which the kernel ended a first process; None if it ended none."""
    known = [(step, count) for step, count in enumerate(result.machine.killed) if count is not None]
    return next((step for step, count in known if count > known[0][1]), None)


def _end(run: Run, *, is_killed: bool) -> str:
    limit_bytes = run.figure("memory_limit_bytes")
    has_server_ended = run.errors.endswith(" ended")  # see procedures/measure.py
    if is_killed:
        return SERVER_KILLED if has_server_ended else SESSIONS_KILLED
    used_bytes = run.usage.figures.get("group_used_bytes", 0.0)
    if limit_bytes is None or used_bytes < _AT_THE_LIMIT * limit_bytes:
        return NOT_REACHED
    if has_server_ended:
        return SERVER_ENDED
    return SLOWER if run.figure("first_failed_s") is None else FAILED


@dataclass(frozen=True)
class Resource:
    """Something of which there is only so much: bytes of memory or swap, cores, bytes/s of a link.

    line is its use over the clients.
    """

    name: str
    limit: float  # in the unit of the line
    line: Line


@dataclass(frozen=True)
class End:
    """clients is infinite where the use of the resource does not rise."""

    name: str
    clients: Estimate


@dataclass(frozen=True)
class First:
    """The resource that ends first. rivals are those that may end before it: their intervals
    overlap. clients is the interval of the first end, whichever it is.
    """

    name: str
    clients: Estimate
    rivals: tuple[str, ...]


def ends(resources: Sequence[Resource]) -> list[End]:
    """In the order in which they end."""
    found = [End(one.name, one.line.reaches(one.limit)) for one in resources]
    return sorted(found, key=lambda one: one.clients.value)


def first(found: Sequence[End]) -> First | None:
    """None if none of them ever ends. Requires: the order of ends()."""
    if not found or found[0].clients.value == float("inf"):
        return None
    at = found[0].clients
    rivals = tuple(one.name for one in found[1:] if one.clients.low <= at.high)
    low = min(one.clients.low for one in found)
    high = min(one.clients.high for one in found)
    return First(found[0].name, Estimate(at.value, low, high), rivals)
