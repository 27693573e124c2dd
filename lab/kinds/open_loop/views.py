"""The view of an open loop: response times over the offered load, and the most within a limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...plan import plan
from ...plan.catalog import Cell, row_title
from ...report import sheet, wording
from ...report.charts import line_chart, palette, tail_chart
from ...report.charts.line_chart import Curve
from ...report.charts.svg import Canvas
from ...report.charts.tail_chart import Tail
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column, Number, of_view
from ...results import series
from ...results.records import Folder, Run
from . import KIND
from . import analysis as offered_load
from .analysis import OfferedLoads, OfferedRate

_HOW_TO_READ = (
    "Requests are due at random moments (Poisson), whether or not earlier ones were answered. "
    "Response times start when a request is due, service times when it is sent. The lateness is "
    "the load generator's own and is part of the response time. All are medians of the passes, in "
    "ms, with their interval below, by logarithms; * marks the lowest and highest of two."
)
_COLUMNS: tuple[str | Number, ...] = (
    Number("p50", lambda run: run.p50_ms),
    Number("p90", lambda run: run.p90_ms),
    Number("p99", lambda run: run.p99_ms),
    *("service_p99_ms", "lateness_p99_ms"),
)


def offered_loads(scene: Scene) -> list[Block]:
    blocks: list[Block] = []
    for cell, found in _measured(scene):
        blocks += [_figure(cell, found, _limit_ms(scene)), _table(cell, found, _limit_ms(scene))]
    return [*blocks, *tail_figures(_measured(scene), scene.folder)]


def figures(_scene: Scene) -> list[Block]:
    """None on the first page: the answers say what was found."""
    return []


def answers(scene: Scene) -> list[str]:
    """What was found, one sentence for each cell."""
    return [f"{cell}: {answer(found, _limit_ms(scene))}" for cell, found in _measured(scene)]


def _measured(scene: Scene) -> list[tuple[Cell, OfferedLoads]]:
    cells = [
        Cell(stage.name, row, workload=KIND.name) for stage in scene.stages for row in scene.rows
    ]
    passes = scene.environment.mode.repeat
    return [
        (cell, found)
        for cell in cells
        if (found := offered_load.of_cell(_runs_of(scene, cell), passes, _limit_ms(scene)))
    ]


def _runs_of(scene: Scene, cell: Cell) -> list[Run]:
    return [run for run in scene.analysis.runs if run.cell == cell]


def _limit_ms(scene: Scene) -> float:
    return plan.p99_limit_ms(scene.environment.options, [scene.experiment])


def answer(found: OfferedLoads, limit_ms: float) -> str:
    """The most that keeps p99 under the limit, in a sentence."""
    limit = f"p99 under {limit_ms:g} ms"
    known = found.answer
    if known is None:
        return f"The search for the most that keeps {limit} did not end."
    agreed = f"{known.confirmations} run{'s' if known.confirmations > 1 else ''} at each agree"
    if known.fails_rps is not None and not known.has_failed:
        kept = _part(found, known.keeps_rps) if known.keeps_rps else "no rate"
        failed = _part(found, known.fails_rps)
        return f"{kept} keeps {limit}. More is not known, as runs at {failed} were invalid."
    if not known.keeps_rps:
        lowest = _part(found, known.fails_rps or 0.0)
        return f"No rate keeps {limit}: not even {lowest}, the lowest that was offered."
    if known.fails_rps is None:
        highest = _part(found, known.keeps_rps)
        return f"The limit was not reached: {highest}, the highest that was offered, keeps {limit}."
    return (
        f"The most that keeps {limit} is between {_part(found, known.keeps_rps)}, which keeps it, "
        f"and {_part(found, known.fails_rps)}, which does not ({agreed})."
    )


def _part(found: OfferedLoads, rate_rps: float) -> str:
    share = rate_rps / found.maximum_rps
    return f"{wording.rate(rate_rps)} requests/s ({share:.0%} of the maximum)"


def _figure(cell: Cell, found: OfferedLoads, limit_ms: float) -> Figure:
    title = f"Waiting over the offered load: {cell}"
    return Figure(
        name=f"offered-load-{cell.slug}",
        title=title,
        caption="Percentiles in ms, medians of the passes with their range, over the offered load "
        "in parts of the closed loop's maximum. From when a request is due; dashed without dots: "
        "the limit.",
        canvases=[_chart(found, limit_ms)],
    )


def _chart(found: OfferedLoads, limit_ms: float) -> Canvas:
    curves = [
        _curve(found, "p99", "stage1", lambda run: run.p99_ms),
        _curve(found, "p99 from sent", "soft", lambda run: run.figure("service_p99_ms")),
        _curve(found, "p50", "stage0", lambda run: run.p50_ms),
    ]
    ends = [line_chart.point(share, limit_ms) for share in (0.0, 100.0)]
    limit = Curve(name=f"limit {limit_ms:g} ms", colour="ink", points=ends, style="dash")
    return sheet.chart(
        "Response time, ms",
        [*curves, limit],
        x_title="% of maximum",
        x_ends=(0.0, 100.0),
        is_logarithmic=True,
        may_leave=True,
        size=(300.0, 170.0),
        right=90.0,
    )


def _curve(found: OfferedLoads, name: str, colour: str, of: Callable[[Run], float | None]) -> Curve:
    over = [(100 * one.rate_rps / found.maximum_rps, one.milliseconds(of)) for one in found.rates]
    return sheet.curve(name, colour, over)


def _table(cell: Cell, found: OfferedLoads, limit_ms: float) -> Table:
    runs = [run for rate in found.rates for run in rate.runs]
    columns: list[Column[OfferedRate]] = [
        Column("offered/s", lambda one: wording.rate(one.rate_rps)),
        Column("of maximum", lambda one: f"{one.rate_rps / found.maximum_rps:.0%}"),
        Column("answered/s", lambda one: wording.rate(one.throughput.median)),
        *map(_milliseconds, of_view("offered_load", _COLUMNS, {}, runs)),
    ]
    return sheet.table(
        f"Percentiles over the offered load: {cell}",
        f"{answer(found, limit_ms)} The maximum of a closed loop is "
        f"{wording.rate(found.maximum_rps)} requests/s. {_HOW_TO_READ}",
        columns,
        found.rates,
        keeps_empty=True,
    )


def _milliseconds(number: Number) -> Column[OfferedRate]:
    def text(rate: OfferedRate) -> str:
        spread = rate.milliseconds(number.of)
        return wording.milliseconds_with_range(spread) if spread else wording.NOTHING

    return Column(number.title, text)


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {"offered_load": offered_loads}
TERMS: list[str] = []  # those of the sweeps, and what the captions say


_HALVES = ("dots", "dash")


@dataclass(frozen=True)
class _System:
    name: str
    tail: series.Tail


def tail_figures(measured: Sequence[tuple[Cell, OfferedLoads]], folder: Folder) -> list[Figure]:
    """One for each row whose distributions are in the folder."""
    rows = dict.fromkeys(cell.row for cell, _ in measured)
    drawn = ((row, _systems(row, measured, folder)) for row in rows)
    return [_tail_figure(row, systems) for row, systems in drawn if systems]


def _systems(
    row: str, measured: Sequence[tuple[Cell, OfferedLoads]], folder: Folder
) -> list[_System]:
    found = []
    for cell, loads in measured:
        rate = _rate_to_show(loads) if cell.row == row else None
        tail = _tail(folder, typical(rate.runs)) if rate else None
        if rate and tail:
            found.append(_System(f"{cell.stage} {wording.rate(rate.rate_rps)}/s", tail))
    return found


def _rate_to_show(loads: OfferedLoads) -> OfferedRate | None:
    """The most that keeps the limit, or else the lowest that was offered."""
    kept = loads.answer.keeps_rps if loads.answer else 0.0
    at_most = [rate for rate in loads.rates if rate.rate_rps <= kept]
    return at_most[-1] if at_most else next(iter(loads.rates), None)


def typical(runs: Sequence[Run]) -> Run:
    """The one in the middle by its p99; of two the better one. Requires: there is one."""
    return sorted(runs, key=lambda run: run.p99_ms or 0.0)[(len(runs) - 1) // 2]


def _tail(folder: Folder, run: Run) -> series.Tail | None:
    evidence = folder.evidence(run) or {}
    return series.tail(evidence.get("loadgen", {}))


def _tail_figure(row: str, systems: Sequence[_System]) -> Figure:
    curves = []
    for index, system in enumerate(systems):
        colour = palette.of_stage(index, len(systems))
        curves.append(Tail(name=system.name, colour=colour, buckets=system.tail.whole))
        for half, style in zip(system.tail.halves, _HALVES):
            curves.append(Tail(name="", colour=colour, buckets=half, style=style))
    return Figure(
        name=f"tail-{row}",
        title=f"Tail of the response times: {row_title(row)}",
        caption="Response times in ms over their percentile, of the run with the typical p99 at "
        "the most that keeps the limit. The axis gives each further nine as much room as the one "
        "before. Dots: the first half of the run, dashes: the second one; where they differ, the "
        "run has drifted.",
        canvases=[tail_chart.draw("Response time, ms, over its percentile", curves)],
    )
