"""What was measured in each pass, how two such things compare, and whether a claim is seen."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..results.records import Run
from . import intervals
from .blocks import Estimate
from .intervals import Spread

SEEN, NOT_SEEN, CANNOT_TELL = "seen here", "not seen here", "cannot tell"
RATE = "throughput_rps"
_PERCENTILE = re.compile(r"(^|_)p\d+_")  # of response times, such as get_p99_ms


@dataclass(frozen=True)
class Told:
    verdict: str
    figures: str = ""  # that it stands on


class OfPasses:
    """All trials of one thing, of which at most one in each pass is valid."""

    runs: list[Run]

    @property
    def valid(self) -> list[Run]:
        return [run for run in self.runs if run.is_valid]

    def of_run(self, run: Run, name: str) -> float | None:
        """A figure, or the throughput. None if it was not measured."""
        return run.throughput_rps if name == RATE else run.figure(name)

    def by_pass(self, name: str) -> dict[int, float]:
        """The values of a figure, of the passes that have it."""
        found = ((run.repeat, self.of_run(run, name)) for run in self.valid)
        return {repeat: value for repeat, value in found if value is not None}

    def spread(
        self,
        of: Callable[[Run], float | None],
        summed_up: Callable[[list[float]], Spread] = intervals.spread,
    ) -> Spread | None:
        """None if no valid trial has it."""
        found = [value for run in self.valid if (value := of(run)) is not None]
        return summed_up(found) if found else None

    def figure(self, name: str) -> Spread | None:
        how = intervals.spread_of_percentile if _PERCENTILE.search(name) else intervals.spread
        return self.spread(lambda run: self.of_run(run, name), how)

    def median(self, name: str) -> float | None:
        found = self.figure(name)
        return found.median if found else None


def ratio(one: OfPasses, other: OfPasses, name: str, other_name: str = "") -> Spread | None:
    """one / other, within each pass. None where one has no value, or where one is not above 0."""
    ours, theirs = one.by_pass(name), other.by_pass(other_name or name)
    if not ours or not theirs or min(*ours.values(), *theirs.values()) <= 0:
        return None
    return intervals.paired_ratio(ours, theirs)


def inside(found: Estimate | Spread, above: float, below: float) -> str:
    """Whether its whole interval lies within the bounds, or outside. What ends at a bound is not
    beyond it.
    """
    if above < found.low and found.high < below:
        return SEEN
    return NOT_SEEN if found.high <= above or found.low >= below else CANNOT_TELL


def judge(found: Spread, above: float, below: float) -> Told:
    """Whether a ratio is as it was said. A verdict needs an interval."""
    if not found.is_interval:
        return Told(CANNOT_TELL, f"×{found.median:.2f}")
    figures = f"×{found.median:.2f} ({found.low:.2f}–{found.high:.2f})"
    return Told(inside(found, above, below), figures)
