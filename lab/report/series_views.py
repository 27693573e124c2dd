"""Runs over time, where their series were kept: which were not steady, and how one looked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis import over_time, trend
from ..analysis.cells import Analysis
from ..analysis.over_time import Course, OverTime, Shift, Steadiness
from ..plan.catalog import Cell
from ..results import series as kept
from ..results.environment import Environment
from ..results.records import Folder, Run
from ..workloads.outcome import Second, Series
from . import wording
from .charts import series_chart
from .charts.series_chart import Averages
from .document import Block, Figure, Heading, Paragraph, Table

_MOST_NAMED = 3  # seconds of a run
_WINDOW = 5  # seconds of a moving average
_FEWEST_FOR_AVERAGE = 3 * _WINDOW  # whole seconds; with fewer it would be a short piece
_HEADER = ["run", "in a second", "least", "first", "weak seconds", "silent", "failed", "slowest"]


@dataclass(frozen=True)
class _Seen:
    run: Run
    series: Series
    found: Steadiness


def section(folder: Folder, analysis: Analysis, environment: Environment) -> list[Block]:
    """[] where no series was kept. Some kinds have a view of their own for it."""
    seen = _seen(folder, analysis) if environment.options.keeps_series else []
    if not seen:
        return []
    unsteady = [one for one in seen if not one.found.is_steady]
    steady = len(seen) - len(unsteady)
    return [
        Heading(2, "Runs over time"),
        Paragraph(
            f"{steady} of {wording.plural(len(seen), 'run')} {'was' if steady == 1 else 'were'} "
            "steady: no request failed, and no second had less than half of the usual number of "
            "requests."
        ),
        *([_table(unsteady)] if unsteady else []),
        *(_figure(one) for one in _least_steady(seen)),
    ]


def drawn(second: Second) -> series_chart.Second:
    return series_chart.Second(
        t=second.t,
        answered=second.ended,
        failed=second.failed,
        p50_ms=second.p50_ms,
        p99_ms=second.p99_ms,
        max_ms=second.max_ms,
    )


def _seen(folder: Folder, analysis: Analysis) -> list[_Seen]:
    """Of runs without a whole second nothing can be said."""
    seen = []
    for run in analysis.runs:
        if run.cell.kind.shows_series:
            continue
        series = kept.unpacked(folder.evidence(run) or {})
        found = over_time.steadiness_of(series, run.elapsed_s)
        if found:
            seen.append(_Seen(run, series, found))
    return seen


def _least_steady(seen: Sequence[_Seen]) -> list[_Seen]:
    """Of each cell one run, in the order in which they were measured."""
    worst: dict[Cell, _Seen] = {}
    for one in seen:
        before = worst.setdefault(one.run.cell, one)
        if one.found.badness > before.found.badness:
            worst[one.run.cell] = one
    return list(worst.values())


def _table(unsteady: Sequence[_Seen]) -> Table:
    return Table(
        title="Runs that were not steady",
        caption="Requests that succeeded, in whole seconds: the median, the least and the first "
        "one. A weak second has less than half of the median, a silent one has none. The slowest "
        "request ended in the second that is named behind it. A low first second is a warm-up "
        "that was too short.",
        header=_HEADER,
        rows=[_row(one) for one in unsteady],
    )


def _row(one: _Seen) -> list[str]:
    found, slowest = one.found, one.found.slowest
    return [
        one.run.name,
        wording.rate(found.median),
        wording.count(found.least),
        wording.count(found.first),
        _named(found.weak),
        wording.count(found.silent or None),
        f"{found.failed:,} in {_named(found.failed_in)}" if found.failed else wording.NOTHING,
        f"{wording.milliseconds(slowest.max_ms)} ms in {slowest.t}" if slowest else wording.NOTHING,
    ]


def _named(seconds: Sequence[int]) -> str:
    names = ", ".join(str(t) for t in seconds[:_MOST_NAMED])
    more = len(seconds) - _MOST_NAMED
    return f"{names} and {more} more" if more > 0 else names


def _figure(one: _Seen) -> Figure:
    run, averages = one.run, _averages(one)
    means = f" The lines without dots are means of {_WINDOW} s." if averages else ""
    happened = sentences(over_time.of_series(one.series, run.elapsed_s))
    valid = "" if run.is_valid else f" This run is not valid: {run.failures}."
    seconds = [drawn(second) for second in one.series.seconds]
    return Figure(
        name=f"series-{run.cell.slug}",
        title=f"Each second of the least steady run: {run.cell}, {run.setting}, pass {run.repeat}",
        caption="Above: how many requests succeeded, and in red how many failed. Below: response "
        "times of those that succeeded; a gap is a second without one. The last second may be a "
        f"part of one.{means}{happened}{valid}",
        canvases=series_chart.draw(seconds, [], averages or series_chart.NO_AVERAGES),
        columns=1,
        shows=frozenset({f"series of {run.name}"}),
    )


def _averages(one: _Seen) -> Averages | None:
    """Of the whole seconds; None where there are too few. Below it is that of the mean times."""
    whole = over_time.whole_seconds(one.series, one.run.elapsed_s)
    if len(whole) < _FEWEST_FOR_AVERAGE:
        return None
    return Averages(
        name=f"mean, {_WINDOW} s",
        answered=trend.over_points([second.ended for second in whole], _WINDOW),
        mean_ms=trend.over_seconds(
            [second.t - 0.5 for second in whole],
            [second.mean_ms for second in whole],
            _WINDOW,
            len(whole),
        ),
    )


def sentences(found: OverTime) -> str:
    """Each with a blank before it; "" where nothing happened."""
    return _of_requests(found.requests) + _of_times(found.mean_ms)


def _of_requests(course: Course) -> str:
    if course.drift:
        much = wording.percent(abs(course.drift))
        word = "rose" if course.drift > 0 else "fell"
        return f" From the start to the end the number of requests {word} by {much}."
    return _list(course, "there were", "more requests", "fewer requests")


def _of_times(course: Course) -> str:
    if course.drift:
        much = wording.percent(abs(course.drift))
        word = "longer" if course.drift > 0 else "shorter"
        return f" From the start to the end the mean response time became {much} {word}."
    return _list(course, "the mean response time was", "longer", "shorter")


def _list(course: Course, verb: str, more: str, less: str) -> str:
    """The verb is said once."""
    if not course.shifts:
        return ""
    first, *others = (_amount(one, more, less) for one in course.shifts)
    starts = [f"from {one.from_s} s on" for one in course.shifts]
    rest = "".join(f", {start} {amount}" for start, amount in zip(starts[1:], others))
    return f" {starts[0].capitalize()} {verb} {first}{rest}."


def _amount(shift: Shift, more: str, less: str) -> str:
    if math.isinf(shift.share):
        return f"{more} than none"
    return f"{wording.percent(abs(shift.share))} {more if shift.share > 0 else less}"
