"""Tail curves of the open loops of a row: one for each system, in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...plan.catalog import Cell, row_title
from ...report import wording
from ...report.charts import palette, tail_chart
from ...report.charts.tail_chart import Tail
from ...report.document import Figure
from ...results import distributions
from ...results.records import Folder, Run
from .analysis import OfferedLoads, OfferedRate

_HALVES = ("dots", "dash")


@dataclass(frozen=True)
class _System:
    name: str
    tail: distributions.Tail


def figures(measured: Sequence[tuple[Cell, OfferedLoads]], folder: Folder) -> list[Figure]:
    """One for each row whose distributions are in the folder."""
    rows = dict.fromkeys(cell.row for cell, _ in measured)
    drawn = ((row, _systems(row, measured, folder)) for row in rows)
    return [_figure(row, systems) for row, systems in drawn if systems]


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


def _tail(folder: Folder, run: Run) -> distributions.Tail | None:
    evidence = folder.evidence(run) or {}
    return distributions.tail(evidence.get("loadgen", {}))


def _figure(row: str, systems: Sequence[_System]) -> Figure:
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
