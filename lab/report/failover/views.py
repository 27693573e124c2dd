"""The view of a failover: each second of a run, and what it came to."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.catalog import FAILOVER, Cell
from ...results import series as kept
from ...results.records import Run
from ...workloads import outage
from ...workloads.outage import Outage
from ...workloads.series import Series
from .. import series_views, wording
from ..charts import series_chart
from ..charts.line_chart import Mark
from ..document import Block, Figure, Table
from ..scene import Scene
from . import words

_HEADER = [
    "",
    "run",
    "failed",
    "cause",
    "first answer",
    "p50 before",
    "after",
    "p99 before",
    "after",
]


def answers(scene: Scene) -> list[str]:
    """One for each cell, of its typical run."""
    found = []
    for cell in _cells(scene):
        runs = _valid(scene, cell)
        seen = _outage(scene, typical(runs)) if runs else None
        if seen:
            found.append(f"{cell}: {words.sentences(seen, typical(runs).errors)}")
    return found


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
    rows = [
        _row(run, seen)
        for cell in _cells(scene)
        for run in _valid(scene, cell)
        if (seen := _outage(scene, run))
    ]
    if not rows:
        return []
    return [
        Table(
            title="Failovers, run by run",
            caption="Failed: requests, and the share of all. The first answer is counted from the "
            "start of the server that was killed. Response times in ms: medians of single seconds.",
            header=_HEADER,
            rows=rows,
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
        Cell(stage.name, row, workload=FAILOVER) for stage in scene.stages for row in scene.rows
    ]


def _runs(scene: Scene, cell: Cell) -> list[Run]:
    return [run for run in scene.analysis.runs if run.cell == cell]


def _valid(scene: Scene, cell: Cell) -> list[Run]:
    return [run for run in _runs(scene, cell) if run.is_valid]


def _series(scene: Scene, run: Run) -> Series:
    return kept.unpacked(scene.folder.evidence(run) or {})


def _outage(scene: Scene, run: Run) -> Outage | None:
    return outage.of_series(_series(scene, run))


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


def _row(run: Run, seen: Outage) -> list[str]:
    times = [
        wording.milliseconds(getattr(one, which)) if one else wording.NOTHING
        for which in ("p50", "p99")
        for one in (seen.before, seen.after)
    ]
    share = seen.failed / seen.requests if seen.requests else 0.0
    return [
        run.cell.stage,
        str(run.repeat),
        f"{seen.failed:,} ({share:.1%})",
        run.errors,
        words.waited(seen) or "none",
        *times,
    ]
