"""The views of crowds: the most users that hold, who is left, and what the load generator needs."""

from collections.abc import Callable, Iterable

from rig.place import LOOPBACK

from ...plan.catalog import Cell, Stage
from ...report import sheet, wording
from ...report.charts import line_chart, stacked_bars
from ...report.charts.line_chart import Curve
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column, Number, OfRun, Writing, of_view
from ...report.tables import printed
from ...results.records import Run
from . import KIND
from .analysis import CrowdResult, Step

_EACH = (
    "Processes, threads, descriptors and memory are what a user adds to the servers (ours: both). "
    "Memory is PSS, without the kernel's for sockets. CPU in cores, while the number was stable. "
    "Segments are those of TCP in both directions, for each fetch, with the questions to our "
    "authserver."
)


def _segments(run: Run) -> float | None:
    """For each fetch: all that the lab's network namespace sent, which has both ends."""
    sent = run.usage.figure("tcp_sent_segments_per_s")
    if sent is None or not run.throughput_rps or run.topology != LOOPBACK:
        return None
    return sent / run.throughput_rps


_MAXIMA: tuple[str | Number, ...] = (
    *("processes_each", "threads_each", "descriptors_each", "proportional_bytes_each"),
    Number("segments a fetch", _segments),
    Number("server CPU", lambda run: run.used_cores("fileserver")),
    Number("load CPU", lambda run: run.used_cores("loadgen")),
)
_ENGINES: tuple[str | Number, ...] = (
    "loadgen_least_cores",
    Number("mean", lambda run: run.used_cores("loadgen")),
    *("loadgen_most_cores", "wakeups_per_read", "signal_overflows"),
    Number("segments", _segments),
    "rate_error_worst",
)
_WRITINGS = {
    "B": Writing(text=wording.byte_size),
    "share": Writing(text=lambda share: wording.percent(share, 1)),
}
_Found = tuple[str, Stage, CrowdResult]  # with its row


def maxima(scene: Scene) -> list[Block]:
    """Table B: how many users each server bears."""
    found = [(row, *one) for row in scene.rows for one in tried(scene, row)]
    numbers = of_view("crowd_maxima", _MAXIMA, _WRITINGS, _runs(one for _, _, one in found))
    columns: list[Column[_Found]] = [
        Column("server", lambda one: one[1].name),
        Column("asks whom", lambda one: _asks_whom(scene, one[2])),
        Column("file", lambda one: one[0]),
        Column("rate, B/s", lambda one: f"{one[1].crowd.rate_bytes_s:g}" if one[1].crowd else ""),
        Column("users", lambda one: users_held(one[2])),
        Column("fewest that do not", lambda one: _fewest_that_do_not(one[2])),
        *(one.column(_at_most) for one in numbers),
        Column("why they drop out", lambda one: _why(one[2])),
    ]
    caption = f"Found by doubling, halving and confirming. {_EACH}"
    table = sheet.table("The most users that hold", caption, columns, found, keeps_empty=True)
    return [*([table] if found else []), *printed(scene)]


def _at_most(found: _Found, of: OfRun) -> float | None:
    return found[2].at_most.value(of) if found[2].at_most else None


def left(scene: Scene) -> list[Block]:
    """Table C: users started, and users left."""
    blocks: list[Block] = []
    for row in scene.rows:
        found = measured(scene, row)
        started = sorted({step.users for _, one in found for step in one.steps})
        rows = [[str(users), *(_left_of(one, users) for _, one in found)] for users in started]
        if rows:
            blocks.append(
                Table(
                    title=f"Users that are left, {row}",
                    caption="Of as many as were started; medians of the trials.",
                    header=["started", *(stage.name for stage, _ in found)],
                    rows=rows,
                )
            )
    return [*blocks, *printed(scene)]


def engines(scene: Scene) -> list[Block]:
    """Table A: what the load generator needs for the same users, by how it waits."""
    blocks: list[Block] = []
    for row in scene.rows:
        found = measured(scene, row)
        if not found:
            continue
        numbers = of_view("crowd_engines", _ENGINES, _WRITINGS, _runs(one for _, one in found))
        columns: list[Column[tuple[Stage, Step]]] = [
            Column("engine", lambda one: one[0].crowd.engine if one[0].crowd else ""),
            Column("users", lambda one: str(one[1].users)),
            Column("left", lambda one: f"{one[1].left:g}"),
            *(one.column(_of_step) for one in numbers),
        ]
        blocks.append(
            sheet.table(
                f"How the users wait, {row}",
                "CPU of the load generator in cores: least, mean and most of its samples. "
                "Wake-ups are for each read that found bytes. An overflow of the queue of signals "
                "means one call of poll(). Segments are those of TCP in both directions, for each "
                "fetch, with the questions to our authserver.",
                columns,
                [(stage, step) for stage, one in found for step in one.steps],
                keeps_empty=True,
            )
        )
    return [*blocks, *printed(scene)]


def _of_step(found: tuple[Stage, Step], of: OfRun) -> float | None:
    return found[1].value(of)


def answers(scene: Scene) -> list[str]:
    """What was found, a sentence for each row."""
    texts = []
    for row in scene.rows:
        held = [
            f"{stage.name} {users_held(found)}"
            for stage, found in tried(scene, row)
            if not stage.steps
        ]
        if held:
            texts.append(f"The most users of {row} that hold: {', '.join(held)}.")
    return texts


def _runs(results: Iterable[CrowdResult]) -> list[Run]:
    return [run for found in results for step in found.steps for run in step.runs]


def _asks_whom(scene: Scene, found: CrowdResult) -> str:
    stack = scene.environment.stack(found.cell)
    return stack.store_settings.get("asks whom", "our authserver") if stack else ""


def _fewest_that_do_not(found: CrowdResult) -> str:
    return wording.count(found.answer.fails if found.answer else None)


def _why(found: CrowdResult) -> str:
    """The causes at the fewest users that do not hold."""
    failed = [step for step in found.steps if not step.do_hold]
    return failed[0].runs[0].errors if failed else ""


def _left_of(found: CrowdResult, users: int) -> str:
    return next((f"{step.left:g}" for step in found.steps if step.users == users), "")


def figures(scene: Scene) -> list[Block]:
    """The users that each server bears, and what users cost the generator."""
    found: list[Block] = []
    for row in scene.rows:
        shown = measured(scene, row)
        if shown and "crowd_engines" in scene.experiment.views:
            found.append(_engines_figure(row, shown))
        if shown and "crowd_maxima" in scene.experiment.views:
            found.append(_maxima_figure(row, shown))
    return found


def _engines_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    curves = [
        Curve(
            name=stage.crowd.engine if stage.crowd else stage.name,
            colour=sheet.COLOURS[index % len(sheet.COLOURS)],
            points=[
                line_chart.point(step.users, step.used_cores("loadgen") or 0.0)
                for step in one.steps
            ],
        )
        for index, (stage, one) in enumerate(found)
    ]
    chart = sheet.chart(
        "Cores of the load generator",
        curves,
        x_title="users",
        x_ends=(0.0, float(max(step.users for _, one in found for step in one.steps))),
        size=(300.0, 170.0),
    )
    return Figure(
        name=f"engines-{row}",
        title=f"What the users cost the load generator, {row}",
        caption="By how it waits for bytes; the users and the server are the same.",
        canvases=[chart],
    )


def _maxima_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    most = [one.at_most.users if one.at_most else 0 for _, one in found]
    bars = [(stage.name, float(users), users_held(one)) for (stage, one), users in zip(found, most)]
    return Figure(
        name=f"most-users-{row}",
        title=f"The most users that hold, {row}",
        caption="≥: the host could try no more, or the search did not end.",
        canvases=[stacked_bars.draw_named("users", bars, max(1.0, *map(float, most)), "stage1")],
    )


def tried(scene: Scene, row: str) -> list[tuple[Stage, CrowdResult]]:
    """Also those of which no trial is valid, so that the report says so."""
    return [
        (stage, found)
        for stage in scene.stages
        if (found := scene.analysis.crowd(Cell(stage.name, row, workload=KIND.name)))
    ]


def measured(scene: Scene, row: str) -> list[tuple[Stage, CrowdResult]]:
    return [(stage, found) for stage, found in tried(scene, row) if found.steps]


def users_held(found: CrowdResult) -> str:
    """A sign says when the host could try no more, or when the search did not end."""
    most = found.at_most.users if found.at_most else 0
    if not found.steps:
        return f"no valid trial of {found.spoiled}"
    if found.answer is None:
        spoiled = f", trials not valid: {found.spoiled}" if found.spoiled else ""
        return f"≥ {most:,}, not ended{spoiled}"
    return f"{found.answer.holds:,}" if found.answer.fails else f"≥ {found.answer.holds:,}"


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "crowd_maxima": maxima,
    "crowd_left": left,
    "crowd_engines": engines,
}
TERMS = [
    "User: logs in once and fetches one file over and over, at its rate. It drops out when "
    "a fetch failed, or was slower than a share of the rate (75% unless the stage says otherwise).",
    "Users that hold: those that are left when their number has not changed for the stable time. A "
    "trial holds if all hold.",
    "The most users: found by doubling until a trial does not hold, and halving the distance. The "
    "last number must hold in repeated trials, and the next one must fail in them. ≥: the host "
    "could try no more, or the search did not end.",
    "What each takes: the servers' processes, threads, descriptors and memory with all users, less "
    "those before the first, over their number.",
    "Findings: a server bears more users if it holds as many as the other one fails with. A way "
    "to wait is cheaper if, wherever all users hold, every trial of it took less CPU than every "
    "trial of the other.",
]
