"""A transfer as a server recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Served:
    """One transfer, up or down. Times are seconds since 1970, by the clock of the server."""

    start_s: float
    end_s: float
    bytes: int  # that were moved
    peer_address: str  # of the client; "" if the log does not say
    name: str
    is_whole: bool
    resolution_s: float  # of the times: 1.0 for a log of whole seconds, which are cut off
    # The first and the last byte of each part of the file; () for all of it, or if the log does not
    # say.
    parts: tuple[tuple[int, int], ...] = ()


def make_up(served: Sequence[Served], size_bytes: int) -> bool:
    """Whether transfers that are whole brought each byte of a file of this size, and no byte twice.

    A log that does not tell parts can only say so of one transfer.
    """
    parts = sorted(
        part for one in served if one.is_whole for part in (one.parts or ((0, one.bytes - 1),))
    )
    end = 0
    for first, last in parts:
        if first != end:
            return False
        end = last + 1
    return end == size_bytes and sum(one.bytes for one in served if one.is_whole) == size_bytes
