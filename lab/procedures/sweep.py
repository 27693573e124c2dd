"""Which number of threads comes next: the stop rule, and the refinement around the knee.

A sweep climbs its ladder until throughput is flat. Then it measures one far point, because a rise
may come after a plateau. If throughput is higher there, the sweep goes on climbing.

Everything depends only on the points measured so far, so an interrupted sweep can be resumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..plan.planned import Sweep

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
