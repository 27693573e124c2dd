"""A procedure: the most users of a crowd that hold, by doubling, halving and confirming.

A number of users holds when nobody drops out. It knows only the runs so far, so an interrupted run
of the lab can be resumed. There is one pass: a search does not depend on the order of cells.
"""

from dataclasses import dataclass

from rig.host import raise_descriptor_limit

from ...plan.catalog import CrowdTrial
from ...plan.planned import Planned, Setting
from ...results.records import Run

_OTHER_DESCRIPTORS = 100


@dataclass(frozen=True)
class Answer:
    """Most users that hold. fails is the fewest that do not; None if the host could try no more."""

    holds: int
    fails: int | None


@dataclass(frozen=True)
class UserSearch:
    trial: CrowdTrial
    most_users: int  # that this host can try

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """The number of users to try next; None when the answer is known, or is not to be had."""
        if repeat > 1 or self._is_hopeless(runs):
            return None
        holds, fails = self._bounds(runs)
        if fails is None:
            users = min(2 * holds, self.most_users) if holds else self._first()
            return Setting(users) if users > holds or not self._is_sure(runs, holds) else None
        if holds == 0:
            return Setting(fails // 2) if fails > 1 else None
        if fails / holds > self.trial.close_enough and fails - holds > 1:
            return Setting((holds + fails) // 2)
        return None if self._is_sure(runs, holds) else Setting(holds)

    def points_in_all(self, runs: list[Run]) -> int | None:
        return len(runs) if self.next_setting(runs, 1) is None else None

    def answer(self, runs: list[Run]) -> Answer | None:
        """None as long as the search has not ended, or when its trials were invalid."""
        if not runs or self._is_hopeless(runs) or self.next_setting(runs, 1) is not None:
            return None
        return Answer(*self._bounds(runs))

    def _first(self) -> int:
        return min(self.trial.first_users, self.most_users)

    def _bounds(self, runs: list[Run]) -> tuple[int, int | None]:
        """The most users that hold below the fewest that do not.

        More that hold than some that do not is luck: one trial in which users drop out decides.
        """
        valid = [run for run in runs if run.is_valid]
        fails = min((run.threads for run in valid if not holds(run)), default=None)
        held = [run.threads for run in valid if fails is None or run.threads < fails]
        return max(held, default=0), fails

    def _is_sure(self, runs: list[Run], users: int) -> bool:
        agreeing = sum(run.threads == users and run.is_valid and holds(run) for run in runs)
        return agreeing >= self.trial.confirmations

    def _is_hopeless(self, runs: list[Run]) -> bool:
        """Trials with the same number of users that stay invalid."""
        spoiled = [run.threads for run in runs if not run.is_valid]
        return any(spoiled.count(users) > self.trial.confirmations for users in set(spoiled))


def most_users(descriptors: int, is_ftp: bool) -> int:
    """Whom the load generator can have with so many descriptors: two for each user over FTP."""
    return max(1, (descriptors - _OTHER_DESCRIPTORS) // (2 if is_ftp else 1))


def holds(run: Run) -> bool:
    """Whether every user kept to its rate until the end."""
    return run.figure("users_held") == run.threads


def procedure(planned: Planned) -> UserSearch:
    assert planned.mode.crowd  # see plan/options.py
    _, descriptors = raise_descriptor_limit()
    is_ftp = "ftp" in planned.stage.loadgen
    return UserSearch(planned.mode.crowd, most_users(descriptors, is_ftp))
