"""How much faster one cell is than another: the one estimator of a gain.

Each cell has a level in each pass, the geometric mean of its throughput over the N of its plateau.
These are the N with 95% of the highest median. A level varies less than the throughput at one N,
and the choice of the luckiest N does not raise it. The gain is the ratio of the levels within each
pass. Where both were measured side by side, it is the ratio within each block, at the same N.

On a machine that others use, the requests for each second of the servers' CPU time stand in place
of throughput: other programs take time from a request, and add little to its CPU time.
"""

import statistics
from dataclasses import dataclass

from ..plan.catalog import Cell
from ..plan.planned import Pair
from ..procedures import side_by_side, sweep
from ..results.records import Run
from . import intervals
from .cells import Analysis, CellResult
from .intervals import Spread


@dataclass(frozen=True)
class Gain:
    """spread is the ratio after / before, with its 99% interval if there are enough passes."""

    spread: Spread
    is_lower_bound: bool  # one of the two maxima was not reached, so the ratio tells nothing
    threads: int | None = None  # of a measurement side by side; None: each at its own maximum


def gain(analysis: Analysis, before: str, after: str, row: str) -> Gain | None:
    """The gain of one stage over another at this row. None when one was not measured.

    It is that of the blocks side by side, if there are enough of them.
    """
    pair = Pair(before, after, row)
    blocks = side_by_side.complete_blocks(analysis.runs, pair)
    if len(blocks) >= intervals.FEWEST_FOR_INTERVAL:
        levels = {
            block: _levels_of_block(pair, trials, analysis.is_shared)
            for block, trials in blocks.items()
        }
        spread = intervals.paired_ratio(
            {block: level[1] for block, level in levels.items()},
            {block: level[0] for block, level in levels.items()},
        )
        return Gain(spread, False, next(iter(blocks.values()))[0].threads)
    first, second = analysis.result(Cell(before, row)), analysis.result(Cell(after, row))
    return between(first, second) if first and second else None


def between(before: CellResult, after: CellResult) -> Gain:
    """The same for any two cells of one results folder."""
    return Gain(
        intervals.paired_ratio(_levels(after), _levels(before)),
        before.is_lower_bound or after.is_lower_bound,
    )


def apart(before: CellResult, after: CellResult) -> Gain:
    """That of two results folders, whose passes have no moment in common."""
    return Gain(
        intervals.apart_ratio([*_levels(after).values()], [*_levels(before).values()]),
        before.is_lower_bound or after.is_lower_bound,
    )


def _levels_of_block(pair: Pair, trials: list[Run], is_shared: bool) -> list[float]:
    """That of the stage before, and that of the one after."""
    return [
        statistics.geometric_mean(_rate(run, is_shared) for run in trials if run.cell == cell)
        for cell in pair.cells
    ]


def _rate(run: Run, is_shared: bool) -> float:
    return run.throughput_rps / (run.servers_cores if is_shared else 1)


def _levels(result: CellResult) -> dict[int, float]:
    """pass -> level, over the N that were measured in the same passes as the best one."""
    passes = result.best.by_pass
    plateau = [
        {run.repeat: _rate(run, result.is_shared) for run in point.runs}
        for point in result.points
        if point.by_pass.keys() == passes.keys()
        and point.throughput.median >= sweep.N_STAR_SHARE * result.best.throughput.median
    ]
    return {
        repeat: statistics.geometric_mean(rates[repeat] for rates in plateau) for repeat in passes
    }
