"""What the host felt while each cell had most to do, and the memory of servers with a limit."""

import statistics
from collections import Counter

from ..analysis.cells import Analysis
from ..observe.figures import FIGURES, GROUPS, HostFigure
from ..plan.catalog import Cell
from ..results.records import Folder, Run
from . import wording
from .charts import line_chart
from .charts.line_chart import Axes, Curve
from .charts.svg import Canvas
from .document import Block, Figure, Heading, Table, without_empty_columns
from .sheet import Number, OfRun, Writing, written

_SIZE = (300.0, 100.0)
Samples = list[dict[str, float]]

_FIRST = ("load_average", "waiting_threads")  # of their group; the others are as declared
_SHOWN = sorted(
    (figure for figure in FIGURES.values() if figure.title),
    key=lambda figure: (GROUPS.index(figure.group), figure.name not in _FIRST),
)
_WRITINGS = {
    "ms": Writing(", ms"),
    "B": Writing(", MB", wording.megabytes),
    "/s": Writing("/s", wording.number),
}


def _column(figure: HostFigure) -> Number:
    return written(figure.title, figure.unit, lambda run: run.usage.figure(figure.name), _WRITINGS)


_COLUMNS = [_column(figure) for figure in _SHOWN]
_GROUPS = [("", 2), *Counter(figure.group for figure in _SHOWN).items()]


def section(folder: Folder, analysis: Analysis) -> list[Block]:
    """[] when nothing of it was measured."""
    busiest = {cell: _busiest(analysis, cell) for cell in _cells(analysis)}
    rows = [_row(cells, busiest) for cells in _lines(busiest)]
    if not any(any(row[2:]) for row in rows):
        return []
    table = Table(
        title="What the host felt",
        caption="At the most threads, users or transfers of each cell, or the highest rate; "
        "medians of the runs, and of cells in one line the highest one. A sleeper of 10 ms in a "
        "process of its own wakes late when it has to wait for a core: so would any other program "
        "on this host. The load average is of the last minute. Waiting threads were ready to run "
        "and had no core. A datagram may be a question of a server for the name of a client. A "
        "limited server has a control group; its peak is since it was started, and throttled is "
        "the share of time in which it waited for its share of the cores.",
        header=["cell", "at", *(column.title for column in _COLUMNS)],
        rows=rows,
        groups=_GROUPS,
    )
    figures = [_figure(folder, cell, runs) for cell, runs in busiest.items()]
    found: list[Block] = [figure for figure in figures if figure]
    return [Heading(2, "The host"), without_empty_columns(table), *found]


def _lines(busiest: dict[Cell, list[Run]]) -> list[list[Cell]]:
    """The cells of each line: those of a stage, or one whose server has a limit."""
    lines: dict[Cell | tuple[str, str], list[Cell]] = {}
    for cell, runs in busiest.items():
        is_limited = any(run.usage.has_limited_server for run in runs)
        lines.setdefault(cell if is_limited else (cell.stage, cell.workload), []).append(cell)
    return list(lines.values())


def _row(cells: list[Cell], busiest: dict[Cell, list[Run]]) -> list[str]:
    name = str(cells[0]) if len(cells) == 1 else f"{cells[0].stage}, {len(cells)} cells"
    settings = sorted(
        {busiest[cell][0].setting for cell in cells},
        key=lambda one: (one.offered_rps or 0.0, one.threads),
    )
    at = " to ".join(map(str, dict.fromkeys([settings[0], settings[-1]])))
    return [
        name,
        at,
        *(one.text(_highest([busiest[cell] for cell in cells], one.of)) for one in _COLUMNS),
    ]


def _highest(cells: list[list[Run]], of: OfRun) -> float | None:
    """Of the medians of the cells; None where it was not measured."""
    medians = [
        statistics.median(values)
        for runs in cells
        if (values := [value for run in runs if (value := of(run)) is not None])
    ]
    return max(medians, default=None)


def _cells(analysis: Analysis) -> list[Cell]:
    return list(dict.fromkeys(run.cell for run in analysis.runs if run.is_valid))


def _busiest(analysis: Analysis, cell: Cell) -> list[Run]:
    """Its valid runs with most to do."""
    runs = [run for run in analysis.runs if run.cell == cell and run.is_valid]
    most = max((run.setting.offered_rps or 0.0, run.threads) for run in runs)
    return [run for run in runs if (run.setting.offered_rps or 0.0, run.threads) == most]


def _figure(folder: Folder, cell: Cell, runs: list[Run]) -> Figure | None:
    """How the memory of a limited server and the host's answer went on; None for others."""
    run = runs[len(runs) // 2]
    evidence = folder.evidence(run)
    if not run.usage.has_limited_server or not evidence:
        return None
    return Figure(
        name=f"host-{cell.slug}",
        title=f"Memory and the host, {cell}, {run.setting}",
        caption="Of the limited server and, for the cache, of the whole host beside it.",
        canvases=canvases(evidence["samples"]),
    )


def canvases(samples: Samples) -> list[Canvas]:
    """Those of which the samples have something. Requires: two samples or more."""
    wanted: tuple[tuple[str, tuple[tuple[str, str, str, float], ...]], ...] = (
        (
            "Memory of the limited server, MB",
            (
                ("used", "ink", "group.used_bytes", 1e-6),
                ("page cache", "disk", "group.cached_bytes", 1e-6),
            ),
        ),
        ("Page cache of the host, MB", (("host", "disk", "memory.cached_bytes", 1e-6),)),
        ("A sleeper of 10 ms woke late, ms", (("worst", "ink", "host.sleeper_late_ms", 1.0),)),
    )
    return [
        _drawn(title, made, samples)
        for title, lines in wanted
        if (made := [one for line in lines if (one := _curve(samples, *line))])
    ]


def _curve(samples: Samples, name: str, colour: str, key: str, factor: float) -> Curve | None:
    start_s = samples[0]["time_s"]
    points = [
        line_chart.point(one["time_s"] - start_s, factor * one[key]) if key in one else None
        for one in samples
    ]
    if not any(points):
        return None
    return Curve(name=name, colour=colour, points=points, style="plain")


def _drawn(title: str, curves: list[Curve], samples: Samples) -> Canvas:
    values = [point.value for curve in curves for point in curve.points if point]
    length_s = samples[-1]["time_s"] - samples[0]["time_s"]
    axes = Axes(x_low=0.0, x_high=length_s, y_values=values, x_title="s")
    return line_chart.draw(title, curves, axes, size=_SIZE)
