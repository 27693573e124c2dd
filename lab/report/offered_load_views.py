"""The view of an open loop: response times over the offered load, and the most within a limit."""

from __future__ import annotations

from ..analysis import offered_load
from ..analysis.offered_load import OfferedLoads, OfferedRate
from ..plan import plan
from ..plan.catalog import OPEN_LOOP, Cell, Stage, row_title
from . import wording
from .document import Block, Paragraph, Table
from .scene import Scene

_HOW_TO_READ = (
    "Requests are due at random moments (Poisson), whether or not earlier ones were answered. "
    "Response times start when a request is due, service times when it is sent. The lateness is "
    "the load generator's own and is part of the response time. All are medians of the passes, in "
    "ms, with their interval below; * marks the lowest and highest of two."
)


def offered_loads(scene: Scene) -> list[Block]:
    blocks: list[Block] = []
    limit_ms = plan.p99_limit_ms(scene.environment.options, [scene.experiment])
    for stage in scene.stages:
        for row in scene.rows:
            cell = Cell(stage.name, row, workload=OPEN_LOOP)
            runs = [run for run in scene.analysis.runs if run.cell == cell]
            found = offered_load.of_cell(runs, scene.environment.mode.repeat, limit_ms)
            if found:
                blocks += [
                    Paragraph(f"{cell}: {answer(found, limit_ms)}"),
                    _table(stage, row, found),
                ]
    return blocks


def answer(found: OfferedLoads, limit_ms: float) -> str:
    """The most that keeps p99 under the limit, in a sentence."""
    limit = f"p99 under {limit_ms:g} ms"
    known = found.answer
    if known is None:
        return f"The search for the most that keeps {limit} did not end."
    agreed = f"{known.confirmations} run{'s' if known.confirmations > 1 else ''} at each agree"
    if known.fails_rps is not None and not known.has_failed:
        kept = _part(found, known.keeps_rps) if known.keeps_rps else "no rate"
        failed = _part(found, known.fails_rps)
        return f"{kept} keeps {limit}. More is not known, as runs at {failed} were invalid."
    if not known.keeps_rps:
        lowest = _part(found, known.fails_rps or 0.0)
        return f"No rate keeps {limit}: not even {lowest}, the lowest that was offered."
    if known.fails_rps is None:
        highest = _part(found, known.keeps_rps)
        return f"The limit was not reached: {highest}, the highest that was offered, keeps {limit}."
    return (
        f"The most that keeps {limit} is between {_part(found, known.keeps_rps)}, which keeps it, "
        f"and {_part(found, known.fails_rps)}, which does not ({agreed})."
    )


def _part(found: OfferedLoads, rate_rps: float) -> str:
    share = rate_rps / found.maximum_rps
    return f"{wording.rate(rate_rps)} requests/s ({share:.0%} of the maximum)"


def _table(stage: Stage, row: str, found: OfferedLoads) -> Table:
    return Table(
        title=f"Response times over the offered load: {stage.name}, {row_title(row)}",
        caption=f"The maximum of a closed loop is {wording.rate(found.maximum_rps)} requests/s. "
        f"{_HOW_TO_READ}",
        header=[
            "offered/s",
            "of maximum",
            "answered/s",
            "p50",
            "p90",
            "p99",
            "service p99",
            "late p99",
        ],
        rows=[_row(found, rate) for rate in found.rates],
    )


def _row(found: OfferedLoads, rate: OfferedRate) -> list[str]:
    return [
        wording.rate(rate.rate_rps),
        f"{rate.rate_rps / found.maximum_rps:.0%}",
        wording.rate(rate.throughput.median),
        *(
            wording.milliseconds_with_range(spread)
            for spread in (
                rate.milliseconds(lambda run: run.p50_ms),
                rate.milliseconds(lambda run: run.p90_ms),
                rate.milliseconds(lambda run: run.p99_ms),
                rate.milliseconds(lambda run: run.service_p99_ms),
                rate.milliseconds(lambda run: run.lateness_p99_ms),
            )
        ),
    ]
