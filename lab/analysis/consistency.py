"""Whether the numbers of a folder can be of one measurement, by what different programs counted.

The load generator counts requests and bytes, the lab divides them, and the kernel counts the bytes
that went over the network meanwhile. Who changes one of them by hand, or a part of a folder, has
the others against him. What agrees is no proof: all of it could be made up.
"""

import statistics
from collections.abc import Iterable, Sequence

from ..kinds import CLOSED_LOOP
from ..plan import catalog
from ..plan.catalog import Cell
from ..results.records import Run
from . import resources

_LEAST_CARRIED = 0.85  # of the bytes of files; the kernel counts those of the protocol, too
_MOST_DIFFERENCE = 0.05  # of two numbers that are the same
_LEAST_S = 1.0  # of a trial; the kernel is sampled now and then


def contradictions(runs: Iterable[Run]) -> list[str]:
    """A sentence for each closed loop whose numbers contradict each other."""
    cells: dict[Cell, list[Run]] = {}
    for run in runs:
        if run.cell.kind is CLOSED_LOOP and run.is_valid and run.elapsed_s >= _LEAST_S:
            cells.setdefault(run.cell, []).append(run)
    return [said for cell, own in cells.items() if (said := _contradiction(cell, own))]


def _contradiction(cell: Cell, runs: Sequence[Run]) -> str:
    """ "" without one."""
    carried = [share for run in runs if (share := _carried(run)) is not None]
    if carried and statistics.median(carried) < _LEAST_CARRIED:
        return (
            f"{cell}: the kernel carried {statistics.median(carried):.0%} of the bytes that were "
            "received, as the table has them"
        )
    rates = [run.throughput_rps * run.elapsed_s / run.requests for run in runs if run.requests]
    if rates and abs(statistics.median(rates) - 1) > _MOST_DIFFERENCE:
        return (
            f"{cell}: the requests are {1 / statistics.median(rates):.2f} times those that the "
            "throughput makes in that time"
        )
    return ""


def _carried(run: Run) -> float | None:
    """What the kernel carried, of the bytes of the files; None if it did not count, or if there
    were no files.
    """
    size, rate = catalog.sizes().get(run.cell.row), resources.carried(run)
    if size is None or rate is None or run.throughput_rps <= 0:
        return None
    return rate / (run.throughput_rps * size.size_bytes)
