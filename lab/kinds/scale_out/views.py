"""The view of hosts behind a proxy: rate, files in memory, and each second of a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...analysis import passes
from ...analysis.intervals import Spread
from ...analysis.passes import RATE
from ...plan.catalog import Cell
from ...report import series_views, sheet, wording
from ...report.charts import line_chart, series_chart
from ...report.charts.line_chart import Curve, Mark
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column
from ...results import series as kept
from ...results.records import Run
from . import KIND, words
from .analysis import HostsResult, steady
from .paper_views import on_paper
from .words import results

_LOST: list[Column[HostsResult]] = [
    Column("stage", lambda one: one.stage.name),
    sheet.interval("before", "rate_before_rps"),
    sheet.interval("without it", "rate_without_rps"),
    Column(
        "share", lambda one: _share(passes.ratio(one, one, "rate_without_rps", "rate_before_rps"))
    ),
    sheet.interval("taken over, s", "taken_over_s"),
    sheet.interval("whole again, s", "whole_again_s"),
    Column("failed", lambda one: wording.number(sum(one.by_pass("failed_requests").values()))),
    sheet.median("names", "names_of_lost", wording.number),
    sheet.median("moved", "names_moved", wording.number),
]


def answers(scene: Scene) -> list[str]:
    said = [(row, words.sentences(results(scene, row))) for row in scene.rows]
    return [" ".join([f"Files of {row}.", *own]) for row, own in said if own]


def figures(scene: Scene) -> list[Block]:
    """Of the rates and the files over the hosts, and of each second of a loss."""
    found: list[Block] = []
    for row in scene.rows:
        own = [one for one in steady(results(scene, row)) if not one.cluster.is_same]
        found += [_over_hosts(row, own)] if len(own) > 1 else []
        found += [
            figure
            for stage in scene.stages
            if stage.cluster and stage.cluster.is_lost
            for figure in _of_loss(scene, Cell(stage.name, row, workload=KIND.name))
        ]
    return found


def tables(scene: Scene) -> list[Block]:
    found: list[Block] = []
    for row in scene.rows:
        all_of_row = results(scene, row)
        even, lost = steady(all_of_row), [one for one in all_of_row if one.cluster.is_lost]
        found += [_table(row, even)] if even else []
        found += [_table_of_losses(row, lost)] if lost else []
    return found


def _table(row: str, found: Sequence[HostsResult]) -> Table:
    return sheet.table(
        f"Hosts behind a proxy, files of {row}",
        "Of one host: times the figure of a single host, within each pass. Most names: "
        "the share of the host that has most of them. Busy: of the shares of a core "
        "that the hosts have, what they used. Medians of the passes, with their interval.",
        _columns(next((one for one in found if one.cluster.hosts == 1), None)),
        found,
    )


def _columns(first: HostsResult | None) -> list[Column[HostsResult]]:
    def against(name: str) -> Callable[[HostsResult], str]:
        return lambda one: sheet.times(
            passes.ratio(one, first, name) if first and one is not first else None
        )

    def percent(title: str, name: str, group: str) -> Column[HostsResult]:
        return sheet.median(title, name, lambda share: wording.percent(share, 1), group)

    return [
        Column("stage", lambda one: one.stage.name),
        Column("hosts", lambda one: str(one.cluster.hosts)),
        sheet.interval("requests/s", RATE),
        Column("of one host", against(RATE)),
        Column("p50, ms", lambda one: _median_ms(one, "p50_ms")),
        Column("p99, ms", lambda one: _median_ms(one, "p99_ms")),
        sheet.median("in memory", "files_in_memory", wording.number, "files"),
        sheet.median("files held", "files_held", wording.number, "files"),
        Column("of one host", against("files_held"), "files"),
        percent("hits", "hit_share", "files"),
        percent("most names", "share_of_most", ""),
        Column("busy", lambda one: wording.percent(one.busy)),
    ]


def _table_of_losses(row: str, lost: Sequence[HostsResult]) -> Table:
    return sheet.table(
        f"A host is lost, files of {row}",
        "Before: requests/s until it is lost. Without it: once the others have taken "
        "over, and as a share of that. Names: those of the lost host, and how many names had "
        "another host then. Failed: requests of all trials.",
        _LOST,
        lost,
        keeps_empty=True,
    )


def _share(found: Spread | None) -> str:
    return wording.percent(found.median) if found else wording.NOTHING


def _median_ms(one: HostsResult, name: str) -> str:
    values = sorted(value for run in one.runs if (value := getattr(run, name)) is not None)
    return wording.milliseconds(values[len(values) // 2]) if values else wording.NOTHING


def _over_hosts(row: str, own: Sequence[HostsResult]) -> Figure:
    return Figure(
        name=f"scale-out-{row}",
        title=f"Hosts behind a proxy: files of {row}",
        caption="Over the number of hosts. Dashed: as many times what one host has. Medians of the "
        "passes with their interval.",
        canvases=[
            _drawn("Requests/s", own, RATE),
            _drawn("Files held in memory", own, "files_held"),
        ],
    )


def _drawn(title: str, own: Sequence[HostsResult], name: str) -> Canvas:
    found = [(one.cluster.hosts, one.figure(name)) for one in own]
    measured = sheet.curve("measured", "stage0", [(n, one) for n, one in found if one])
    points = [one for one in measured.points if one]
    least = min(points, key=lambda one: one.x, default=line_chart.point(1.0, 1.0))
    ideal = [line_chart.point(one.x, one.x / least.x * least.value) for one in points]
    times_one = Curve(name="n times one", colour="ink", points=ideal, style="dash")
    return sheet.chart(title, [measured, times_one], x_title="hosts", has_ticks=True, right=70.0)


def _of_loss(scene: Scene, cell: Cell) -> list[Block]:
    """Of the last valid run; without one of the last run."""
    runs = [run for run in scene.analysis.runs if run.cell == cell]
    run = next((one for one in reversed(runs) if one.is_valid), runs[-1] if runs else None)
    series = kept.unpacked(scene.folder.evidence(run) or {}) if run else None
    if run is None or series is None or not series.seconds:
        return []
    return [
        Figure(
            name=f"series-{cell.slug}",
            title=f"Each second of a run: {cell}",
            caption="Dashed: what was done to a host. Above: how many requests were answered, and "
            f"in red how many failed. Below: their response times.{_why_not(run)}",
            canvases=series_chart.draw(
                [series_views.drawn(one) for one in series.seconds],
                [Mark(event.t, event.what) for event in series.events],
            ),
            columns=1,
            shows=frozenset({f"series of {run.name}"}),
        )
    ]


def _why_not(run: Run) -> str:
    return "" if run.is_valid else f" This run is not valid: {run.failures}."


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "scale_out": lambda scene: [*figures(scene), *tables(scene), *on_paper(scene)]
}
TERMS = [
    "Hosts behind a proxy: each host is a network namespace with a link of its own, and its "
    "fileserver is in a control group with a share of a core. haproxy (one thread) chooses the "
    "host by a consistent hash of the name. The load generator asks for all files equally often, "
    "by HTTP on kept connections. Authserver, store and load generator have no limit.",
    "Own files first: a prefetching fileserver reads files in the order of their names until its "
    "memory is full. Here each host has the names that haproxy gives it as files, and all others "
    "as links to a folder that comes last. With the same files first, each host has the whole "
    "folder as it is.",
    "Files held: different files that come from the memory of some host, as the share of hits "
    "times the number of files. In memory: the sum of what the hosts say, which counts a file "
    "twice that two of them hold.",
    "A lost host: its cable is cut and its fileserver killed at a third of the run. At two thirds "
    "both are there again. Taken over: from the loss to the end of the first of two seconds with "
    "nine tenths of the rate that the other hosts had before. Whole again: the same from the start "
    "of its fileserver, with nine tenths of the whole rate. Both are known to a second.",
    "Self-checks: as those of any closed loop, without a lost host. With one, no request failed "
    "before it was lost. Other programs used at most 10% of the cores.",
]
