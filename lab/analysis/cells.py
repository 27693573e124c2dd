"""Sums up all points of a cell: its maximum, N*, service demands, predictions and bottleneck."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from ..plan.catalog import Cell
from ..procedures import checks, sweep
from ..results.environment import Environment
from ..results.records import Run
from . import intervals, operational_laws, resources, verdict
from .intervals import Spread
from .operational_laws import Prediction, Station
from .verdict import Verdict

_MERGE_ABOVE = 0.01  # a station with less than this share of the demand is noise
_TOO_GOOD = 1.05  # a failed point above the best valid one by this shows that the maximum is higher


@dataclass(frozen=True)
class ThreadCount:
    """All runs of a cell at one N."""

    threads: int
    runs: list[Run]

    @property
    def throughput(self) -> Spread:
        return intervals.spread([run.throughput_rps for run in self.runs])

    @property
    def response_s(self) -> Spread:
        return intervals.spread([run.mean_ms / 1000 for run in self.runs])

    def typical(self) -> Run:
        """The run whose throughput is nearest to the median."""
        middle = self.throughput.median
        return min(self.runs, key=lambda run: abs(run.throughput_rps - middle))


@dataclass(frozen=True)
class Model:
    """Predicts every other N from the service demands that were measured at N = 1.

    The delay is time that a request spends at no station: wake-ups, waits for a flush. Sender and
    receiver of a large file work on it at the same time. Their demands can then exceed the response
    time, and the delay is negative; the predictions still start at the measured point.
    """

    stations: list[Station]
    delay_s: float  # response time at N = 1 minus all demands; below 0 where stations overlap
    response_s: float  # at N = 1

    @property
    def n_star(self) -> float:
        return operational_laws.saturation_threads(self.stations, self.delay_s)

    def bound(self, threads: int) -> float:
        return operational_laws.throughput_bound(threads, self.stations, self.delay_s)

    def predictions(self, most_threads: int) -> list[Prediction]:
        stations = operational_laws.one_after_the_other(self.stations, self.response_s)
        delay_s = self.response_s - sum(station.demand_s for station in stations)
        return operational_laws.mean_value_analysis(stations, delay_s, most_threads)


@dataclass(frozen=True, kw_only=True)
class CellResult:
    cell: Cell
    points: list[ThreadCount]  # valid ones, in rising order of N
    invalid: list[Run]
    n_star: int
    best: ThreadCount  # the highest median throughput; of repeated points, if there are any
    at_saturation: ThreadCount  # the highest N with 95% of it; a full resource is full there
    is_saturated: bool
    is_lower_bound: bool  # a point that failed its checks had more than the best
    model: Model | None  # None when N = 1 was not measured
    verdict: Verdict

    @property
    def alone(self) -> ThreadCount | None:
        """None when N = 1 was not measured."""
        return self.points[0] if self.points[0].threads == 1 else None

    @property
    def at_n_star(self) -> ThreadCount:
        return next(point for point in self.points if point.threads == self.n_star)


class Analysis:
    """All cells of a results folder."""

    def __init__(self, runs: list[Run], environment: Environment):
        self._environment = environment
        cells = list(dict.fromkeys(run.cell for run in runs))
        results = {
            cell: self._result(cell, [run for run in runs if run.cell == cell]) for cell in cells
        }
        self._results = {cell: result for cell, result in results.items() if result is not None}
        self.invalid = [run for run in runs if not run.is_valid]
        self.runs = runs

    def result(self, cell: Cell) -> CellResult | None:
        """None when the cell has no valid point."""
        return self._results.get(cell)

    def results(self) -> list[CellResult]:
        """In the order in which the cells were first measured."""
        return list(self._results.values())

    def _result(self, cell: Cell, runs: list[Run]) -> CellResult | None:
        by_threads: dict[int, list[Run]] = {}
        for run in runs:
            if run.is_valid:
                by_threads.setdefault(run.threads, []).append(run)
        if not by_threads:
            return None
        points = [ThreadCount(threads, by_threads[threads]) for threads in sorted(by_threads)]
        medians = [_as_point(point) for point in points]
        best = _best(points)
        at_saturation = points[-1]
        while at_saturation.throughput.median < sweep.N_STAR_SHARE * best.throughput.median:
            at_saturation = points[points.index(at_saturation) - 1]
        pins = self._environment.placement.of(cell).cores
        model = _model(points[0], pins) if points[0].threads == 1 else None
        is_saturated = best.threads < points[-1].threads or sweep.has_flattened(
            _all_that_tell(medians, runs)
        )
        typical = at_saturation.typical()
        named = verdict.judge(
            resources.of_run(
                typical,
                pins,
                model.stations if model else [],
                self._environment.carries_bytes_per_s(typical.topology),
            ),
            model.response_s if model else None,
            is_saturated,
            typical.is_generator_limit,
        )
        invalid = [run for run in runs if not run.is_valid]
        n_star = sweep.n_star(
            [
                _as_point(point)
                for point in points
                if point.throughput.median <= best.throughput.median
            ]
        )
        is_lower_bound = any(
            run.throughput_rps > _TOO_GOOD * best.throughput.median
            and not checks.may_pass_again(run.failures)
            for run in invalid
        )
        return CellResult(
            cell=cell,
            points=points,
            invalid=invalid,
            n_star=n_star,
            best=best,
            at_saturation=at_saturation,
            is_saturated=is_saturated,
            is_lower_bound=is_lower_bound,
            model=model,
            verdict=named,
        )


def _model(alone: ThreadCount, pins: dict[str, tuple[int, ...]]) -> Model | None:
    """Made from the medians of the runs at N = 1. None when no demand could be measured."""
    each = [resources.demand_stations(run, pins) for run in alone.runs]
    stations = [
        Station(same[0].name, statistics.median(one.demand_s for one in same), same[0].servers)
        for same in zip(*each)
    ]
    total_s = sum(station.demand_s for station in stations)
    stations = [station for station in stations if station.demand_s > _MERGE_ABOVE * total_s]
    if not stations:
        return None
    response_s = alone.response_s.median
    return Model(stations, response_s - sum(station.demand_s for station in stations), response_s)


def _best(points: list[ThreadCount]) -> ThreadCount:
    """Takes a repeated point if there is one. The highest of many single runs is mostly luck."""
    repeated = [point for point in points if len(point.runs) > 1]
    return max(repeated or points, key=lambda point: point.throughput.median)


def _as_point(point: ThreadCount) -> sweep.Point:
    noise = statistics.median(run.noise for run in point.runs)
    return sweep.Point(point.threads, point.throughput.median, noise)


def _all_that_tell(valid: list[sweep.Point], runs: list[Run]) -> list[sweep.Point]:
    """The points that show whether throughput still rises.

    A point that failed its checks counts too, unless other programs disturbed it.
    """
    known = {point.threads: point for point in valid}
    for run in runs:
        if not run.is_valid and not checks.may_pass_again(run.failures):
            known.setdefault(run.threads, sweep.Point(run.threads, run.throughput_rps, run.noise))
    return [known[threads] for threads in sorted(known)]
