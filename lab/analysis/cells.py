"""Sums up all points of a cell: its maximum, N*, service demands, predictions and bottleneck."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rig.cores import Cores

from ..kinds import CLOSED_LOOP, RAMP
from ..kinds.burst import analysis as bursts
from ..kinds.burst.analysis import BurstStep
from ..kinds.client import analysis as attempts
from ..kinds.client.analysis import Attempts
from ..kinds.crowd import analysis as crowds
from ..kinds.crowd.analysis import CrowdResult
from ..kinds.ramp import analysis as ramps
from ..kinds.ramp.analysis import RampResult
from ..observe import disk_probe
from ..observe.disk_probe import DiskProbe
from ..plan.catalog import Cell
from ..plan.plan import ramp_of
from ..procedures import checks, saturation, sweep
from ..procedures.saturation import NStar
from ..results.environment import Environment
from ..results.records import Run
from . import demands, intervals, operational_laws, resources, verdict
from .demands import Demands
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

    @property
    def by_pass(self) -> dict[int, float]:
        """The throughput of each pass; the last one if a pass measured this N again."""
        return {run.repeat: run.throughput_rps for run in self.runs}

    def typical(self) -> Run:
        """The run whose throughput is nearest to the median."""
        middle = self.throughput.median
        return min(self.runs, key=lambda run: abs(run.throughput_rps - middle))


@dataclass(frozen=True)
class Model:
    """Predicts the throughput at every N from the service demands and the response time at N = 1.

    The delay is time that a request spends at no station: wake-ups, waits for a flush. Sender and
    receiver of a large file work on it at the same time. Their demands can then exceed the response
    time, and the delay is negative; the predictions still start at the measured point.
    """

    stations: list[Station]
    response_s: float  # at N = 1

    @property
    def delay_s(self) -> float:
        return self.response_s - sum(station.demand_s for station in self.stations)

    @property
    def crossing(self) -> float:
        """The N where the asymptotes cross."""
        return operational_laws.crossing(self.stations, self.delay_s)

    @property
    def n_star(self) -> float | None:
        """The N at which exact MVA reaches 95% of its asymptote, comparable with the observed N*.

        None if no sweep would measure so many.
        """
        stations, delay_s = self._one_after_the_other()
        return operational_laws.threads_for_share(stations, delay_s, sweep.N_STAR_SHARE)

    def bound(self, threads: int) -> float:
        return operational_laws.throughput_bound(threads, self.stations, self.delay_s)

    def predictions(self, most_threads: int) -> list[Prediction]:
        return operational_laws.mean_value_analysis(*self._one_after_the_other(), most_threads)

    def _one_after_the_other(self) -> tuple[list[Station], float]:
        stations = operational_laws.one_after_the_other(self.stations, self.response_s)
        return stations, self.response_s - sum(station.demand_s for station in stations)


@dataclass(frozen=True, kw_only=True)
class CellResult:
    cell: Cell
    points: list[ThreadCount]  # valid ones, in rising order of N
    invalid: list[Run]
    knee: NStar  # by a curve through all points
    best: ThreadCount  # the highest median throughput; of repeated points, if there are any
    at_saturation: ThreadCount  # the highest N with 95% of it; a full resource is full there
    is_saturated: bool
    is_lower_bound: bool  # the maximum was not reached, or a point that failed its checks had more
    demands: Demands  # at the maximum
    model: Model | None  # None when N = 1 was not measured
    verdict: Verdict
    is_shared: bool = False  # see Analysis

    @property
    def alone(self) -> ThreadCount | None:
        """None when N = 1 was not measured."""
        return self.points[0] if self.points[0].threads == 1 else None

    @property
    def n_star(self) -> int:
        return self.knee.value

    @property
    def at_n_star(self) -> ThreadCount:
        """The first point from N* on; the last one, should none be there."""
        return next((one for one in self.points if one.threads >= self.n_star), self.points[-1])

    @property
    def predicted(self) -> float | None:
        """The N at which exact MVA reaches 95% of its asymptote. None without a model."""
        return self.model.n_star if self.model else None

    @property
    def crossing(self) -> float | None:
        """The N where the asymptotes cross. None without a model."""
        return self.model.crossing if self.model else None

    @property
    def parallelism(self) -> float | None:
        """How many resources work for a lone request at a time: the sum of its demands / R."""
        if self.alone is None:
            return None
        return demands.of_runs(self.alone.runs).total_s / self.alone.response_s.median

    @property
    def cpu_s(self) -> dict[str, float]:
        """CPU seconds for each request at the maximum, of each component."""
        return self.demands.cpu_s

    @property
    def lone_cpu_s(self) -> float | None:
        """That of all components together at N = 1; None when it was not measured."""
        return sum(demands.of_runs(self.alone.runs).cpu_s.values()) if self.alone else None

    @property
    def disk_s(self) -> float:
        """At the maximum, of the busiest disk."""
        return self.demands.disk_s


class Analysis:
    """All cells of a results folder.

    is_shared: other programs used the machine meanwhile. Then a gain is one in the CPU time that
    the servers need for a request, and what limits a stage is not judged.
    disks: what may be all that the disk can do, the most of it last; [] if it was not probed.
    """

    def __init__(
        self,
        runs: list[Run],
        environment: Environment,
        evidence: Callable[[Run], Mapping[str, Any] | None] = lambda _run: None,
    ):
        """evidence is what the folder kept of a run beside its figures."""
        self._environment = environment
        self.is_shared = environment.options.is_shared
        self.link = environment.options.link  # of all stages, in place of their own; None or ""
        self.discard = environment.options.discard  # of the first repetitions of bursts
        self._evidence = evidence
        self._ramps: dict[Cell, RampResult | None] = {}
        self.disks = _disks(runs, environment.disk_probes)
        swept = [run for run in runs if not run.pair and run.cell.kind is CLOSED_LOOP]
        cells = list(dict.fromkeys(run.cell for run in swept))
        results = {
            cell: self._result(cell, [run for run in swept if run.cell == cell]) for cell in cells
        }
        self._results = {cell: result for cell, result in results.items() if result is not None}
        self.runs = _calibrated(runs, self.disks[-1] if self.disks else None)
        self.invalid = [run for run in self.runs if not run.is_valid]

    def result(self, cell: Cell) -> CellResult | None:
        """None when the cell has no valid point."""
        return self._results.get(cell)

    def bursts(self, stage: str, row: str) -> list[BurstStep]:
        """In rising order of transfers."""
        return bursts.of_cell(stage, row, self.runs, self.discard)

    def attempts(self, stage: str, row: str) -> list[Attempts]:
        """To fetch a file, in rising order of channels."""
        return attempts.of_cell(stage, row, self.runs)

    def ramp(self, stage: str, row: str) -> RampResult | None:
        """Of the last valid run; of a cell without one it is that of the last run. None when the
        cell has none.
        """
        cell = Cell(stage, row, workload=RAMP.name)
        if cell not in self._ramps:
            self._ramps[cell] = self._ramp(cell)
        return self._ramps[cell]

    def _ramp(self, cell: Cell) -> RampResult | None:
        found = [run for run in self.runs if run.cell == cell]
        last = next((run for run in reversed(found) if run.is_valid), found[-1] if found else None)
        ramp, evidence = ramp_of(cell.row, self._environment.options), None
        if last:
            evidence = self._evidence(last)
        return ramps.of_run(last, ramp, evidence) if last and ramp and evidence else None

    def crowd(self, cell: Cell) -> CrowdResult | None:
        """None when the cell has no trial."""
        return crowds.of_cell(cell, self.runs, self._environment)

    def results(self) -> list[CellResult]:
        """In the order in which the cells were first measured."""
        return list(self._results.values())

    def _result(self, cell: Cell, uncalibrated: list[Run]) -> CellResult | None:
        by_disk = [_calibrated(uncalibrated, disk) for disk in self.disks] or [uncalibrated]
        runs = by_disk[-1]
        points = _points(runs)
        if not points:
            return None
        invalid = [run for run in runs if not run.is_valid]
        best = _best(points)
        knee, at_saturation = _knee(points), _fullest(points, best)
        pins = self._environment.placement.of(cell).cores
        found = demands.of_runs(best.runs)
        model = _model(points[0], found, pins) if points[0].threads == 1 else None
        is_saturated = best.threads < points[-1].threads or sweep.has_flattened(
            _all_that_tell([_as_point(point) for point in points], runs)
        )
        full = _first_full(points, best), at_saturation.threads
        carries = self._environment.carries_bytes_per_s(runs[0].topology)
        named = (
            verdict.OF_SHARED
            if self.is_shared
            else verdict.agreed(
                verdict.judge(
                    resources.of_runs(at_maximum, pins, found, carries),
                    model.response_s if model else None,
                    is_saturated,
                    _is_generator_limit(at_maximum),
                )
                for at_maximum in (_between(_points(some), *full) for some in by_disk)
            )
        )
        return CellResult(
            cell=cell,
            points=points,
            invalid=invalid,
            knee=knee,
            best=best,
            at_saturation=at_saturation,
            is_saturated=is_saturated,
            is_lower_bound=not self.is_shared
            and (
                _has_better(invalid, best)
                or (len(points) > 1 and named.label == verdict.NOT_SATURATED)
            ),
            demands=found,
            model=model,
            verdict=named,
            is_shared=self.is_shared,
        )


def _between(points: list[ThreadCount], first: int, last: int) -> list[Run]:
    """All runs from the first N to the highest that still has most of the maximum."""
    return [
        run for point in points if min(first, last) <= point.threads <= last for run in point.runs
    ]


def _disks(runs: list[Run], probes: list[DiskProbe]) -> list[DiskProbe]:
    """What may be all that the disk can do, the most of it last; [] if it was not probed."""
    return disk_probe.marks(probes, [(run.elapsed_s, run.usage) for run in runs]) if probes else []


def _calibrated(runs: list[Run], disk: DiskProbe | None) -> list[Run]:
    """With the use of the disk as a share of what it can do; without a probe it is the kernel's."""
    if not disk:
        return runs
    return [replace(run, usage=disk_probe.calibrated(run.usage, disk)) for run in runs]


def _points(runs: list[Run]) -> list[ThreadCount]:
    """The valid ones, in rising order of N."""
    by_threads: dict[int, list[Run]] = {}
    for run in runs:
        if run.is_valid:
            by_threads.setdefault(run.threads, []).append(run)
    return [ThreadCount(threads, by_threads[threads]) for threads in sorted(by_threads)]


def _model(alone: ThreadCount, found: Demands, pins: dict[str, Cores]) -> Model | None:
    """None when no demand could be measured."""
    stations = demands.stations(found, pins)
    total_s = sum(station.demand_s for station in stations)
    stations = [station for station in stations if station.demand_s > _MERGE_ABOVE * total_s]
    return Model(stations, alone.response_s.median) if stations else None


def _best(points: list[ThreadCount]) -> ThreadCount:
    """Takes a repeated point if there is one. The highest of many single runs is mostly luck."""
    repeated = [point for point in points if len(point.runs) > 1]
    return max(repeated or points, key=lambda point: point.throughput.median)


def _knee(points: list[ThreadCount]) -> NStar:
    return saturation.of_points(
        (point.threads, run.repeat, run.throughput_rps) for point in points for run in point.runs
    )


def _first_full(points: list[ThreadCount], best: ThreadCount) -> int:
    """The lowest N with 95% of the highest throughput: the median over the passes that measured the
    best N. Other than N*, it is one at which resources were as full as they get.
    """
    return statistics.median_low(
        sweep.n_star(
            [
                sweep.Point(point.threads, point.by_pass[repeat])
                for point in points
                if repeat in point.by_pass
            ]
        )
        for repeat in best.by_pass
    )


def _fullest(points: list[ThreadCount], best: ThreadCount) -> ThreadCount:
    """The highest N with 95% of the maximum."""
    enough = sweep.N_STAR_SHARE * best.throughput.median
    return next(point for point in reversed(points) if point.throughput.median >= enough)


def _is_generator_limit(runs: list[Run]) -> bool:
    """Whether the load generator said so in most of these runs."""
    return 2 * sum(run.is_generator_limit for run in runs) > len(runs)


def _has_better(invalid: list[Run], best: ThreadCount) -> bool:
    return any(
        run.throughput_rps > _TOO_GOOD * best.throughput.median
        and not checks.may_pass_again(run.failures)
        for run in invalid
    )


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
