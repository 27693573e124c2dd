"""What a view gets, and what several views ask of it."""

from dataclasses import dataclass

from ..analysis import gains
from ..analysis.cells import Analysis, CellResult
from ..analysis.gains import Gain
from ..plan import papers
from ..plan.catalog import Cell, Experiment, Stage, row_title
from ..plan.papers import Numbers, Peak
from ..results.environment import Environment
from ..results.records import Folder
from .document import Block

# Of components, where there is little room.
SHORT_NAMES = {"authserver": "auth", "fileserver": "files", "loadgen": "load", "store": "store"}

Step = tuple[Stage, Stage]  # a stage and the next one


@dataclass(frozen=True)
class Scene:
    """What a view gets."""

    experiment: Experiment
    stages: list[Stage]  # those of this report, in order
    rows: list[str]
    analysis: Analysis
    environment: Environment
    folder: Folder

    def answers(self) -> list[str]:
        """What was found, in sentences for the first page. [] for a kind without views."""
        views = self.experiment.kind.part("views")
        found: list[str] = views.answers(self) if views else []
        return found

    def lead(self) -> str:
        """The finding as a title. "" for a kind that has none of its own, or without a finding."""
        views = self.experiment.kind.part("views")
        found: str = views.lead(self) if hasattr(views, "lead") else ""
        return found

    def figures(self) -> list[Block]:
        """Those of the first page."""
        views = self.experiment.kind.part("views")
        found: list[Block] = views.figures(self) if views else []
        return found

    @property
    def printed(self) -> Numbers:
        """What the paper printed."""
        return papers.numbers(self.experiment.paper)

    @property
    def steps(self) -> list[Step]:
        """Each stage and the next one."""
        return list(zip(self.stages, self.stages[1:]))

    @property
    def has_papers_numbers(self) -> bool:
        return any(self.peak(stage, row) for stage in self.stages for row in self.rows)

    @property
    def measured(self) -> int:
        """How many of its cells were measured."""
        return sum(
            self.result(stage, row) is not None for stage in self.stages for row in self.rows
        )

    def result(self, stage: Stage, row: str) -> CellResult | None:
        return self.analysis.result(Cell(stage.name, row))

    def results(self, stage: Stage) -> list[tuple[str, CellResult]]:
        """The measured cells of a stage, by their rows."""
        return [(row, found) for row in self.rows if (found := self.result(stage, row))]

    def peak(self, stage: Stage, row: str) -> Peak | None:
        return self.printed.peak(self.experiment.numbers, stage.name, row)

    def paper_rate(self, stage: Stage, row: str) -> float | None:
        peak = self.peak(stage, row)
        return peak.throughput_rps if peak else None

    def paper_gain(self, step: Step, row: str) -> float | None:
        before, after = (self.paper_rate(stage, row) for stage in step)
        return after / before if before and after else None

    def paper_is_inside(self, step: Step, row: str) -> bool | None:
        """Whether the paper's gain lies in our interval; None if there is no such question."""
        gain, paper = self.gain(step, row), self.paper_gain(step, row)
        if gain is None or paper is None or not gain.spread.is_interval:
            return None
        if self.analysis.is_shared:  # ours is one in CPU time
            return None
        return gain.spread.low <= paper <= gain.spread.high

    def gain(self, step: Step, row: str) -> Gain | None:
        return gains.gain(self.analysis, step[0].name, step[1].name, row)


def short_title(row: str) -> str:
    """For figures: the size, or `new`."""
    return row_title(row).removeprefix("get ")
