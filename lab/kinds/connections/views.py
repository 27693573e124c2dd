"""The view of many connections: what each model costs over N, with all active and most idle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...analysis import passes
from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...report import wording
from ...report.charts import line_chart
from ...report.charts.line_chart import Axes, Curve, Point
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure, Table, without_empty_columns
from ...report.scene import Scene
from . import analysis as connections
from . import words
from .analysis import CPU, P99, RATE, RESIDENT, SWITCHES, Step

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
    found = passes.ratio(one, without, name) if one is not without else None
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


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "models": lambda scene: [*figures(scene), *tables(scene)]
}
TERMS = [
    "Connections: N of them are kept. Where all ask, each has one request under way, and the load "
    "generator shares few threads among them. Where most are idle, each of those has logged in "
    "before the run and asks for nothing until its end; 8 others ask.",
    "Context switches: of all threads of the program that serves files, and of all that it "
    "started, voluntary ones and others. They are counted between two looks within the run; their "
    "rate is divided by that of the requests. Threads that one look did not see in time are taken "
    "to have done as the others; if both looks saw less than half of all, nothing is said.",
    "Memory: resident is that of the program, in which processes that share a page count it once "
    "each. With the kernel’s: what its control group holds without page cache, so stacks, "
    "sockets and page tables count too; it is empty where this user may make no such group, and a "
    "kernel may leave out its own part. For each idle connection: what the PSS of all servers, and "
    "that group, grew by until all idle ones had logged in, divided by their number.",
    "Self-checks: X·R is from 90 to 103% of those that ask; the load generator’s own time between "
    "two requests is the rest. Bytes = requests × size. At most 1% of the "
    "requests failed, and all idle connections were open at the end. Other programs used at most "
    "10% of the cores. A run that fails one has no figures; where no run of a point is valid, the "
    "table says why.",
    "Finding about connections: a ratio, computed within each pass. It is seen, or not seen, if "
    "its whole 99% interval is on one side; fewer than three passes tell nothing.",
]
