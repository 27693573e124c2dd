"""The views of crowds: the most users that hold, who is left, and what the load generator needs."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.crowds import CrowdResult, Step
from ..plan.catalog import CROWD, Cell, Stage
from ..results.records import Run
from ..rig.place import LOOPBACK
from . import wording
from .charts import line_chart, named_bars
from .charts.line_chart import Axes, Curve
from .columns import Column, Writing, of_view
from .document import Block, Figure, Table
from .printed import printed
from .scene import Scene

_COLOURS = ("stage0", "stage1", "stage2", "ink")
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


_MAXIMA: tuple[str | Column, ...] = (
    *("processes_each", "threads_each", "descriptors_each", "proportional_bytes_each"),
    Column("segments a fetch", _segments),
    Column("server CPU", lambda run: run.used_cores("fileserver")),
    Column("load CPU", lambda run: run.used_cores("loadgen")),
)
_ENGINES: tuple[str | Column, ...] = (
    "loadgen_least_cores",
    Column("mean", lambda run: run.used_cores("loadgen")),
    *("loadgen_most_cores", "wakeups_per_read", "signal_overflows"),
    Column("segments", _segments),
    "rate_error_worst",
)
_WRITINGS = {
    "B": Writing(text=wording.byte_size),
    "share": Writing(text=lambda share: wording.percent(share, 1)),
}


def maxima(scene: Scene) -> list[Block]:
    """Table B: how many users each server bears."""
    measured = [(row, *one) for row in scene.rows for one in _measured(scene, row)]
    columns = of_view("crowd_maxima", _MAXIMA, _WRITINGS, _runs(found for _, _, found in measured))
    rows = [_maximum_row(scene, stage, row, found, columns) for row, stage, found in measured]
    table = Table(
        title="The most users that hold",
        caption=f"Found by doubling, halving and confirming. {_EACH}",
        header=[
            *("server", "asks whom", "file", "rate, B/s", "users", "fewest that do not"),
            *(column.title for column in columns),
            "why they drop out",
        ],
        rows=rows,
    )
    return [*([table] if rows else []), *printed(scene)]


def left(scene: Scene) -> list[Block]:
    """Table C: users started, and users left."""
    blocks: list[Block] = []
    for row in scene.rows:
        found = _measured(scene, row)
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
        found = _measured(scene, row)
        if not found:
            continue
        columns = of_view("crowd_engines", _ENGINES, _WRITINGS, _runs(one for _, one in found))
        rows = [_engine_row(stage, step, columns) for stage, one in found for step in one.steps]
        blocks.append(
            Table(
                title=f"How the users wait, {row}",
                caption="CPU of the load generator in cores: least, mean and most of its samples. "
                "Wake-ups are for each read that found bytes. An overflow of the queue of signals "
                "means one call of poll(). Segments are those of TCP in both directions, for each "
                "fetch, with the questions to our authserver.",
                header=["engine", "users", "left", *(column.title for column in columns)],
                rows=rows,
            )
        )
    return [*blocks, *printed(scene)]


def figures(scene: Scene) -> list[Block]:
    """Of the first page: the users that each server bears, and what users cost the generator."""
    found: list[Block] = []
    for row in scene.rows:
        measured = _measured(scene, row)
        if measured and "crowd_engines" in scene.experiment.views:
            found.append(_engines_figure(row, measured))
        if measured and "crowd_maxima" in scene.experiment.views:
            found.append(_maxima_figure(row, measured))
    return found


def answers(scene: Scene) -> list[str]:
    """What was found, a sentence for each row; [] for another workload."""
    if scene.experiment.workload != CROWD:
        return []
    texts = []
    for row in scene.rows:
        held = [
            f"{stage.name} {_users(found)}"
            for stage, found in _measured(scene, row)
            if not stage.steps
        ]
        if held:
            texts.append(f"The most users of {row} that hold: {', '.join(held)}.")
    return texts


def _measured(scene: Scene, row: str) -> list[tuple[Stage, CrowdResult]]:
    return [
        (stage, found)
        for stage in scene.stages
        if (found := scene.analysis.crowd(Cell(stage.name, row, workload=CROWD)))
    ]


def _runs(results: Iterable[CrowdResult]) -> list[Run]:
    return [run for found in results for step in found.steps for run in step.runs]


def _maximum_row(
    scene: Scene, stage: Stage, row: str, found: CrowdResult, columns: list[Column]
) -> list[str]:
    stack = scene.environment.stack(found.cell)
    asks = stack.store_settings.get("asks whom", "our authserver") if stack else ""
    rate = f"{stage.crowd.rate_bytes_s:g}" if stage.crowd else ""
    fails = found.answer.fails if found.answer else None
    return [
        *(stage.name, asks, row, rate, _users(found), wording.count(fails)),
        *_texts(found.at_most, columns),
        _why(found),
    ]


def _users(found: CrowdResult) -> str:
    """A sign says when the host could try no more, or when the search did not end."""
    most = found.at_most.users if found.at_most else 0
    if found.answer is None:
        return f"≥ {most:,}, not ended"
    return f"{found.answer.holds:,}" if found.answer.fails else f"≥ {found.answer.holds:,}"


def _why(found: CrowdResult) -> str:
    """The causes at the fewest users that do not hold."""
    failed = [step for step in found.steps if not step.do_hold]
    return failed[0].runs[0].errors if failed else ""


def _left_of(found: CrowdResult, users: int) -> str:
    return next((f"{step.left:g}" for step in found.steps if step.users == users), "")


def _engine_row(stage: Stage, step: Step, columns: list[Column]) -> list[str]:
    engine = stage.crowd.engine if stage.crowd else ""
    return [engine, str(step.users), f"{step.left:g}", *_texts(step, columns)]


def _texts(step: Step | None, columns: list[Column]) -> list[str]:
    return [column.text(step.value(column.of)) if step else "" for column in columns]


def _engines_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    curves = [
        Curve(
            name=stage.crowd.engine if stage.crowd else stage.name,
            colour=_COLOURS[index % len(_COLOURS)],
            points=[
                line_chart.point(step.users, step.used_cores("loadgen") or 0.0)
                for step in one.steps
            ],
        )
        for index, (stage, one) in enumerate(found)
    ]
    axes = Axes(
        x_low=0.0,
        x_high=float(max(step.users for _, one in found for step in one.steps)),
        y_values=[0.0, *(point.value for curve in curves for point in curve.points if point)],
        x_title="users",
    )
    chart = line_chart.draw("Cores of the load generator", curves, axes, size=(300.0, 170.0))
    return Figure(
        name=f"engines-{row}",
        title=f"What the users cost the load generator, {row}",
        caption="By how it waits for bytes; the users and the server are the same.",
        canvases=[chart],
    )


def _maxima_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    most = [one.at_most.users if one.at_most else 0 for _, one in found]
    bars = [(stage.name, float(users), _users(one)) for (stage, one), users in zip(found, most)]
    return Figure(
        name=f"most-users-{row}",
        title=f"The most users that hold, {row}",
        caption="≥: the host could try no more, or the search did not end.",
        canvases=[named_bars.draw("users", bars, max(1.0, *map(float, most)), "stage1")],
    )
