"""What was measured in each pass, and how two such things compare within the passes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..kinds.ramp.findings import CANNOT_TELL, Told, inside
from . import intervals
from .intervals import Spread


class OfPasses(ABC):
    """All valid trials of one thing, at most one in each pass."""

    @abstractmethod
    def by_pass(self, name: str) -> dict[int, float]:
        """The values of a figure, of the passes that have it."""

    def figure(self, name: str) -> Spread | None:
        """None if no pass has it."""
        found = list(self.by_pass(name).values())
        return intervals.spread(found) if found else None

    def median(self, name: str) -> float | None:
        found = self.figure(name)
        return found.median if found else None


def ratio(ours: dict[int, float], theirs: dict[int, float]) -> Spread | None:
    """ours / theirs, within each pass. None where one has no value, or one that is not above 0."""
    if not ours or not theirs or min(*ours.values(), *theirs.values()) <= 0:
        return None
    return intervals.paired_ratio(ours, theirs)


def judge(found: Spread | None, above: float, below: float) -> Told | None:
    """Whether a ratio is as it was said. None where it was not measured. A verdict needs an
    interval.
    """
    if found is None:
        return None
    if not found.is_interval:
        return Told(CANNOT_TELL, f"×{found.median:.2f}")
    figures = f"×{found.median:.2f} ({found.low:.2f}–{found.high:.2f})"
    return Told(inside(found, above, below), figures)
