"""Which number of threads comes next: procedures, the stop rule, the refinement at the knee.

A sweep climbs its ladder until throughput is flat. Then it measures one far point, because a rise
may come after a plateau. If throughput is higher there, the sweep goes on climbing.

Everything depends only on the points measured so far, so an interrupted sweep can be resumed.

A procedure says which point of a cell comes next. It knows only the runs so far, so an interrupted
run of the lab can be resumed.
"""

from collections import Counter
from dataclasses import dataclass

from ..plan.planned import Setting, Sweep
from ..results.records import Run

N_STAR_SHARE = 0.95  # N* is the smallest N with this share of the highest throughput
POINTS_WITHOUT_RISE = 2
_LEAST_NOISE = 0.02  # two runs of a few seconds always differ by as much
_MOST_NOISE = 0.10  # more noise does not hide a rise
_KNEE_CLOSE_ENOUGH = 1.3
_FAR_TIMES = 4  # as many threads as at the last point of the plateau


@dataclass(frozen=True)
class Point:
    threads: int
    throughput_rps: float
    noise: float = 0.0  # relative standard error of the throughput within the run


def next_threads(sweep: Sweep, points: list[Point]) -> int | None:
    """The N to measure next; None when the sweep is complete."""
    measured = {point.threads: point for point in points}
    climbed: list[Point] = []
    for threads in sweep.ladder:
        if sweep.stops and has_flattened(climbed):
            far = _far_point(sweep, climbed[-1].threads)
            if far not in measured:
                return far
            if not _rises(_best(climbed), measured[far]):
                break
        if threads not in measured:
            return threads
        climbed.append(measured[threads])
    done = len(set(measured) - set(sweep.ladder))
    return _between_at_knee(points) if sweep.stops and done < sweep.refinements else None


def has_flattened(points: list[Point]) -> bool:
    """True when none of the last points rose above the best before it by more than the noise.

    points are in rising order of threads.
    """
    if len(points) <= POINTS_WITHOUT_RISE:
        return False
    before, last = points[:-POINTS_WITHOUT_RISE], points[-POINTS_WITHOUT_RISE:]
    return not any(_rises(_best(before), point) for point in last)


def n_star(points: list[Point]) -> int:
    """The smallest N whose throughput is within 5% of the highest. Requires: at least one point."""
    highest = max(point.throughput_rps for point in points)
    return min(point.threads for point in points if point.throughput_rps >= N_STAR_SHARE * highest)


def worth_repeating(points: list[Point]) -> list[int]:
    """The N on which the tables depend: one thread, the knee and its neighbours, the highest."""
    ordered = sorted({point.threads for point in points})
    if not ordered:
        return []
    best = max(points, key=lambda point: point.throughput_rps).threads
    knee = ordered.index(n_star(points))
    chosen = {ordered[0], best, *ordered[max(0, knee - 1) : knee + 2]}
    return sorted(chosen)


def _far_point(sweep: Sweep, last: int) -> int:
    """The first N of the ladder that is far beyond the last, or the highest one."""
    return next((n for n in sweep.ladder if n >= _FAR_TIMES * last), sweep.ladder[-1])


def _best(points: list[Point]) -> Point:
    return max(points, key=lambda point: point.throughput_rps)


def _rises(best: Point, point: Point) -> bool:
    noise = min(_MOST_NOISE, max(_LEAST_NOISE, 2 * best.noise, 2 * point.noise))
    return point.throughput_rps > best.throughput_rps * (1 + noise)


def _between_at_knee(points: list[Point]) -> int | None:
    """A number halfway (by ratio) between N* and the N measured below it, if one is left."""
    ordered = sorted({point.threads for point in points})
    knee = n_star(points)
    index = ordered.index(knee)
    if index == 0:
        return None
    below = ordered[index - 1]
    middle = round((below * knee) ** 0.5)
    is_new = below < middle < knee
    return middle if is_new and knee / below > _KNEE_CLOSE_ENOUGH else None


@dataclass(frozen=True)
class FixedOrder:
    """Exactly these N, in this order, in each pass.

    Or blocked: all repetitions of an N in a row, in one pass.
    """

    steps: tuple[int, ...]
    passes: int
    is_blocked: bool = False

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        if self.is_blocked:
            return self._next_of_block(runs) if repeat == 1 else None
        done = {run.threads for run in runs if run.repeat == repeat}
        return next((Setting(step) for step in self.steps if step not in done), None)

    def _next_of_block(self, runs: list[Run]) -> Setting | None:
        made = Counter(threads for threads, _ in {(run.threads, run.repeat) for run in runs})
        return next((Setting(step) for step in self.steps if made[step] < self.passes), None)

    def points_in_all(self, runs: list[Run]) -> int | None:
        return len(self.steps) * self.passes


@dataclass(frozen=True)
class KneeSweep:
    """The first pass finds the points; each further pass repeats those that decide."""

    rule: Sweep
    passes: int

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """The point to measure next in this pass; None when the pass is complete.

        runs are all of the cell so far.
        """
        threads = self.next_threads(runs, repeat)
        return None if threads is None else Setting(threads)

    def next_threads(self, runs: list[Run], repeat: int) -> int | None:
        """The N to measure next in this pass; None when the pass is complete.

        runs are all of the cell so far.
        """
        first = _points(runs, 1)
        if repeat == 1:
            return next_threads(self.rule, first)
        done = {point.threads for point in _points(runs, repeat)}
        return next((threads for threads in self._repeated(first) if threads not in done), None)

    def points_in_all(self, runs: list[Run]) -> int | None:
        """The number of points of all passes; None while the first pass is not complete."""
        first = _points(runs, 1)
        if next_threads(self.rule, first) is not None:
            return None
        return len(first) + (self.passes - 1) * len(self._repeated(first))

    def _repeated(self, first: list[Point]) -> list[int]:
        return worth_repeating(first) if self.rule.stops else list(self.rule.ladder)


def _points(runs: list[Run], repeat: int) -> list[Point]:
    """An invalid point counts as throughput 0, so that a sweep stops when requests fail."""
    last = {run.threads: run for run in runs if run.repeat == repeat}
    return [
        Point(run.threads, run.throughput_rps if run.is_valid else 0.0, run.noise)
        for run in last.values()
    ]
