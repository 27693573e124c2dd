"""A sheet of results: columns, which make a table of them, and curves, which make a chart."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Generic, TypeVar

from .. import kinds
from ..analysis.intervals import Spread
from ..analysis.passes import OfPasses
from ..kinds.kind import Figure
from ..results.records import Run
from . import wording
from .charts import line_chart
from .charts.line_chart import Axes, Curve, Point
from .charts.svg import Canvas, Place
from .document import Table, without_empty_columns

COLOURS = ("stage0", "stage1", "stage2", "ink")
OfRun = Callable[[Run], float | None]
Text = Callable[[float | None], str]
Row = TypeVar("Row")
Rows = TypeVar("Rows", bound=OfPasses)


@dataclass(frozen=True)
class Column(Generic[Row]):
    """group stands above the title, once for neighbours that have the same."""

    title: str
    cell: Callable[[Row], str]
    group: str = ""


def interval(title: str, name: str, group: str = "", factor: float = 1.0) -> Column[Rows]:
    """Of a figure: its median, and the interval below it."""
    return Column(title, lambda one: with_interval(one.figure(name), factor), group)


def median(title: str, name: str, text: Text, group: str = "") -> Column[Rows]:
    return Column(title, lambda one: text(one.median(name)), group)


@dataclass(frozen=True)
class Number:
    """A number that each trial has, such as a figure of its kind, and how a table writes it."""

    title: str
    of: OfRun
    text: Text = wording.three_digits

    def column(self, value: Callable[[Row, OfRun], float | None]) -> Column[Row]:
        """value makes one number of those of all trials of a row."""
        return Column(self.title, lambda row: self.text(value(row, self.of)))


@dataclass(frozen=True)
class Writing:
    """How a table writes a unit: what a title says of it, and the number."""

    suffix: str = ""
    text: Text = wording.three_digits


Writings = Mapping[str, Writing]  # by the unit; other units are written as mere numbers


def written(title: str, unit: str, of: OfRun, writings: Writings) -> Number:
    writing = writings.get(unit, Writing())
    return Number(f"{title}{writing.suffix}", of, writing.text)


def of_view(
    view: str, placed: Sequence[str | Number], writings: Writings, runs: Sequence[Run]
) -> list[Number]:
    """The placed numbers, where a name is that of a figure, and then further figures of the view.

    A further figure is there only if one of the runs has it.
    """
    further = [
        name
        for name, figure in kinds.figures().items()
        if view in figure.views and name not in placed and any(name in run.figures for run in runs)
    ]
    return [
        _of_figure(kinds.figures()[one], writings) if isinstance(one, str) else one
        for one in (*placed, *further)
    ]


def _of_figure(figure: Figure, writings: Writings) -> Number:
    return written(figure.title, figure.unit, lambda run: run.figure(figure.name), writings)


def table(
    title: str,
    caption: str,
    columns: Sequence[Column[Row]],
    rows: Iterable[Row],
    *,
    keeps_empty: bool = False,
) -> Table:
    """Without the columns that are empty in all rows, unless they are to be kept."""
    groups = [(name, len(list(same))) for name, same in groupby(one.group for one in columns)]
    found = Table(
        title=title,
        caption=caption,
        header=[one.title for one in columns],
        groups=groups if any(name for name, _ in groups) else [],
        rows=[[one.cell(row) for one in columns] for row in rows],
    )
    return found if keeps_empty else without_empty_columns(found)


def with_interval(found: Spread | None, factor: float = 1.0) -> str:
    if found is None:
        return wording.NOTHING
    middle, low, high = (factor * end for end in (found.median, found.low, found.high))
    return wording.maximum(replace(found, median=middle, low=low, high=high), is_lower_bound=False)


def times(found: Spread | None) -> str:
    """A ratio, with its interval in the same line."""
    return wording.gain_in_a_line(found) if found else wording.NOTHING


def curve(
    name: str,
    colour: str,
    found: Iterable[tuple[float, Spread | None]],
    *,
    factor: float = 1.0,
) -> Curve:
    """Over x. The line is interrupted where nothing was found."""
    points = [_point(x, one, factor) if one else None for x, one in found]
    return Curve(name=name, colour=colour, points=points)


def _point(x: float, found: Spread, factor: float) -> Point:
    """An interval of few passes may reach below 0, and a logarithmic axis has no room for it."""
    low = min(found.median, max(found.low, found.median / 10))
    return Point(x, factor * found.median, factor * low, factor * found.high)


def chart(
    title: str,
    curves: Sequence[Curve],
    *,
    x_title: str,
    x_ends: tuple[float, float] | None = None,
    x_base: int = 0,
    has_ticks: bool = False,
    is_logarithmic: bool = False,
    may_leave: bool = False,
    size: Place = (300.0, 150.0),
    right: float | None = None,
    is_wide: bool = False,
) -> Canvas:
    """x_ends are those of all points if they are None. has_ticks: at each point, and no other.
    may_leave: long intervals do, so that the values have more room.
    """
    points = [one for curve in curves for one in curve.points if one]
    x = sorted({one.x for one in points}) or [1.0]
    values = [one.value for one in points]
    ends = [] if may_leave else [end for one in points for end in (one.low, one.high)]
    axes = Axes(
        x_low=x_ends[0] if x_ends else x[0],
        x_high=x_ends[1] if x_ends else x[-1],
        y_values=[*values, *ends] or [1.0],
        x_base=x_base,
        is_y_logarithmic=is_logarithmic,
        x_title=x_title,
        x_ticks=x if has_ticks and points else (),
    )
    return line_chart.draw(title, curves, axes, size=size, right=right, is_wide=is_wide)
