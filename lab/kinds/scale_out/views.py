"""The view of hosts behind a proxy: rate, files in memory, and each second of a loss."""

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
from . import KIND
from . import analysis as hosts
from .analysis import HostsResult, Paper, Station, steady

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
    said = [(row, sentences(results(scene, row))) for row in scene.rows]
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


def results(scene: Scene, row: str) -> list[HostsResult]:
    return hosts.of_stages(scene.analysis.runs, scene.stages, row)


def sentences(found: Sequence[HostsResult]) -> list[str]:
    """Those of which something was measured."""
    even = [one for one in found if not one.cluster.is_lost]
    first = next((one for one in even if one.cluster.hosts == 1), None)
    more = [one for one in even if one is not first]
    said = [_against(one, first) for one in more] if first else []
    said += [_loss(one) for one in found if one.cluster.is_lost]
    paper = _paper(even)
    return [one for one in (*said, paper) if one]


def _against(one: HostsResult, first: HostsResult) -> str:
    rate, held = (passes.ratio(one, first, name) for name in (RATE, "files_held"))
    if not rate:
        return ""
    which = "the same files" if one.cluster.is_same else "files of its own"
    of_memory = f", and hold {wording.times(held.median)} the files in memory" if held else ""
    return (
        f"{one.cluster.hosts} hosts, each with {which} first, answer {wording.times(rate.median)} "
        f"the requests of one{of_memory}."
    )


def _loss(one: HostsResult) -> str:
    failed = sum(one.by_pass("failed_requests").values())
    taken, moved = one.median("taken_over_s"), one.median("names_moved")
    how = f"after {wording.rate(taken)} s" if taken is not None else "not within the run"
    share = passes.ratio(one, one, "rate_without_rps", "rate_before_rps")
    how += f", with {wording.percent(share.median)} of the rate before" if share else ""
    return (
        f"When one of {one.cluster.hosts} hosts was lost, "
        f"{wording.plural(round(failed), 'request')} failed, {wording.number(moved)} names moved, "
        f"and the others had taken over {how}."
    )


def _paper(even: Sequence[HostsResult]) -> str:
    source = base(even)
    paper = hosts.on_paper(source) if source else None
    if paper is None:
        return ""
    first = paper.stations[0]
    return (
        f"By the demands, {first.name}, is full at host {first.full_at} of this kind, and with "
        f"hosts of a whole core at host {first.full_at_cores}."
    )


def base(even: Sequence[HostsResult]) -> HostsResult | None:
    """The stage whose demands are used: the most hosts, with files of their own."""
    own = [one for one in even if not one.cluster.is_same]
    return max(own, key=lambda one: one.cluster.hosts, default=None)


_COUNTS = (1, 2, 3, 10, 30, 100)
_MANY = 100


def on_paper(scene: Scene) -> list[Block]:
    """Two tables for each row whose demands are known."""
    found: list[Block] = []
    for row in scene.rows:
        source = base(steady(results(scene, row)))
        paper = hosts.on_paper(source) if source else None
        if source and paper:
            found += [_stations(row, source.stage.name, paper), _rates(row, paper)]
    return found


def _stations(row: str, stage: str, paper: Paper) -> Table:
    many_rps = _MANY * paper.core_rps
    host = f"{wording.microseconds(paper.host_demand_s)} µs"
    columns: list[Column[Station]] = [
        Column("station", lambda one: one.name),
        Column("D, µs", lambda one: wording.microseconds(one.demand_s)),
        Column("at most, requests/s", lambda one: wording.rate(one.most_rps)),
        Column("as measured", lambda one: str(one.full_at), "full at host"),
        Column("whole cores", lambda one: str(one.full_at_cores), "full at host"),
        Column("needed", lambda one: f"{one.needed(many_rps):,}"),
    ]
    return sheet.table(
        f"On paper: what is full first, files of {row}",
        f"Demands of {stage} by the utilisation law D = U / X. A request takes a host "
        f"{host}, so a host as it was measured answers {wording.rate(paper.host_rps)} in a second, "
        f"and one with a whole core {wording.rate(paper.core_rps)}. All requests pass the stations "
        "below, and one of each carries at most 1 / D. Full at: the number of hosts that bring so "
        f"much. Needed: how many of them {_MANY} hosts of a whole core need.",
        columns,
        paper.stations,
    )


def _rates(row: str, paper: Paper) -> Table:
    def most(has_whole_cores: bool) -> Callable[[int], str]:
        return lambda count: wording.rate(paper.at_most_rps(count, has_whole_cores=has_whole_cores))

    columns: list[Column[int]] = [
        Column("hosts", str),
        Column("as measured", most(False)),
        Column("hosts alone", lambda count: wording.rate(count * paper.host_rps)),
        Column("of a whole core", most(True)),
        Column("hosts alone", lambda count: wording.rate(count * paper.core_rps)),
    ]
    return sheet.table(
        f"On paper: the most that n hosts answer, files of {row}",
        "The asymptote min(n / D of a host, 1 / D of the first full station), in "
        "requests/s, with one proxy of one core, one link of it and one authserver. Hosts alone: "
        "with as many of these as are needed.",
        columns,
        _COUNTS,
    )
