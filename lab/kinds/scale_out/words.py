"""What hosts behind a proxy came to, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import passes
from ...analysis.passes import RATE
from ...report import wording
from ...report.scene import Scene
from . import analysis as hosts
from .analysis import HostsResult


def results(scene: Scene, row: str) -> list[HostsResult]:
    return hosts.of_stages(scene.analysis.runs, scene.stages, row)


def sentences(found: Sequence[HostsResult]) -> list[str]:
    """Those of which something was measured."""
    even = [one for one in found if not one.cluster.is_lost]
    first = next((one for one in even if one.cluster.hosts == 1), None)
    more = [one for one in even if one is not first]
    said = [_against(one, first) for one in more] if first else []
    said += [_loss(one) for one in found if one.cluster.is_lost]
    paper = _paper(even)
    return [one for one in (*said, paper) if one]


def _against(one: HostsResult, first: HostsResult) -> str:
    rate, held = (passes.ratio(one, first, name) for name in (RATE, "files_held"))
    if not rate:
        return ""
    which = "the same files" if one.cluster.is_same else "files of its own"
    of_memory = f", and hold {wording.times(held.median)} the files in memory" if held else ""
    return (
        f"{one.cluster.hosts} hosts, each with {which} first, answer {wording.times(rate.median)} "
        f"the requests of one{of_memory}."
    )


def _loss(one: HostsResult) -> str:
    failed = sum(one.by_pass("failed_requests").values())
    taken, moved = one.median("taken_over_s"), one.median("names_moved")
    how = f"after {wording.rate(taken)} s" if taken is not None else "not within the run"
    share = passes.ratio(one, one, "rate_without_rps", "rate_before_rps")
    how += f", with {wording.percent(share.median)} of the rate before" if share else ""
    return (
        f"When one of {one.cluster.hosts} hosts was lost, "
        f"{wording.plural(round(failed), 'request')} failed, {wording.number(moved)} names moved, "
        f"and the others had taken over {how}."
    )


def _paper(even: Sequence[HostsResult]) -> str:
    source = base(even)
    paper = hosts.on_paper(source) if source else None
    if paper is None:
        return ""
    first = paper.stations[0]
    return (
        f"By the demands, {first.name}, is full at host {first.full_at} of this kind, and with "
        f"hosts of a whole core at host {first.full_at_cores}."
    )


def base(even: Sequence[HostsResult]) -> HostsResult | None:
    """The stage whose demands are used: the most hosts, with files of their own."""
    own = [one for one in even if not one.cluster.is_same]
    return max(own, key=lambda one: one.cluster.hosts, default=None)
