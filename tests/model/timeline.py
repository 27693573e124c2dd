"""The model: which states a name may have had when.

A change happens at one moment between `earliest` and `latest`. Of two changes whose times overlap,
either may be the later one. So a name may have several states at one time, and an observation is
right if one of them explains it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

import versions

FOLDER = "a folder"


@dataclass(frozen=True)
class Growing:
    """A file while somebody else writes behind its end: whoever asks is told some size between."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"growing from {self.least} to {self.most} bytes"


State = bytes | str | Growing | None  # the bytes of a file, FOLDER, or nothing there
States = frozenset[State]

NOTHING: States = frozenset()
ABSENT: States = frozenset([None])


@dataclass(eq=False)
class Change:
    """One of `states` is there afterwards. Without any, only times or permissions have changed.

    With `source`, the states are those that this other name had until its `departure`. An uncertain
    change may not have happened. `shown` is when the two seconds begin in which the server has to
    notice it; there are none for what it did itself. No state of this change is there behind
    `ended_by`.
    """

    what: str
    states: States
    earliest: float
    latest: float
    is_certain: bool = True
    shown: float = -math.inf
    source: str = ""
    departure: Change | None = None
    ended_by: Change | None = None

    def is_over(self, now: float, lag_s: float) -> bool:
        """Whether whatever was there before cannot be seen any longer."""
        return self.is_certain and max(self.latest, self.shown + lag_s) < now

    def __str__(self) -> str:
        states = " or ".join(sorted(map(versions.describe, self.states))) or "same bytes"
        doubt = "" if self.is_certain else "perhaps "
        return f"{self.earliest:8.3f} to {self.latest:8.3f} {doubt}{self.what}: {states}"


@dataclass
class Timeline:
    """All changes of all names. Threads: any while it is filled; then one."""

    changes: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _start: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        return time.monotonic() - self._start

    def add(self, change: Change, *names: str) -> Change:
        with self._lock:
            for name in names:
                self.changes[name].append(change)
        return change

    def settle(self) -> None:
        """Works out what depends on changes that were not known in time. Call it once."""
        for name, changes in self.changes.items():
            for change in changes:
                if "/" in name and change.shown == -math.inf:
                    change.ended_by = self._end_of_folder(name.rpartition("/")[0], change)
        moves = [(one, name) for name, all_ in self.changes.items() for one in all_ if one.source]
        for move, _ in sorted(moves, key=lambda pair: pair[0].earliest):
            move.states = self.possible(move.source, move.earliest, move.latest, but=move.departure)

    def _end_of_folder(self, folder: str, change: Change) -> Change | None:
        """The folder had its name when this happened. How the last folder lost it that can be."""
        made = [one for one in self.changes[folder] if FOLDER in one.states]
        begun = max((one.earliest for one in made if one.earliest <= change.latest), default=-1.0)
        gone = [one for one in self.changes[folder] if None in one.states]
        return min(
            (one for one in gone if one.earliest > begun),
            key=lambda one: one.earliest,
            default=None,
        )

    def possible(
        self,
        name: str,
        begin: float,
        end: float,
        lag_s: float = 0.0,
        but: Change | None = None,
    ) -> States:
        """What may have been there at some moment of this time, or seen with this lag."""
        begun = [one for one in self.changes[name] if one.earliest <= end and one is not but]
        over = [one for one in begun if one.is_over(begin, lag_s)]
        newest = max((one.earliest for one in over), default=-math.inf)
        return NOTHING.union(
            *(
                one.states
                for one in begun
                if one.latest >= newest and (one.ended_by is None or one.ended_by not in over)
            )
        )

    def readable(self, name: str, begin: float, end: float, lag_s: float) -> States:
        """What a reader may have got who opened the file in this time.

        It reads on if the file is renamed, and so it may see what is written under the new name.
        """
        states = self.possible(name, begin, end, lag_s)
        for new_name, changes in self.changes.items():
            for move in changes:
                if move.source == name and move.latest >= begin - lag_s and move.earliest <= end:
                    states |= self.readable(new_name, move.latest, end, 0.0)
        return states

    def is_disturbed(self, name: str, begin: float, end: float) -> bool:
        """Whether anything has changed about the name, or may have."""
        return any(one.earliest <= end and one.latest >= begin for one in self.changes[name])

    def story(self, name: str, begin: float, end: float) -> str:
        """The changes of a name around this time, for people."""
        near = [one for one in self.changes[name] if one.earliest <= end and one.latest >= begin]
        before = [one for one in self.changes[name] if one.latest < begin][-3:]
        return "\n".join(f"    {one}" for one in before + near)
