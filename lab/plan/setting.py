"""What differs between the points of a cell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """threads is N of a closed loop. In an open one it is the most requests under way."""

    threads: int
    offered_rps: float | None = None  # of an open loop; None in a closed one

    def __str__(self) -> str:
        return f"N={self.threads}" if self.offered_rps is None else f"{self.offered_rps:g}/s"
