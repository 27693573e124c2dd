"""The view of a failover: each second of a run, and what it came to."""

import math
from collections.abc import Callable, Sequence

from ...plan.catalog import Cell
from ...report import series_views, sheet, wording
from ...report.charts import series_chart
from ...report.charts.line_chart import Mark
from ...report.document import Block, Figure
from ...report.scene import Scene
from ...report.sheet import Column
from ...results import series as kept
from ...results.records import Run
from ...workloads.outcome import Series
from . import KIND, load
from .load import Outage, Times

_Line = tuple[Run, Outage]


def _time(title: str, which: str, of: Callable[[Outage], Times | None]) -> Column[_Line]:
    def cell(line: _Line) -> str:
        times = of(line[1])
        return wording.milliseconds(getattr(times, which)) if times else wording.NOTHING

    return Column(title, cell)


_COLUMNS: list[Column[_Line]] = [
    Column("", lambda line: line[0].cell.stage),
    Column("run", lambda line: str(line[0].repeat)),
    Column("failed", lambda line: _failed(line[1])),
    Column("cause", lambda line: line[0].errors),
    Column("first answer", lambda line: waited(line[1]) or "none"),
    _time("p50 before", "p50", lambda seen: seen.before),
    _time("after", "p50", lambda seen: seen.after),
    _time("p99 before", "p99", lambda seen: seen.before),
    _time("after", "p99", lambda seen: seen.after),
]


def answers(scene: Scene) -> list[str]:
    """One for each cell, of its typical run."""
    found = []
    for cell in _cells(scene):
        runs = _valid(scene, cell)
        seen = _outage(scene, typical(runs)) if runs else None
        if seen:
            found.append(f"{cell}: {sentences(seen, typical(runs).errors)}")
    return found


def lead(scene: Scene) -> str:
    """Of the cell whose users waited longest."""
    seen = [
        _outage(scene, typical(runs)) for cell in _cells(scene) if (runs := _valid(scene, cell))
    ]
    known = [one for one in seen if one]
    return summary(max(known, key=_longest_wait)) if known else ""


def figures(scene: Scene) -> list[Block]:
    """Of each cell its typical run; of one without a valid run the last one."""
    found: list[Block] = []
    for cell in _cells(scene):
        valid, all_runs = _valid(scene, cell), _runs(scene, cell)
        run = typical(valid) if valid else next(reversed(all_runs), None)
        series = _series(scene, run) if run else None
        if run and series and series.seconds:
            found.append(_figure(run, series))
    return found


def table(scene: Scene) -> list[Block]:
    lines = [
        (run, seen)
        for cell in _cells(scene)
        for run in _valid(scene, cell)
        if (seen := _outage(scene, run))
    ]
    if not lines:
        return []
    return [
        sheet.table(
            "Failovers, run by run",
            "Failed: requests, and the share of all. The first answer is counted from the "
            "start of the server that was killed. Response times in ms: medians of single seconds.",
            _COLUMNS,
            lines,
            keeps_empty=True,
        )
    ]


def typical(runs: Sequence[Run]) -> Run:
    """The one in the middle by how long it waited for the first answer; of two the better one.

    Requires: there is one.
    """
    waited = sorted(
        runs,
        key=lambda run: (run.figure("first_answer_s") is None, run.figure("first_answer_s") or 0.0),
    )
    return waited[(len(runs) - 1) // 2]


def _cells(scene: Scene) -> list[Cell]:
    return [
        Cell(stage.name, row, workload=KIND.name) for stage in scene.stages for row in scene.rows
    ]


def _runs(scene: Scene, cell: Cell) -> list[Run]:
    return [run for run in scene.analysis.runs if run.cell == cell]


def _valid(scene: Scene, cell: Cell) -> list[Run]:
    return [run for run in _runs(scene, cell) if run.is_valid]


def _series(scene: Scene, run: Run) -> Series:
    return kept.unpacked(scene.folder.evidence(run) or {})


def _outage(scene: Scene, run: Run) -> Outage | None:
    return load.of_series(_series(scene, run))


def _figure(run: Run, series: Series) -> Figure:
    which = "" if run.is_valid else f" This run is not valid: {run.failures}."
    return Figure(
        name=f"series-{run.cell.slug}",
        title=f"Each second of a run: {run.cell}",
        caption=f"Requests are due at random moments, {wording.rate(run.offered_rps)} in a second. "
        "Dashed: what was done to the servers. Above: how many were answered, and in red how many "
        "failed. Below: response times of those that were answered; a gap is a second without one."
        f"{which}",
        canvases=series_chart.draw(
            [series_views.drawn(one) for one in series.seconds],
            [Mark(event.t, event.what) for event in series.events],
        ),
        columns=1,
        shows=frozenset({f"series of {run.name}"}),
    )


def _failed(seen: Outage) -> str:
    share = seen.failed / seen.requests if seen.requests else 0.0
    return f"{seen.failed:,} ({share:.1%})"


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "failover": lambda scene: [*figures(scene), *table(scene)]
}
TERMS = [
    "Failover: an open loop at a fixed rate. A server is killed with SIGKILL at a third of the "
    "run, so that it cannot end in order, and started again on its address at two thirds. Requests "
    "are due whether or not it is there. Those that fail are counted by the second.",
    "First answer: the series knows whole seconds, so how long it took after the start is known to "
    "a second. The start of the program itself is part of it.",
    "As before: the usual second afterwards takes at most one and a half times as long as the "
    "usual one before, or no longer than a quarter of those, by its p50 and by its p99. The first "
    "second of the run and the first one with an answer are left out. "
    "Response times are those of requests that were answered.",
    "Self-checks: no request failed before the server was killed. Every request that was due "
    "ended, and the series has all of them. The load generator was on time. Other programs used at "
    "most 10% of the cores. A run that fails one is drawn, but its numbers are in no table.",
]


def _longest_wait(seen: Outage) -> float:
    return seen.waited_s[1] if seen.waited_s else math.inf


def summary(seen: Outage) -> str:
    """As a title has it."""
    away = f"The {seen.component} was away for {seen.started_s - seen.killed_s:.1f} s"
    if seen.waited_s is None:
        return f"{away}, and nothing was answered after its start"
    share = f"{seen.failed / seen.requests:.1%} of the" if seen.failed else "no"
    return f"{away}: {share} requests failed, first answer {waited(seen)}"


def sentences(seen: Outage, causes: str) -> str:
    """causes is "cause count, …", as a Run has its errors."""
    said = [
        f"The {seen.component} was killed after {seen.killed_s:.1f} s and started again after "
        f"{seen.started_s:.1f} s.",
        failed(seen, causes),
        *_meanwhile(seen),
        answered(seen),
        *afterwards(seen),
    ]
    return " ".join(said)


def failed(seen: Outage, causes: str) -> str:
    if not seen.failed:
        return f"None of {seen.requests:,} requests failed."
    return (
        f"{seen.failed:,} of {seen.requests:,} requests failed ({causes}), the last one in second "
        f"{seen.last_failed}."
    )


def _meanwhile(seen: Outage) -> list[str]:
    if not seen.answered_meanwhile:
        return []
    requests = wording.plural(seen.answered_meanwhile, "request")
    return [f"While it was away, {requests} had an answer all the same."]


def answered(seen: Outage) -> str:
    if seen.waited_s is None:
        return "Nothing was answered after the start."
    return f"The first answer after the start came in second {seen.first_answered}: {waited(seen)}."


def waited(seen: Outage) -> str:
    """How long after the start the first answer came; "" if none did."""
    if seen.waited_s is None:
        return wording.NOTHING
    least, most = seen.waited_s
    return f"{least:.1f} to {most:.1f} s later" if least else f"at most {most:.1f} s later"


def afterwards(seen: Outage) -> list[str]:
    """[] if it cannot be told."""
    if seen.is_as_before is None or seen.before is None or seen.after is None:
        return []
    how = "as before" if seen.is_as_before else "longer than before"
    return [
        f"Afterwards response times were {how}: p50 {both(seen.before, seen.after, 'p50')}, "
        f"p99 {both(seen.before, seen.after, 'p99')}."
    ]


def both(before: Times, after: Times, which: str) -> str:
    first, then = (wording.milliseconds(getattr(one, which)) for one in (before, after))
    return f"{then} ms ({first} before)"
