"""The round trip beside a download, as the windows of its channels foretell it.

Each channel has a whole window under way. What the link itself does not hold waits in its queue.
"""

from __future__ import annotations

from dataclasses import dataclass

from rig.link import Link
from rig.tcp import InForce

_BITS, _MS_PER_S = 8, 1000
_USUAL_HEADERS = 52  # of TCP and IP, with time stamps
_FEW = 0.005  # as a share: so few segments may be sent again, as at the end of a connection


@dataclass(frozen=True)
class RoundTrip:
    """It has one of both, or neither where the link has no delay or the window is not known."""

    ms: float | None = None
    at_most_ms: float | None = None  # where windows are not whole all the time


def round_trip(link: Link | None, seen: InForce, channels: int, lost: float) -> RoundTrip:
    """lost is the share of the segments that were sent again.

    Where the queue overflows, or where segments are lost, senders make their windows smaller.
    """
    if not link or not link.delay_ms or not seen.window_bytes or not seen.mss_bytes:
        return RoundTrip()
    filled_ms = min(channels, seen.at_once) * _packets_bytes(seen) * _ms_per_byte(link)
    most_ms = link.delay_ms + link.queue_bytes * _ms_per_byte(link)
    found_ms = max(link.delay_ms, min(filled_ms, most_ms))
    if filled_ms > most_ms or lost > _FEW:
        return RoundTrip(at_most_ms=found_ms)
    return RoundTrip(ms=found_ms)


def _packets_bytes(seen: InForce) -> int:
    """Of a whole window. A sender fills what is left of it with a short packet."""
    assert seen.window_bytes and seen.mss_bytes  # see above
    headers = seen.mtu_bytes - seen.mss_bytes if seen.mtu_bytes else _USUAL_HEADERS
    return seen.window_bytes + headers * -(-seen.window_bytes // seen.mss_bytes)


def _ms_per_byte(link: Link) -> float:
    return _BITS * _MS_PER_S / link.bits_per_s
