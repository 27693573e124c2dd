"""Sums up the trials of mixes, and says which hits a memory should have."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis.passes import OfPasses
from ...plan.catalog import Stage
from ...results.records import Run
from . import KIND, Mix


@dataclass(frozen=True)
class MixResult(OfPasses):
    """All valid trials of a stage with one number of users; there is one at least."""

    stage: Stage
    mix: Mix
    threads: int
    runs: list[Run]

    @property
    def has_writers(self) -> bool:
        return bool(self.mix.kinds)


def of_stages(runs: Sequence[Run], stages: Sequence[Stage], row: str) -> list[MixResult]:
    """In the order of the stages, and of the users within each."""
    found = []
    for stage in stages:
        own = [
            run
            for run in runs
            if run.is_valid
            and (run.cell.stage, run.cell.row, run.cell.workload) == (stage.name, row, KIND.name)
        ]
        for threads in sorted({run.threads for run in own}):
            at = [run for run in own if run.threads == threads]
            if stage.mix:
                found.append(MixResult(stage, stage.mix, threads, at))
    return found


@dataclass(frozen=True)
class Held:
    """What the hits of a mix should be, by the popularity of the files that are in memory."""

    by_name: float  # of the first ones in the order of the names, in which our server reads them
    best: float  # of the most popular ones


def expected(row: str, files: int, mix: Mix) -> Held:
    """Requires: files > 0."""
    weights = [number**-mix.zipf for number in range(1, files + 1)]
    by_name = sorted(range(1, files + 1), key=lambda number: f"{row}{number}.txt")
    held = min(round(mix.in_memory * files), files)
    return Held(
        by_name=sum(weights[number - 1] for number in by_name[:held]) / sum(weights),
        best=sum(weights[:held]) / sum(weights),
    )
