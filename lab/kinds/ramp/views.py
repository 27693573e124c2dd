"""The view of ramps: a run over time as clients and server saw it, and what it came to."""

from collections.abc import Callable, Sequence

from ...analysis import change_points, trend
from ...analysis.two_views import Agreement
from ...plan import catalog
from ...report import sheet, wording
from ...report.charts import over_time
from ...report.charts.line_chart import Mark
from ...report.charts.over_time import Average, Axis, Line, Panel, Span
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column
from ...results import series as kept
from ...results.records import Run
from . import capacity_view, words
from .analysis import RampResult
from .gathered import OfGroup

_MIB = 1 << 20
_POINTS = 60  # of a moving average, as the paper has it
_PAPERS_S = 60.0
_MOST_OF_A_RUN = 0.1  # that a moving average over points may span
Values = Sequence[float | None]


def answers(scene: Scene) -> list[str]:
    found = (words.sentence(one, _whole(scene, one)) for one in _valid(scene))
    return [*(sentence for sentence in found if sentence), *capacity_view.answers(scene)]


def figures(scene: Scene) -> list[Block]:
    return [_figure(scene, one) for one in _results(scene)]


def table(scene: Scene) -> list[Block]:
    results = _valid(scene)
    if not results:
        return []
    return [
        sheet.table(
            "Ramps",
            "Uploads are those that succeeded. The knee is with its 99% interval. MiB "
            "are 1,048,576 bytes, Mbit 1,000,000 bits.",
            _RAMPS,
            results,
        ),
        sheet.table(
            "The cost of clients",
            "Slopes over the uploads under way, while clients come, with their 99% "
            "intervals. All clients run on the host too, unless they have hosts of their own. "
            "The servers alone are their PSS. What the CPU goes with are partial "
            "correlations, of which the other cause is taken off.",
            _COSTS,
            results,
        ),
    ]


def hosts(scene: Scene) -> list[Block]:
    """What each group of hosts brought, of runs that had several."""
    results = [one for one in _valid(scene) if len(one.groups) > 1]
    if not results:
        return []
    return [
        sheet.table(
            "Groups of hosts",
            "On the plateau. Fairness is Jain’s index of the rates of a group’s hosts: 1 "
            "if all are alike.",
            _GROUPS,
            [(one, name) for one in results for name in one.groups],
            keeps_empty=True,
        )
    ]


def papers_runs(scene: Scene) -> list[Block]:
    """What the paper printed of the same figures."""
    printed = scene.printed.printed.get("figures")
    if printed is None:
        return []
    rows = [row for row in printed.rows if f"figure{row[0]}" in scene.rows]
    if not rows:
        return []
    caption = (
        "GridFTP 0.13 on two processors of 1,126 MHz. Its GB are 1,073,741,824 bytes and its MB "
        "1,048,576. 10 MB were sent at a time."
    )
    header = list(printed.header)
    return [
        Table(title="The paper’s run", caption=caption, header=header, rows=list(map(list, rows)))
    ]


def _results(scene: Scene) -> list[RampResult]:
    found = (scene.analysis.ramp(stage.name, row) for stage in scene.stages for row in scene.rows)
    return [one for one in found if one]


def _valid(scene: Scene) -> list[RampResult]:
    """Without those at the end of the server's memory: capacity.py has them."""
    found = (one for one in _results(scene) if one.run.is_valid)
    return [one for one in found if not one.is_trial]


def _whole(scene: Scene, one: RampResult) -> RampResult | None:
    """A run of the same server and load that lost no tester."""
    found = (scene.analysis.ramp(one.run.cell.stage, row) for row in catalog.ramps())
    others = (other for other in found if other and other.ramp.has_load_of(one.ramp))
    whole = (other for other in others if other.run.is_valid and not words.has_lost(other.run))
    return next(whole, None)


def _measured(
    title: str, name: str, text: Callable[[float], str], group: str = ""
) -> Column[RampResult]:
    """Of a figure of the run; empty where it has none."""

    def cell(one: RampResult) -> str:
        value = one.run.figure(name)
        return "" if value is None else text(value)

    return Column(title, cell, group)


def _agreement(title: str, text: Callable[[Agreement], str]) -> Column[RampResult]:
    return Column(
        title,
        lambda one: text(one.agreement) if one.agreement else "",
        "server’s view − clients’",
    )


_WHICH: list[Column[RampResult]] = [
    Column("server", lambda one: one.run.cell.stage),
    Column("run", lambda one: one.run.cell.row),
]
_RAMPS: list[Column[RampResult]] = [
    *_WHICH,
    Column("testers", lambda one: words.testers(one.run)),
    Column("uploads", lambda one: f"{one.run.requests:,}"),
    Column("MiB", lambda one: f"{one.run.bytes / _MIB:,.0f}"),
    _measured("MiB/s", "plateau_bytes_s", lambda rate: f"{rate / _MIB:.1f}", "plateau"),
    _measured("Mbit/s", "plateau_bytes_s", lambda rate: f"{rate * 8 / 1e6:.0f}", "plateau"),
    _measured("mean, s", "plateau_mean_ms", lambda mean: f"{mean / 1000:.2f}", "plateau"),
    Column("knee", words.knee, "load"),
    _agreement("mean", lambda found: f"{found.mean.value:+.2%}"),
    _agreement("worst", lambda found: f"{found.worst:+.1%}"),
]
_MEMORY, _CPU, _GOES = "memory of each client", "CPU on the plateau", "the host’s CPU goes"
_COSTS: list[Column[RampResult]] = [
    *_WHICH,
    Column("host, KiB", lambda one: words.memory(one.run, one.memory), _MEMORY),
    Column("servers and kernel, KiB", lambda one: words.memory(one.run, one.group_memory), _MEMORY),
    Column("servers, KiB", lambda one: words.memory(one.run, one.server_memory), _MEMORY),
    Column("host, cores", lambda one: _mean(one, one.machine.cpu_cores), _CPU),
    Column("servers, cores", lambda one: _mean(one, one.machine.server_cores), _CPU),
    Column(
        "with throughput",
        lambda one: words.correlation(one.cpu.with_throughput if one.cpu else None),
        _GOES,
    ),
    Column(
        "with clients",
        lambda one: words.correlation(one.cpu.with_clients if one.cpu else None),
        _GOES,
    ),
]
_Group = tuple[RampResult, str]  # a run, and the name of one of its groups


def _of_group(title: str, text: Callable[[OfGroup], str]) -> Column[_Group]:
    return Column(title, lambda pair: text(pair[0].groups[pair[1]]))


_GROUPS: list[Column[_Group]] = [
    Column("server", lambda pair: pair[0].run.cell.stage),
    Column("run", lambda pair: pair[0].run.cell.row),
    Column("group", lambda pair: pair[1]),
    *(_of_group(title, text) for title, text in words.OF_GROUP.items()),
]


def _mean(one: RampResult, values: Values) -> str:
    return wording.three_digits(one.mean_of(values))


def _figure(scene: Scene, one: RampResult) -> Figure:
    run = one.run
    series = kept.unpacked(scene.folder.evidence(run) or {})
    end_s = one.courses.step_s * len(one.courses.clients)
    start_s, stop_s = one.plateau_s
    canvas = over_time.draw(
        f"{run.cell.stage}: {one.ramp.title}",
        _panels(one, end_s),
        end_s=end_s,
        marks=[Mark(event.t, event.what) for event in series.events if 0 <= event.t <= end_s],
        plateau=Span(start_s, stop_s, _who_is_there(run)) if stop_s > start_s else None,
    )
    return Figure(
        name=f"ramp-{run.cell.stage}-{run.cell.row}",
        title=f"{run.cell.row} over time: {run.cell.stage}",
        caption=words.caption(one),
        canvases=[canvas],
        columns=1,
        shows=frozenset({f"course of {run.name}"}),
    )


def _who_is_there(run: Run) -> str:
    return "all that are left" if words.has_lost(run) else "all clients"


def _panels(one: RampResult, end_s: float) -> list[Panel]:
    clients, server = one.courses.clients, one.courses.server
    times = one.times_s

    def line(name: str, colour: str, values: Values, *, has_changes: bool = False) -> Line:
        return Line(
            name=name,
            colour=colour,
            times_s=times[: len(values)],
            values=values,
            averages=_averages(one, times, values, end_s),
            changes=_changes(times, values) if has_changes else (),
        )

    def seldom(name: str, colour: str, values: Values) -> Line:
        """Read less often than once in a step."""
        known = [(t, value) for t, value in zip(times, values) if value is not None]
        return Line(
            name=name,
            colour=colour,
            times_s=[t for t, _ in known],
            values=[value for _, value in known],
        )

    load = [line("load, clients", "loadgen", [m.load for m in clients])]
    moved = [line("throughput, clients", "loadgen", [m.bytes_per_s / _MIB for m in clients])]
    if server:
        load.append(line("load, server", "fileserver", [m.load for m in server]))
        rates = [m.bytes_per_s / _MIB for m in server]
        moved.append(line("throughput, server", "fileserver", rates))
    took = line("response time", "ink", [_seconds(m.mean_ms) for m in clients])
    received = [_scaled(v) for v in one.machine.received_bytes_s]
    moved.append(line("bytes in", "network", received))
    memory = [
        line("memory of the host", "store", _over_least(one.machine.memory_bytes)),
        seldom(
            "memory of the servers", "fileserver", [_scaled(v) for v in one.machine.server_bytes]
        ),
    ]
    cpu = line("CPU of the host", "user", _rates(one.machine.cpu_cores), has_changes=True)
    return [
        Panel(Axis("uploads", load)),
        Panel(Axis("s", [took])),
        Panel(Axis("MiB/s", moved)),
        Panel(Axis("MiB", [one for one in memory if any(one.values)]), Axis("cores", [cpu])),
    ]


def _averages(
    one: RampResult, times: Sequence[float], values: Values, end_s: float
) -> list[Average]:
    """The paper's own over time, and one over points where these are a small part of the run. A
    series with gaps has none over points; and one over less than a step would be the points once
    more.
    """
    found = []
    span_s = _PAPERS_S / one.ramp.scale.time
    if span_s > one.courses.step_s:
        name = f"mean of {span_s:g} s" + ("" if span_s == _PAPERS_S else ", the paper’s 60")
        means_s = trend.over_seconds(times[: len(values)], values, span_s, end_s)
        found.append(Average(name, means_s))
    known = [value for value in values if value is not None]
    if len(known) == len(values) >= _POINTS / _MOST_OF_A_RUN:
        means = trend.over_points(known, _POINTS)
        found.append(Average(f"mean of {_POINTS} points", means))
    return found


def _changes(times: Sequence[float], values: Values) -> list[float]:
    known = [(t, value) for t, value in zip(times, values) if value is not None]
    found = change_points.of_values([value for _, value in known])
    return [known[change.index][0] for change in found]


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _scaled(value: float | None) -> float | None:
    return None if value is None else max(0.0, value / _MIB)


def _rates(values: Values) -> list[float | None]:
    return [None if value is None else max(0.0, value) for value in values]


def _over_least(values: Values) -> list[float | None]:
    """What the host uses beyond its least: the system itself takes far more than the load."""
    known = [value for value in values if value is not None]
    least = min(known, default=0.0)
    return [None if value is None else (value - least) / _MIB for value in values]


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "ramp": lambda scene: [
        *figures(scene),
        *table(scene),
        *hosts(scene),
        *papers_runs(scene),
    ],
    "capacity": capacity_view.table,
}
TERMS = [
    "Ramp: clients come one by one, from many hosts, and each uploads without a pause for a fixed "
    "life. The plateau is the time in which all are there. Times and files are divided by the "
    "scale; rates are not, so that load and throughput keep their shape.",
    "Load: uploads under way. Of the clients' view it is by what the load generators recorded of "
    "each upload; of the server's by its own log. In the figures both spread the bytes of an "
    "upload evenly over its time; where means are compared, an upload counts when it ends.",
    "Memory of each client: the slope of a line through memory over load while clients come, with "
    "a 99% interval that respects that neighbouring moments depend on each other. The host's "
    "memory is what Ganglia's formula gives: without what is cached. That of servers and kernel is "
    "what the servers' control group holds, without page cache: the programs, and the stacks and "
    "sockets that the kernel keeps for them. That of the servers is their proportional set size.",
    "Knee: the load from which on more of it brings no more throughput, by two lines through the "
    "way up and the plateau; with its 99% interval.",
    "Self-checks: at least two thirds of the testers are left, and each began at most 50 ms late. "
    "Bytes = uploads × size. At most 1% of the uploads failed. On the plateau the clients spent at "
    "least 97% of their time in uploads. Other programs, and the kernel for the links, used at "
    "most 20% of the cores.",
    "Capacity: the uploads under way at which the memory of the servers' control group, without "
    "page cache, comes to its limit. It is foretold by a line through memory over load while "
    "clients come, with its 99% interval. Tried are the most uploads under way until the first one "
    "failed or the kernel ended a session. A run that goes on until then may have failed uploads "
    "and a server that ended.",
]
