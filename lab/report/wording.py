"""How numbers are written in a report."""

from __future__ import annotations

from ..analysis.cells import CellResult
from ..analysis.gains import Gain
from ..analysis.intervals import Spread

NOTHING = "–"


def rate(value: float | None) -> str:
    """Requests per second."""
    if value is None:
        return NOTHING
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rate_with_spread(spread: Spread) -> str:
    """For a cell of a table: the median, with the interval below it."""
    if spread.count == 1:
        return rate(spread.median)
    mark = "" if spread.is_interval else "*"  # explained under every table
    return f"{rate(spread.median)}\n{rate(max(0.0, spread.low))}–{rate(spread.high)}{mark}"


def maximum(spread: Spread, is_lower_bound: bool) -> str:
    """is_lower_bound: the maximum was not reached, or a point that failed its checks had more."""
    return ("≥ " if is_lower_bound else "") + rate_with_spread(spread)


def milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    value = seconds * 1000
    return (
        f"{value:,.0f} ms"
        if value >= 100
        else f"{value:.1f} ms"
        if value >= 10
        else f"{value:.2f} ms"
    )


def times(value: float | None) -> str:
    return NOTHING if value is None else f"×{value:.2f}" if value < 10 else f"×{value:.1f}"


def gain(found: Gain | None) -> str:
    """The factor; without one if a maximum was not reached."""
    return times(found.spread.median if found and not found.is_lower_bound else None)


def n_star(result: CellResult) -> str:
    """The median of the passes, with their range below it if they differ."""
    low, high = result.n_star_range
    return count(result.n_star) + (f"\n{low}–{high}" if low < high else "")


def count(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def milliseconds_with_spread(spread: Spread) -> str:
    if spread.count == 1:
        return milliseconds(spread.median)
    mark = "" if spread.is_interval else "*"
    low, high = (milliseconds(end)[:-3] for end in (max(0.0, spread.low), spread.high))
    return f"{milliseconds(spread.median)}\n{low}–{high}{mark}"


def microseconds(seconds: float) -> str:
    """Without the unit, which is in the header of the table."""
    value = seconds * 1e6
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def number(value: float | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:,.0f}"


def byte_size(value: float | None) -> str:
    if value is None:
        return NOTHING
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"
