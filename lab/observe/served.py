"""A transfer as a server recorded it."""

from __future__ import annotations

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
