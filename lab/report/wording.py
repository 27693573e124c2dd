"""How numbers are written in a report."""

from collections.abc import Sequence

from ..analysis.cells import CellResult
from ..analysis.gains import Gain
from ..analysis.intervals import Spread

_FEW = 4
NOTHING = ""  # what was not measured, or what the paper does not say


def rate(value: float | None) -> str:
    """Requests per second: three digits, or all before the point."""
    if value is None:
        return NOTHING
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def maximum(spread: Spread, is_lower_bound: bool) -> str:
    """For a cell of a table: the median, with the interval below it.

    is_lower_bound: a point that failed its checks had more.
    """
    text = ("≥ " if is_lower_bound else "") + rate(spread.median)
    if spread.count == 1:
        return text
    return f"{text}\n{rate(max(0.0, spread.low))}–{rate(spread.high)}{_mark(spread)}"


def gain(found: Gain | None) -> str:
    """For a cell of a table: the ratio, with its interval below."""
    if found is None:
        return NOTHING
    spread = found.spread
    text = times(spread.median) + ("†" if found.is_lower_bound else "")
    if spread.count == 1:
        return text
    return f"{text}\n{spread.low:.2f}–{spread.high:.2f}{_mark(spread)}"


def gain_in_a_line(spread: Spread) -> str:
    if spread.count == 1:
        return times(spread.median)
    return f"{times(spread.median)} ({spread.low:.2f}–{spread.high:.2f}{_mark(spread)})"


def within_a_sentence(text: str) -> str:
    """With a small first letter, but for an abbreviation such as CPU."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def times(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"×{value:.2f}" if value < 10 else f"×{value:.1f}"


def count(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def n_star(result: CellResult) -> str:
    """With its interval below it; nothing of a cell that no curve describes."""
    knee = result.knee
    if not knee.is_told:
        return "?"
    return count(knee.value) + (f"\n{knee.low}–{knee.high}" if knee.low < knee.high else "")


def milliseconds(value: float | None) -> str:
    """Without the unit, which is in the header of the table. The value is in milliseconds."""
    return rate(value)


def milliseconds_with_range(spread: Spread) -> str:
    """The same, with the interval or the range below. The spread is in milliseconds."""
    if spread.count == 1:
        return milliseconds(spread.median)
    low, high = max(0.0, spread.low), spread.high
    return f"{milliseconds(spread.median)}\n{milliseconds(low)}–{milliseconds(high)}{_mark(spread)}"


def microseconds(seconds: float | None) -> str:
    """Without the unit, which is in the header of the table."""
    if seconds is None:
        return NOTHING
    value = seconds * 1e6
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def short_time(seconds: float) -> str:
    """With a unit that fits, for the end of a bar."""
    if seconds >= 0.01:
        return f"{1000 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:.1f} ms"
    return f"{1e6 * seconds:,.0f} µs"


def kilobytes(value: float | None) -> str:
    """Without the unit. The value is in bytes."""
    if value is None:
        return NOTHING
    kilo = value / 1000
    if kilo >= 100:
        return f"{kilo:,.0f}"
    return "0" if kilo < 0.05 else f"{kilo:.1f}"


def number(value: float | None) -> str:
    """A whole number."""
    return NOTHING if value is None else f"{value:,.0f}"


def three_digits(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3g}"


def percent(share: float | None, decimals: int = 0) -> str:
    return NOTHING if share is None else f"{share:.{decimals}%}"


def megabytes(value: float | None) -> str:
    """Without the unit. The value is in bytes."""
    return NOTHING if value is None else f"{value / 1e6:,.1f}"


def byte_size(value: float | None) -> str:
    """With a unit that fits."""
    if value is None:
        return NOTHING
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{', '.join(names[: _FEW - 1])} and {len(names) - _FEW + 1} more"


def _mark(spread: Spread) -> str:
    return "" if spread.is_interval else "*"  # explained in the definitions
