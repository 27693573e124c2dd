"""The view of many connections: what each model costs over N, with all active and most idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...analysis import connections
from ...analysis.connections import CPU, P99, RATE, RESIDENT, SWITCHES, Step
from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from .. import wording
from ..charts import line_chart
from ..charts.line_chart import Axes, Curve, Point
from ..charts.svg import Canvas
from ..document import Block, Figure, Table, without_empty_columns
from ..scene import Scene
from . import words

_SIZE = (300.0, 150.0)
_COLOURS = ("stage0", "stage1", "stage2", "ink")
_KILO, _MEGA, _MICRO = 1e-3, 1e-6, 1e6
_ACTIVE = [
    *("stage", "N", "requests/s", "p99, ms", "resident, MB", "with the kernel’s, MB"),
    *("switches", "CPU, µs", "remark"),
]
_IDLE = [
    *("stage", "N", "requests/s", "of those without", "p99, ms", "of that without"),
    *("programs", "with the kernel’s", "threads", "processes", "remark"),
]


@dataclass(frozen=True)
class Measured:
    """A stage that was measured at a row; steps are in rising order of N."""

    stage: Stage
    steps: list[Step]


def answers(scene: Scene) -> list[str]:
    found = []
    for row in scene.rows:
        active, idle = ([one.steps for one in _stages(scene, row, has)] for has in (False, True))
        said = words.sentences(active, idle)
        found += [" ".join([f"Files of {row}.", *said])] if said else []
    return found


def figures(scene: Scene) -> list[Block]:
    """Of those that are all active. None where no stage was measured with two N."""
    found: list[Block] = []
    for row in scene.rows:
        active = _stages(scene, row, has_idle=False)
        if any(sum(bool(one.valid) for one in own.steps) > 1 for own in active):
            found.append(_figure(row, active))
    return found


def tables(scene: Scene) -> list[Block]:
    found: list[Block] = []
    for row in scene.rows:
        active, idle = (_stages(scene, row, has) for has in (False, True))
        found += [_of_active(row, active)] if active else []
        found += [_of_idle(row, idle)] if idle else []
    return found


def _stages(scene: Scene, row: str, has_idle: bool) -> list[Measured]:
    return [
        Measured(stage, steps)
        for stage in scene.stages
        if stage.connections and bool(stage.connections.busy) == has_idle
        if (steps := connections.of_cell(stage.name, row, scene.analysis.runs))
    ]


def _of_active(row: str, measured: Sequence[Measured]) -> Table:
    return without_empty_columns(
        Table(
            title=f"All connections ask, files of {row}",
            caption="Of the program that serves files: its memory, its context switches for each "
            "request, and its CPU time for each. Medians of the passes, with their interval below.",
            header=_ACTIVE,
            groups=[("", 4), ("memory", 2), ("a request", 2), ("", 1)],
            rows=[_active(own.stage, one) for own in measured for one in own.steps],
        )
    )


def _active(stage: Stage, one: Step) -> list[str]:
    return [
        stage.name,
        f"{one.connections:,}",
        _text(one.figure(RATE)),
        _text(one.figure(P99)),
        _text(one.figure(RESIDENT), _MEGA),
        _text(one.figure("server_group_bytes"), _MEGA),
        _text(one.figure(SWITCHES)),
        _text(one.figure(CPU), _MICRO),
        one.why_not,
    ]


def _of_idle(row: str, measured: Sequence[Measured]) -> Table:
    return without_empty_columns(
        Table(
            title=f"Most connections are idle, files of {row}",
            caption="Those that ask are as many in all rows of a stage; the first row has no idle "
            "ones, and the others are held against it. What each idle connection adds to the "
            "servers: memory of the programs (PSS), memory with the kernel’s of the program that "
            "serves files, threads and processes. Medians of the passes, with their interval.",
            header=_IDLE,
            groups=[("", 6), ("an idle one, kB", 2), ("an idle one", 2), ("", 1)],
            rows=[_idle(own, one) for own in measured for one in own.steps],
        )
    )


def _idle(own: Measured, one: Step) -> list[str]:
    without = own.steps[0]
    return [
        own.stage.name,
        f"{one.connections:,}",
        _text(one.figure(RATE)),
        _times(one, without, RATE),
        _text(one.figure(P99)),
        _times(one, without, P99),
        _text(one.figure("proportional_bytes_each"), _KILO),
        _text(one.figure("group_bytes_each"), _KILO),
        wording.three_digits(one.median("threads_each")),
        wording.three_digits(one.median("processes_each")),
        one.why_not,
    ]


def _times(one: Step, without: Step, name: str) -> str:
    found = connections.ratio(one, without, name) if one is not without else None
    return wording.gain_in_a_line(found) if found else wording.NOTHING


def _text(found: Spread | None, factor: float = 1.0) -> str:
    if found is None:
        return wording.NOTHING
    scaled = replace(
        found,
        median=factor * found.median,
        low=factor * found.low,
        high=factor * found.high,
    )
    return wording.maximum(scaled, is_lower_bound=False)


def _figure(row: str, measured: Sequence[Measured]) -> Figure:
    return Figure(
        name=f"models-{row}",
        title=f"All connections ask: files of {row}",
        caption="Over N, the connections. Medians of the passes with their interval. Memory is the "
        "resident one of the program that serves files; so are the context switches.",
        canvases=[
            _drawn("Requests/s", measured, RATE),
            _drawn("p99, ms", measured, P99, is_logarithmic=True),
            _drawn("Memory, MB", measured, RESIDENT, _MEGA, is_logarithmic=True),
            _drawn("Context switches, a request", measured, SWITCHES, is_logarithmic=True),
        ],
    )


def _drawn(
    title: str,
    measured: Sequence[Measured],
    name: str,
    factor: float = 1.0,
    *,
    is_logarithmic: bool = False,
) -> Canvas:
    curves = [
        Curve(
            name=own.stage.name.partition("-")[2], colour=colour, points=_points(own, name, factor)
        )
        for own, colour in zip(measured, _COLOURS)
    ]
    points = [one for curve in curves for one in curve.points if one]
    axes = Axes(
        x_low=min((one.x for one in points), default=1.0),
        x_high=max((one.x for one in points), default=1.0),
        y_values=[value for one in points for value in (one.value, one.low, one.high)] or [1.0],
        x_base=10,
        is_y_logarithmic=is_logarithmic,
        x_title="N",
        x_ticks=sorted({one.x for one in points}),
    )
    return line_chart.draw(title, curves, axes, size=_SIZE, right=70.0)


def _points(own: Measured, name: str, factor: float) -> list[Point]:
    return [
        _point(one.connections, found, factor) for one in own.steps if (found := one.figure(name))
    ]


def _point(x: float, found: Spread, factor: float) -> Point:
    """An interval of few passes may reach below 0, and a logarithmic axis has no room for it."""
    low = min(found.median, max(found.low, found.median / 10))
    return Point(x, factor * found.median, factor * low, factor * found.high)
