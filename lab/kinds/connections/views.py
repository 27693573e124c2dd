"""The view of many connections: what each model costs over N, with all active and most idle."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis import passes
from ...plan.catalog import Stage
from ...report import sheet, wording
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column
from . import analysis as connections
from .analysis import CPU, P99, RATE, RESIDENT, SWITCHES, Step

_KILO, _MEGA, _MICRO = 1e-3, 1e-6, 1e6
_ACTIVE: list[Column[Step]] = [
    Column("stage", lambda one: one.cell.stage),
    Column("N", lambda one: f"{one.connections:,}"),
    sheet.interval("requests/s", RATE),
    sheet.interval("p99, ms", P99),
    sheet.interval("resident, MB", RESIDENT, "memory", _MEGA),
    sheet.interval("with the kernel’s, MB", "server_group_bytes", "memory", _MEGA),
    sheet.interval("switches", SWITCHES, "a request"),
    sheet.interval("CPU, µs", CPU, "a request", _MICRO),
    Column("remark", lambda one: one.why_not),
]


def _idle(without: Mapping[str, Step]) -> list[Column[Step]]:
    """without has the step of each stage in which no connection is idle."""

    def against(name: str) -> Callable[[Step], str]:
        def text(one: Step) -> str:
            first = without[one.cell.stage]
            return sheet.times(passes.ratio(one, first, name) if one is not first else None)

        return text

    memory, threads = "an idle one, kB", "an idle one"
    return [
        *_ACTIVE[:3],
        Column("of those without", against(RATE)),
        _ACTIVE[3],
        Column("of that without", against(P99)),
        sheet.interval("programs", "proportional_bytes_each", memory, _KILO),
        sheet.interval("with the kernel’s", "group_bytes_each", memory, _KILO),
        sheet.median("threads", "threads_each", wording.three_digits, threads),
        sheet.median("processes", "processes_each", wording.three_digits, threads),
        _ACTIVE[-1],
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
        said = sentences(active, idle)
        found += [" ".join([f"Files of {row}.", *said])] if said else []
    return found


def lead(scene: Scene) -> str:
    """Of the first files of which two models were measured."""
    found = (
        summary(row, [one.steps for one in _stages(scene, row, has_idle=False)])
        for row in scene.rows
    )
    return next((said for said in found if said), "")


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
    return sheet.table(
        f"All connections ask, files of {row}",
        "Of the program that serves files: its memory, its context switches for each request, and "
        "its CPU time for each. Medians of the passes, with their interval below.",
        _ACTIVE,
        [one for own in measured for one in own.steps],
    )


def _of_idle(row: str, measured: Sequence[Measured]) -> Table:
    return sheet.table(
        f"Most connections are idle, files of {row}",
        "Those that ask are as many in all rows of a stage; the first row has no idle "
        "ones, and the others are held against it. What each idle connection adds to the "
        "servers: memory of the programs (PSS), memory with the kernel’s of the program that "
        "serves files, threads and processes. Medians of the passes, with their interval.",
        _idle({own.stage.name: own.steps[0] for own in measured}),
        [one for own in measured for one in own.steps],
    )


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
        sheet.curve(
            own.stage.name.partition("-")[2],
            colour,
            [(one.connections, found) for one in own.steps if (found := one.figure(name))],
            factor=factor,
        )
        for own, colour in zip(measured, sheet.COLOURS)
    ]
    return sheet.chart(
        title,
        curves,
        x_title="N",
        x_base=10,
        has_ticks=True,
        is_logarithmic=is_logarithmic,
        right=70.0,
    )


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


Stages = Sequence[Sequence[Step]]  # of each stage, in rising order of N


def sentences(active: Stages, idle: Stages) -> list[str]:
    """Those of which something was measured."""
    said = [_rates(active), _switches(active), _memory(idle), _left(idle), _refused(active, idle)]
    return [one for one in said if one]


def summary(row: str, active: Stages) -> str:
    """As a title has it."""
    at = _common(active, RATE)
    return (
        f"Files of {row}, {at[0].connections:,} connections: requests/s of {_rates_of(at)}"
        if at
        else ""
    )


def _rates(active: Stages) -> str:
    """Where the most stages were measured; of such N the largest."""
    at = _common(active, RATE)
    if not at:
        return ""
    return f"With {at[0].connections:,} connections that all ask, requests/s: {_rates_of(at)}."


def _rates_of(steps: Sequence[Step]) -> str:
    return ", ".join(f"{_name(one)} {wording.rate(one.median(RATE))}" for one in steps)


def _switches(active: Stages) -> str:
    at = _common(active, SWITCHES)
    if not at:
        return ""
    found = [f"{_name(one)} {wording.three_digits(one.median(SWITCHES))}" for one in at]
    return f"Context switches of the server for each of these requests: {', '.join(found)}."


def _memory(idle: Stages) -> str:
    at = _common(idle, "proportional_bytes_each")
    if not at:
        return ""
    found = [f"{_name(one)} {_size(one, 'proportional_bytes_each')}" for one in at]
    with_kernels = [one for one in at if one.median("group_bytes_each") is not None]
    more = [f"{_name(one)} {_size(one, 'group_bytes_each')}" for one in with_kernels]
    said = f"An idle connection takes of the servers’ programs: {', '.join(found)}"
    return (
        f"{said}; with the kernel’s part of the server: {', '.join(more)}." if more else f"{said}."
    )


def _left(idle: Stages) -> str:
    """What idle connections leave of the rate of those that ask."""
    at = _common([steps[1:] for steps in idle], RATE)
    first = {steps[0].cell: steps[0] for steps in idle}
    known = [(one, passes.ratio(one, first[one.cell], RATE)) for one in at]
    found = [f"{_name(one)} {wording.percent(ratio.median)}" for one, ratio in known if ratio]
    if not found:
        return ""
    return (
        f"Beside them, {at[0].connections:,} connections in all, those that ask keep of their "
        f"requests/s: {', '.join(found)}."
    )


def _refused(active: Stages, idle: Stages) -> str:
    """Points that have no valid run."""
    names = [
        f"{one.cell.stage} with {one.connections:,}"
        for steps in (*active, *idle)
        for one in steps
        if one.why_not
    ]
    return f"Not measured: {wording.few(names)}; the table says why." if names else ""


def _common(stages: Stages, name: str) -> list[Step]:
    """The steps that have this figure, at the N at which most stages have it, the largest of them;
    [] unless two have it there.
    """
    by_n: dict[int, list[Step]] = {}
    for steps in stages:
        for one in steps:
            if one.median(name) is not None:
                by_n.setdefault(one.connections, []).append(one)
    found = max(by_n.items(), key=lambda item: (len(item[1]), item[0]), default=(0, []))[1]
    return found if len(found) > 1 else []


def _name(one: Step) -> str:
    """models-thread-idle: thread."""
    return one.cell.stage.removesuffix("-idle").partition("-")[2]


def _size(one: Step, name: str) -> str:
    return wording.byte_size(one.median(name))
