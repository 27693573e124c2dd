"""A procedure: two stages side by side, in blocks A B B A at the same N, for the gain of one.

Both systems are up, and the four trials of a block follow each other within seconds. So a drift of
the machine cancels out, and so does an N at which one of them happened to be lucky. Every second
block is B A A B. A block counts as a whole or not at all: what an interrupted run of the lab left
of one is not continued.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from rig.errors import Failed

from ..plan.planned import Pair, Planned, Setting
from ..results.records import Run
from . import saturation
from .bench import Bench, Trials

_ORDERS = ((0, 1, 1, 0), (1, 0, 0, 1))  # of an odd and of an even block
_TRIES = 2  # of one command at a block
_WARMUP_S = 0.5
_MOST_MEMORY = 0.6  # of what is free, for the files of two systems that prefetch


def run(bench: Bench) -> None:
    """All pairs of the plan, as far as they are not in the folder yet."""
    for pair in bench.plan.pairs:
        try:
            threads = bench.plan.shared_threads or same_threads(bench.runs, pair)
            if threads and missing_blocks(bench.runs, pair, bench.plan.mode.blocks):
                _compare(bench, pair, threads)
            bench.environment.problems.pop(str(pair), None)
        except Failed as error:
            bench.note_problem(pair, error)


def same_threads(runs: list[Run], pair: Pair) -> int | None:
    """The N at which both are measured: the larger of their N*. None if one has no valid point."""
    swept = [
        [
            (one.threads, one.repeat, one.throughput_rps)
            for one in runs
            if one.cell == cell and not one.pair and one.is_valid
        ]
        for cell in pair.cells
    ]
    return max(map(saturation.value_of, swept)) if all(swept) else None


def complete_blocks(runs: list[Run], pair: Pair) -> dict[int, list[Run]]:
    """block -> its four trials, all valid."""
    found: dict[int, list[Run]] = {}
    for one in runs:
        if one.pair == pair.name and one.cell.row == pair.row and one.is_valid:
            found.setdefault(one.repeat, []).append(one)
    return {block: trials for block, trials in found.items() if len(trials) == len(_ORDERS[0])}


def missing_blocks(runs: list[Run], pair: Pair, wanted: int) -> int:
    return max(0, wanted - len(complete_blocks(runs, pair)))


def _compare(bench: Bench, pair: Pair, threads: int) -> None:
    """Makes the blocks that are missing."""
    wanted = bench.plan.mode.blocks
    with both_ready((bench, bench), pair) as make:
        for _ in range(_TRIES * wanted):
            if not missing_blocks(bench.runs, pair, wanted):
                break
            failures = make(Setting(threads))
            bench.note_tried(failures, is_last_try=True)


@contextmanager
def both_ready(benches: tuple[Bench, Bench], pair: Pair) -> Iterator[Callable[[Setting], str]]:
    """Yields what makes a block, and returns why it failed. Each block has fresh servers, so what
    differs from start to start is part of its chance. Only the stores live as long as all blocks.

    Both benches share one folder.
    """
    mode = benches[0].plan.mode
    short = replace(mode, seconds=mode.block_seconds, warmup_s=min(_WARMUP_S, mode.warmup_s))
    planned = [
        replace(bench.plan.planned[cell], mode=short) for bench, cell in zip(benches, pair.cells)
    ]
    _require_memory(planned)
    with ExitStack() as stores:
        ready = [
            stores.enter_context(bench.ready(one.stage)) for bench, one in zip(benches, planned)
        ]

        def make(setting: Setting) -> str:
            with ExitStack() as both:
                sides = [
                    both.enter_context(bench.opened(one, of_stage))
                    for bench, one, of_stage in zip(benches, planned, ready)
                ]
                return _make_block(benches[0], pair, sides, setting)

        yield make


def _make_block(bench: Bench, pair: Pair, sides: list[Trials], setting: Setting) -> str:
    number = 1 + max(
        (one.repeat for one in bench.runs if (one.pair, one.cell.row) == (pair.name, pair.row)),
        default=0,
    )
    made = [sides[side].make(setting, number, pair.name) for side in _ORDERS[(number + 1) % 2]]
    failures = "; ".join(one.failures for one in made if one.failures)
    bench.progress.compared(pair, setting, number, [one.throughput_rps for one in made], failures)
    return failures


def _require_memory(sides: list[Planned]) -> None:
    """Two systems that prefetch have all files twice."""
    needs = [
        one.size.size_bytes * one.file_count for one in sides if one.size and not one.stage.cold
    ]
    need, free = sum(needs), os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if len(needs) > 1 and need > _MOST_MEMORY * free:
        raise Failed(
            f"both at once need {need / 1e9:.1f} GB of memory, and {free / 1e9:.1f} are free: the "
            "gain is that of the passes"
        )
