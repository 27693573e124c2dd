"""The views of crowds: the most users that hold, who is left, and what the load generator needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rig.place import LOOPBACK

from ...plan.catalog import Stage
from ...report import wording
from ...report.columns import Column, Writing, of_view
from ...report.document import Block, Table
from ...report.printed import printed
from ...report.scene import Scene
from ...results.records import Run
from .analysis import CrowdResult, Step
from .figures import figures as figures
from .found import measured, tried, users_held

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
    found = [(row, *one) for row in scene.rows for one in tried(scene, row)]
    columns = of_view("crowd_maxima", _MAXIMA, _WRITINGS, _runs(one for _, _, one in found))
    rows = [_maximum_row(scene, stage, row, one, columns) for row, stage, one in found]
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


def _maximum_row(
    scene: Scene, stage: Stage, row: str, found: CrowdResult, columns: list[Column]
) -> list[str]:
    stack = scene.environment.stack(found.cell)
    asks = stack.store_settings.get("asks whom", "our authserver") if stack else ""
    rate = f"{stage.crowd.rate_bytes_s:g}" if stage.crowd else ""
    fails = found.answer.fails if found.answer else None
    return [
        *(stage.name, asks, row, rate, users_held(found), wording.count(fails)),
        *_texts(found.at_most, columns),
        _why(found),
    ]


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
