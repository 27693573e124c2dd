"""Sums up the points of an open loop: response times over the offered load, and the search."""

from collections.abc import Callable
from dataclasses import dataclass

from ...analysis import intervals
from ...analysis.intervals import Spread
from ...plan.planned import Sweep
from ...procedures.sweep import KneeSweep
from ...results.records import Run
from . import procedure as offered_load
from .procedure import Answer, OfferedLoad


@dataclass(frozen=True)
class OfferedRate:
    """All valid runs of a cell at one rate."""

    rate_rps: float
    runs: list[Run]

    def milliseconds(self, of: Callable[[Run], float | None]) -> Spread | None:
        """The spread of one of their times. None: no run had enough requests to know it."""
        values = [value for run in self.runs if (value := of(run)) is not None]
        return intervals.spread_of_percentile(values) if values else None

    @property
    def throughput(self) -> Spread:
        return intervals.spread([run.throughput_rps for run in self.runs])


@dataclass(frozen=True)
class OfferedLoads:
    maximum_rps: float  # of the closed loop
    rates: list[OfferedRate]  # in rising order; those without a valid run are left out
    answer: Answer | None  # None when the search did not end


def of_cell(runs: list[Run], passes: int, p99_limit_ms: float) -> OfferedLoads | None:
    """runs are all of a cell of an open loop. None when its maximum is not known."""
    maximum = offered_load.maximum_rps(runs)
    if not maximum:
        return None
    by_rate: dict[float, list[Run]] = {}
    for run in runs:
        if run.offered_rps is not None and run.is_valid:
            by_rate.setdefault(run.offered_rps, []).append(run)
    procedure = OfferedLoad(KneeSweep(Sweep((), 0), passes), p99_limit_ms)
    rates = [OfferedRate(rate, by_rate[rate]) for rate in sorted(by_rate)]
    return OfferedLoads(maximum, rates, procedure.answer(runs))
