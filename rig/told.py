"""What a link with a delay says of itself: what it let through, what it lost, how late it was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What happened since it was last asked, or since the start."""

    packets: int  # that came out
    bytes: int
    dropped: int  # for want of room in the queue
    stuck: int  # lost because their connection was stuck on purpose
    refused: int  # that came out, and the kernel did not take
    late_p50_ms: float
    late_p99_ms: float
    late_max_ms: float

    @property
    def lost(self) -> float:
        """The part of the packets that it dropped."""
        return self.dropped / max(1, self.dropped + self.packets)


@dataclass(frozen=True)
class Told:
    """there is the direction from our namespace to the other one."""

    there: Direction
    back: Direction

    @property
    def late_p99_ms(self) -> float:
        return max(self.there.late_p99_ms, self.back.late_p99_ms)

    @property
    def stuck(self) -> int:
        """Packets of connections that were stuck on purpose, in both directions."""
        return self.there.stuck + self.back.stuck

    @property
    def lost(self) -> float:
        """That of the direction that lost more: the other one has acknowledgements."""
        return max(self.there.lost, self.back.lost)
