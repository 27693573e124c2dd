"""N*, the smallest N with 95% of the most throughput, by a curve through all points of a cell.

The highest of many noisy points is too high, so the first one with 95% of it comes too late, the
later the more noise there is. So a curve is fitted: that of one queue and a delay by exact mean
value analysis, with a lone request that may take longer than one under load, and a throughput that
may fall with many users. Each pass has a level of its own, because the speed of the machine changes
between them. A deviation counts by its size and not by its square, so no single point decides.

The 95% interval is that of fits to made-up experiments: the curve, with the deviations of the
measured points drawn again.
"""

import itertools
import math
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .sweep import N_STAR_SHARE

_DRAWS = 60
_TAIL = 0.02  # of the draws, beyond each end of the interval
_SEED = "saturation"  # the same points give the same interval
_BENDS = 36  # shapes, from a queue that one user fills to one that hundreds do not
_LARGEST_BEND = 400.0
_FALLS = (0.0, 0.0005, 0.002, 0.006, 0.02)  # of the throughput, with each further user
_WAKE_UPS = (0.0, 0.25)  # so much longer does a lone request take than one under load
_FITTED = 2  # numbers of a curve, beside the levels
_LEAST_DEVIATION = 0.02  # two runs of a few seconds always differ by as much
_FAR = 0.2  # from the curve in each of _FEW passes at one N: it does not describe these points
_FEW = 3

Points = Iterable[tuple[int, int, float]]  # N, pass, throughput above 0


@dataclass(frozen=True)
class NStar:
    """low and high are its 95% interval. is_told: a curve describes the points."""

    value: int
    low: int
    high: int
    is_told: bool = True


def of_points(points: Points) -> NStar:
    """Requires: at least one point."""
    fit = _Fit(list(points))
    value = fit.curve.n_star
    source = random.Random(_SEED)
    drawn = sorted(fit.drawn(source) for _ in range(_DRAWS))
    cut = round(_TAIL * _DRAWS)
    return NStar(
        value, min(value, drawn[cut]), max(value, drawn[-1 - cut]), not fit.is_far_from_points
    )


def value_of(points: Points) -> int:
    """The same without its interval, which takes a while."""
    return _Fit(list(points)).curve.n_star


@dataclass(frozen=True)
class _Curve:
    logs: tuple[float, ...]  # of the throughput, at each N
    n_star: int


_Passes = dict[int, list[tuple[int, float]]]  # pass -> (place of N, log of the throughput)


class _Fit:
    def __init__(self, points: Sequence[tuple[int, int, float]]):
        numbers = sorted({n for n, _, _ in points})
        self._curves = _curves(tuple(numbers))
        self._passes: _Passes = {}
        for n, repeat, rate in points:
            self._passes.setdefault(repeat, []).append((numbers.index(n), math.log(rate)))
        self.curve, self._levels = _best(self._passes, self._curves)
        self._away = {
            repeat: [(place, rate - self._at(repeat, place)) for place, rate in own]
            for repeat, own in self._passes.items()
        }

    @property
    def is_far_from_points(self) -> bool:
        by_place: dict[int, list[float]] = {}
        for place, away in itertools.chain(*self._away.values()):
            by_place.setdefault(place, []).append(away)
        return any(
            len(away) >= _FEW and (min(away) > _FAR or max(away) < -_FAR)
            for away in by_place.values()
        )

    def drawn(self, source: random.Random) -> int:
        """N* of a made-up experiment."""
        made = {
            repeat: [
                (place, self._at(repeat, place) + source.choice(self._deviations))
                for place, _ in own
            ]
            for repeat, own in self._passes.items()
        }
        return _best(made, self._curves, self.curve)[0].n_star

    @property
    def _deviations(self) -> list[float]:
        """A fit takes some of them away. That is put back."""
        found = [away for own in self._away.values() for _, away in own]
        wider = math.sqrt(len(found) / max(1, len(found) - _FITTED - len(self._levels)))
        if max(map(abs, found)) < _LEAST_DEVIATION:
            return [-_LEAST_DEVIATION, _LEAST_DEVIATION]
        return [wider * one for one in found]

    def _at(self, repeat: int, place: int) -> float:
        return self._levels[repeat] + self.curve.logs[place]


def _best(
    passes: _Passes, curves: Sequence[_Curve], near: _Curve | None = None
) -> tuple[_Curve, dict[int, float]]:
    """The curve that is nearest to the points, and the level of each pass. `near` is one of the
    curves that is not far from them: what is farther away is passed over sooner.
    """
    best, least = None, _distance(near or curves[0], passes)
    for curve in curves:
        distance = _distance(curve, passes, enough=least)
        if distance < least or (best is None and distance == least):
            best, least = curve, distance
    assert best is not None  # `near` is one of them
    return best, {
        repeat: statistics.median_low(rate - best.logs[place] for place, rate in own)
        for repeat, own in passes.items()
    }


def _distance(curve: _Curve, passes: _Passes, enough: float = math.inf) -> float:
    """The sum of all deviations from the levels of the passes, or some of it, if it is enough."""
    logs, total = curve.logs, 0.0
    for own in passes.values():
        away = sorted([rate - logs[place] for place, rate in own])
        half = len(away) // 2
        total += sum(away[-half:]) - sum(away[:half]) if half else 0.0  # from the median
        if total > enough:
            break
    return total


@lru_cache(maxsize=256)
def _curves(numbers: tuple[int, ...]) -> tuple[_Curve, ...]:
    step = math.log(_LARGEST_BEND) / (_BENDS - 1)
    found = []
    for number in range(_BENDS):
        rates = _one_queue(math.exp(step * number), numbers[-1])
        for fall, wake_ups in itertools.product(_FALLS, _WAKE_UPS):
            own = [
                rate / ((1 + fall * (n - 1)) * (1 + wake_ups / n))
                for n, rate in enumerate(rates, 1)
            ]
            wanted = N_STAR_SHARE * max(own)
            first = next(n for n, rate in enumerate(own, 1) if rate >= wanted)
            found.append(_Curve(tuple(math.log(own[n - 1]) for n in numbers), first))
    return tuple(found)


@lru_cache(maxsize=256)
def _one_queue(bend: float, most: int) -> list[float]:
    """Throughput for 1 … most users, in services of the queue; a lone request takes `bend`."""
    queue, rates = 0.0, []
    for users in range(1, most + 1):
        rates.append(users / (bend + queue))
        queue = rates[-1] * (1 + queue)
    return rates
