"""What a virtual link carries, and how long it takes. Papers name theirs: see plan/links.py."""

from __future__ import annotations

from dataclasses import dataclass

from . import cable


@dataclass(frozen=True, kw_only=True)
class Later:
    """Another rate, from a moment on that is counted from when the link was laid."""

    at_s: float
    rate: str


@dataclass(frozen=True, kw_only=True)
class Link:
    """rate is that of each of the lines, which are used in turn, packet by packet.

    A link without a delay is a cable whose ends are limited; one with a delay is a program that
    holds packets: see delay_line.py. queue_bytes may wait for all lines together in each direction.
    """

    rate: str = ""  # such as 10mbit; "" is no limit
    name: str = ""  # of a paper's link; "" for a rate that somebody chose
    title: str = ""
    delay_ms: float = 0.0  # of a round trip
    queue_bytes: int = 0
    lines: int = 1
    later: tuple[Later, ...] = ()

    @property
    def bits_per_s(self) -> float:
        """Of all lines, at the start. Requires: a rate."""
        return self.lines * cable.bits_per_s(self.rate)

    @property
    def longest_s(self) -> float:
        """A round trip behind a queue that is full. Requires: a rate."""
        return self.delay_ms / 1000 + self.queue_bytes * 8 / self.bits_per_s

    def __str__(self) -> str:
        """In a caption."""
        if not self.rate:
            return "without a rate limit"
        lines = f"{self.lines} × {self.rate} in turn" if self.lines > 1 else self.rate
        return lines + (f", {self.delay_ms:g} ms there and back" if self.delay_ms else "")
