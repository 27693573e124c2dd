"""What each group of hosts brought to a load, and how evenly its hosts did."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ...workloads import uploads
from ...workloads.transfers import fairness
from ...workloads.uploads import Upload
from .gathered import Gathered, OfTester


@dataclass(frozen=True, kw_only=True)
class OfGroup:
    """Of the hosts that are left, between two moments."""

    hosts: int
    bytes_per_s: float
    mean_ms: float | None  # of the uploads that ended; None if none did
    fairness: float | None  # Jain's index of the rates of its hosts; None if none brought anything


def between(gathered: Gathered, from_s: float, to_s: float) -> dict[str, OfGroup]:
    """By the names of the groups. {} for a stretch without length."""
    lost = {one.tester for one in gathered.lost}
    by_group: defaultdict[str, defaultdict[str, list[Upload]]]
    by_group = defaultdict(lambda: defaultdict(list))
    for one in gathered.transfers:
        if one.tester not in lost and (upload := upload_of(one)):
            by_group[one.group][one.tester].append(upload)
    found = {
        name: _of_group(list(hosts.values()), from_s, to_s) for name, hosts in by_group.items()
    }
    return {name: group for name, group in found.items() if group}


def upload_of(one: OfTester) -> Upload | None:
    """None for one that has no end."""
    if one.last_byte_s is None:
        return None
    return Upload(
        start_s=one.started_s, end_s=one.last_byte_s, bytes=one.bytes, is_whole=not one.failure
    )


def _of_group(hosts: list[list[Upload]], from_s: float, to_s: float) -> OfGroup | None:
    whole = uploads.between([one for host in hosts for one in host], from_s, to_s)
    if whole is None:
        return None
    each = [stretch for host in hosts if (stretch := uploads.between(host, from_s, to_s))]
    return OfGroup(
        hosts=len(hosts),
        bytes_per_s=whole.bytes_per_s,
        mean_ms=None if whole.mean_s is None else 1000 * whole.mean_s,
        fairness=fairness([one.bytes_per_s for one in each]),
    )
