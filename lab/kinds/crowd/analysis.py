"""Sums up the trials of a crowd: who holds at each number of users, and the most that do."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from ...plan.catalog import Cell
from ...results.environment import Environment
from ...results.records import Run
from .procedure import Answer, UserSearch, holds, most_users


@dataclass(frozen=True)
class Step:
    """All valid trials of a cell with one number of users."""

    users: int
    runs: list[Run]

    @property
    def do_hold(self) -> bool:
        """In every trial."""
        return all(map(holds, self.runs))

    @property
    def left(self) -> float:
        """How many users there were at the end."""
        return statistics.median(run.figure("users_held") or 0 for run in self.runs)

    def value(self, of: Callable[[Run], float | None]) -> float | None:
        """The median of what was measured; None if it was not."""
        found = [value for run in self.runs if (value := of(run)) is not None]
        return statistics.median(found) if found else None

    def used_cores(self, component: str) -> float | None:
        return self.value(lambda run: run.used_cores(component))


@dataclass(frozen=True)
class CrowdResult:
    cell: Cell
    steps: list[Step]  # in rising order of users; those without a valid trial are left out
    answer: Answer | None  # None when the search did not end
    spoiled: int  # trials that are not valid

    @property
    def at_most(self) -> Step | None:
        """The trials with the most users that hold; None if none did."""
        held = [step for step in self.steps if step.do_hold]
        return held[-1] if held else None


def of_cell(cell: Cell, runs: list[Run], environment: Environment) -> CrowdResult | None:
    """None when it has no trial. runs are all of the folder."""
    own = [run for run in runs if run.cell == cell]
    by_users: dict[int, list[Run]] = {}
    for run in own:
        if run.is_valid:
            by_users.setdefault(run.threads, []).append(run)
    trial = environment.mode.crowd
    if not own or not trial:
        return None
    steps = [Step(users, by_users[users]) for users in sorted(by_users)]
    is_ftp = "ftp" in environment.stages[cell.stage].loadgen
    most = most_users(environment.descriptors or max(run.threads for run in own), is_ftp)
    search = UserSearch(trial, most)
    spoiled = sum(not run.is_valid for run in own)
    return CrowdResult(cell, steps, search.answer(own), spoiled)
