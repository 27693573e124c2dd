"""Sums up the attempts to fetch a file: a median of those that succeeded, and how many did.

Paper 004 prints means of five attempts of which "sometimes not all" succeeded. Such a mean is one
of survivors, so the number of both stands beside each of our medians.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...analysis import chance, intervals
from ...analysis.intervals import Spread
from ...plan.catalog import Cell
from ...results.records import Run
from . import KIND
from .load import FAILED

RATE, ROUND_TRIP = "rate_bytes_s", "rtt_p50_ms"
FORETOLD, AT_MOST = "rtt_predicted_ms", "rtt_at_most_ms"
_AS_GOOD = 0.98  # of the best rate
_MOST = 0.8  # of its attempts must succeed: four of five, or both of two


@dataclass(frozen=True)
class Attempts:
    """All attempts of a cell with one number of channels; there is one at least."""

    cell: Cell
    channels: int
    runs: list[Run]

    @property
    def good(self) -> list[Run]:
        """Those that got the file."""
        return [run for run in self.runs if run.is_valid]

    @property
    def are_all_good(self) -> bool:
        return len(self.good) == len(self.runs)

    def by_pass(self, name: str) -> dict[int, float]:
        """A figure of each attempt that succeeded, by its repetition."""
        return {
            run.repeat: value for run in self.good if (value := value_of(run, name)) is not None
        }

    def figure(self, name: str) -> Spread | None:
        """Of those that succeeded; None if none has it."""
        return self.spread(lambda run: value_of(run, name))

    def spread(self, of: Callable[[Run], float | None]) -> Spread | None:
        found = [value for run in self.good if (value := of(run)) is not None]
        return intervals.spread(found) if found else None

    @property
    def do_most_succeed(self) -> bool:
        return len(self.good) >= _MOST * len(self.runs)

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
    noise = chance.noise(one.by_pass(RATE) for one in found)
    return Best(first, [one for _, one in known if _is_alike(one, first, noise)])


def ratio(one: Attempts, other: Attempts, name: str = RATE) -> Spread | None:
    """one / other, within each pass; None where a figure is missing or 0."""
    ours, theirs = one.by_pass(name), other.by_pass(name)
    if not ours or not theirs or not all((*ours.values(), *theirs.values())):
        return None
    return intervals.paired_ratio(ours, theirs)


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


def _is_alike(one: Attempts, first: Attempts, noise: chance.Noise) -> bool:
    found = ratio(one, first)
    if found is None:
        return False
    sides = [(noise, len(each.good)) for each in (one, first)]
    return one is first or chance.cautious(found, *sides).high >= _AS_GOOD


def _is_answer(run: Run) -> bool:
    """Those that are invalid for another reason too are none."""
    return run.is_valid or (run.failures.startswith(FAILED) and "; " not in run.failures)
