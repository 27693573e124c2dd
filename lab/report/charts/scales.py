"""Scales: from a value to a place on the canvas, and the ticks of the axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 5, 10)
_FEWEST_TICKS = 2
_ROUNDING = 1e-9  # a tick at the very end of the axis is drawn


@dataclass(frozen=True)
class Scale:
    """Maps low … high to start … end. Requires: low < high; low > 0 if it is logarithmic."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def at(self, value: float) -> float:
        """Requires: low <= value <= high, but for rounding."""
        share = self._share(value)
        assert -1e-6 <= share <= 1 + 1e-6, f"{value} is not within {self.low} … {self.high}"
        return self.start + share * (self.end - self.start)

    def _share(self, value: float) -> float:
        if self.is_logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 5) -> list[float]:
        return self._powers(most) if self.is_logarithmic else self._steps(most)

    def _steps(self, most: int) -> list[float]:
        """Multiples of 1, 2 or 5 times a power of ten."""
        raw = (self.high - self.low) / max(1, most)
        power = 10 ** math.floor(math.log10(raw))
        step = next(one * power for one in _STEPS if one * power >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(index * step, 10) for index in range(first, last + 1)]

    def _powers(self, most: int) -> list[float]:
        """Powers of ten, with their twos and fives if there are few, or else round numbers."""
        for leading in ((1, 2, 5), (1,)):
            found = self._within(leading, 1)
            if len(found) < _FEWEST_TICKS:
                return self._steps(most)
            if len(found) <= most:
                return found
        every = math.ceil(math.log10(self.high / self.low) / most)
        return self._within((1,), every)

    def _within(self, leading: tuple[int, ...], every: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        least, most = self.low * (1 - _ROUNDING), self.high * (1 + _ROUNDING)
        return [
            value
            for exponent in range(first, last + 1)
            if exponent % every == 0
            for one in leading
            if least <= (value := one * 10.0**exponent) <= most
        ]


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """Covers all values above 0, and some room around them."""
    known = [value for value in values if value > 0] or [1.0]
    return Scale(min(known) / 1.25, max(known) * 1.25, start, end, True)


def from_zero(values: Iterable[float], start: float, end: float) -> Scale:
    """From 0 to just above the largest value."""
    most = max((value for value in values if math.isfinite(value)), default=0.0)
    return Scale(0.0, 1.06 * most if most > 0 else 1.0, start, end)


def doublings(low: float, high: float) -> list[float]:
    """1, 2, 4 … within low … high."""
    return [
        2.0**exponent
        for exponent in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
    ]


def short(value: float) -> str:
    """A number for a tick: 1500 is 1.5k."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:g}{letter}"
    return f"{value:g}"
