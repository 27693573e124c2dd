"""Sums up the attempts to fetch a file: a median of those that succeeded, and how many did.

Paper 004 prints means of five attempts of which "sometimes not all" succeeded. Such a mean is one
of survivors, so the number of both stands beside each of our medians.

Three attempts or more have an interval of their own. Two may agree by luck. How much attempts
differ is then taken from many points together, each around its own mean, and the interval is
Student's with their degrees of freedom. It is not narrower than 1% either way: what all attempts
of a run have in common, such as a clock of the processor, is not seen within the run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis import intervals, passes
from ...analysis.intervals import Spread
from ...analysis.passes import OfPasses
from ...plan.catalog import Cell
from ...results.records import Run
from . import KIND
from .load import FAILED

RATE, ROUND_TRIP = "rate_bytes_s", "rtt_p50_ms"
FORETOLD, AT_MOST = "rtt_predicted_ms", "rtt_at_most_ms"
_AS_GOOD = 0.98  # of the best rate
_MOST = 0.8  # of its attempts must succeed: four of five, or both of two


@dataclass(frozen=True)
class Attempts(OfPasses):
    """All attempts of a cell with one number of channels; there is one at least."""

    cell: Cell
    channels: int
    runs: list[Run]

    @property
    def are_all_good(self) -> bool:
        return len(self.valid) == len(self.runs)

    def of_run(self, run: Run, name: str) -> float | None:
        return value_of(run, name)

    @property
    def do_most_succeed(self) -> bool:
        return len(self.valid) >= _MOST * len(self.runs)

    def share_of_link(self) -> dict[int, float]:
        """By repetition: the rate as a share of what the link is made for, less the headers of TCP
        and IP. What iperf3 carried is no measure of it: on a bad link it carries less, too.
        """
        nominal, whole = self.by_pass("share_of_nominal"), self.by_pass("mtu_bytes")
        return {
            repeat: nominal[repeat] * whole[repeat] / segment
            for repeat, segment in self.by_pass("mss_bytes").items()
            if repeat in nominal and repeat in whole
        }

    @property
    def rate(self) -> Spread | None:
        """In bytes a second; None if all attempts failed."""
        return self.figure(RATE)


@dataclass(frozen=True)
class Best:
    """The number of channels with the highest rate, and all that cannot be told from it."""

    attempts: Attempts
    alike: list[Attempts]  # in rising order of channels

    @property
    def channels_alike(self) -> list[int]:
        return [one.channels for one in self.alike]


def of_cell(stage: str, row: str, runs: Sequence[Run]) -> list[Attempts]:
    """In rising order of channels. runs are all of the folder; what was measured badly, such as
    over a link that was late, is no attempt.
    """
    cell = Cell(stage, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell and _is_answer(run)]
    return [
        Attempts(cell, channels, [run for run in own if run.threads == channels])
        for channels in sorted({run.threads for run in own})
    ]


def best(found: Sequence[Attempts]) -> Best | None:
    """Of the numbers with which most attempts succeed; None where there is none."""
    known = [(rate.median, one) for one in found if one.do_most_succeed and (rate := one.rate)]
    if not known:
        return None
    _, first = max(known, key=lambda pair: pair[0])
    noise = noise_of(one.by_pass(RATE) for one in found)
    return Best(first, [one for _, one in known if _is_alike(one, first, noise)])


def against_foretold(one: Attempts) -> Spread | None:
    """The round trip / what was foretold of it, in each pass that has both; None where none has."""
    measured, foretold = one.by_pass(ROUND_TRIP), one.by_pass(FORETOLD)
    both = measured.keys() & foretold.keys()
    if not both or not all(measured[repeat] and foretold[repeat] for repeat in both):
        return None
    return intervals.paired_ratio(*({at: of[at] for at in both} for of in (measured, foretold)))


def value_of(run: Run, name: str) -> float | None:
    """A figure of the workload, or of the machine."""
    return run.usage.figures[name] if name in run.usage.figures else run.figures.get(name)


def _is_alike(one: Attempts, first: Attempts, noise: Noise) -> bool:
    found = passes.ratio(one, first, RATE)
    if found is None:
        return False
    sides = [(noise, len(each.valid)) for each in (one, first)]
    return one is first or cautious(found, *sides).high >= _AS_GOOD


def _is_answer(run: Run) -> bool:
    """Those that are invalid for another reason too are none."""
    return run.is_valid or (run.failures.startswith(FAILED) and "; " not in run.failures)


_FEWEST = 2  # one attempt tells nothing
_LEAST = 0.01  # as a share


@dataclass(frozen=True)
class Noise:
    """Of one attempt: the standard deviation of the logarithm, and how well it is known."""

    deviation: float
    degrees: int  # of freedom; 0: it is not known


def noise_of(points: Iterable[Mapping[int, float]]) -> Noise:
    """points are of things that may differ, each with its attempts; values above 0 count."""
    squares, degrees = 0.0, 0
    for point in points:
        logarithms = [math.log(value) for value in point.values() if value > 0]
        if len(logarithms) >= _FEWEST:
            degrees += len(logarithms) - 1
            squares += (len(logarithms) - 1) * statistics.variance(logarithms)
    return Noise(math.sqrt(squares / degrees) if degrees else math.inf, degrees)


def cautious(found: Spread, *sides: tuple[Noise, int]) -> Spread:
    """found, or with few attempts the 99% interval that the noise of each side gives it.

    A side is the noise of one attempt, and how many attempts there are. Without a second attempt,
    or if no noise is known, anything may be.
    """
    if found.is_interval:
        return found
    if any(count < _FEWEST or not one.degrees for one, count in sides):
        return Spread(found.median, 0.0, math.inf, found.count, False)
    error = math.hypot(*(one.deviation / math.sqrt(count) for one, count in sides))
    t = intervals.student_t_99(min(one.degrees for one, _ in sides))
    times = math.exp(max(t * error, _LEAST))
    low, high = min(found.low, found.median / times), max(found.high, found.median * times)
    return Spread(found.median, low, high, found.count, False)
