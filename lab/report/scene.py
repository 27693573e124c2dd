"""What a view gets, and the sentences that captions share."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import gains
from ..analysis.cells import Analysis, CellResult
from ..analysis.gains import Gain
from ..plan import papers
from ..plan.catalog import Cell, Experiment, Stage
from ..plan.papers import Numbers, Peak
from ..results.environment import Environment
from ..results.records import Folder
from ..rig.cores import counted


@dataclass(frozen=True)
class Scene:
    """What a view gets."""

    experiment: Experiment
    stages: list[Stage]  # those of this report, in order
    rows: list[str]
    analysis: Analysis
    environment: Environment
    folder: Folder

    @property
    def configuration(self) -> str:
        """A sentence for captions: how all stages of the experiment were measured."""
        plan = (
            "the fileserver on the given number of cores" if self.experiment.each_core_count else ""
        )
        return configuration(self.environment, self.stages, plan)

    def result(self, stage: Stage, row: str) -> CellResult | None:
        return self.analysis.result(Cell(stage.name, row))

    @property
    def printed(self) -> Numbers:
        """What the paper printed."""
        return papers.numbers(self.experiment.paper)

    def peak(self, stage: Stage, row: str) -> Peak | None:
        return self.printed.peak(self.experiment.numbers, stage.name, row)

    def ours(self, stage: Stage, row: str) -> float | None:
        result = self.result(stage, row)
        return result.best.throughput.median if result else None

    def gain(self, before: Stage, after: Stage, row: str) -> Gain | None:
        return gains.gain(self.analysis, before.name, after.name, row)

    def paper_gain(self, before: Stage, after: Stage, row: str) -> float | None:
        """That of the experiment's own table."""
        first, second = self.paper_rate(before, row), self.paper_rate(after, row)
        return second / first if first and second else None

    def paper_rate(self, stage: Stage, row: str) -> float | None:
        peak = self.peak(stage, row)
        return peak.throughput_rps if peak else None


def method(environment: Environment) -> str:
    mode = environment.mode
    repeated = "each once" if mode.repeat == 1 else f"deciding points {mode.repeat} times"
    return f"points of {mode.seconds:g} s after {mode.warmup_s:g} s of warm-up, {repeated}"


def configuration(environment: Environment, stages: list[Stage], plan: str = "") -> str:
    """plan says how the components were pinned, if not as on the command line."""
    chosen = environment.placement.of_run().plan
    parts = [
        f"{environment.mode.name} run, {method(environment)}",
        "loopback",
        counted(len(environment.cores)),
        plan or ("nothing pinned" if chosen == "none" else f"pinning: {chosen}"),
    ]
    kinds = sorted(
        {
            stack.store
            for slug, stack in environment.stacks.items()
            if any(slug.startswith(f"{stage.name}-") for stage in stages)
        }
    )
    if kinds:
        parts.append(f"store: {', '.join(kinds)}")
    if stages:
        parts.append(f"passwords: {', '.join(sorted({stage.passwords for stage in stages}))}")
    if cold := [stage.name for stage in stages if stage.cold]:
        parts.append(f"caches dropped before each get of {', '.join(cold)}, and no warm-up")
    return "Configuration: " + "; ".join(parts) + "."


def durability(scene: Scene) -> str:
    """What an OK to `new` guarantees, for every store of the experiment."""
    return " ".join(
        filter(None, dict.fromkeys(stage_durability(scene, stage) for stage in scene.stages))
    )


def stage_durability(scene: Scene, stage: Stage) -> str:
    """The same for one stage. Empty when no store of it was recorded."""
    for result in scene.analysis.results():
        recorded = scene.environment.stack(result.cell)
        if result.cell.stage == stage.name and recorded:
            return recorded.durability
    return ""
