"""Judges what a paper found about downloads. A verdict needs the whole 99% interval on one side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..plan.claims import DownloadRatio, OfDownload, RoundTripForetold, ShareOfLink
from . import attempts
from .attempts import FORETOLD, ROUND_TRIP, Attempts
from .intervals import Spread
from .ramp_findings import CANNOT_TELL, NOT_SEEN, SEEN, Told, inside

_FEWEST = 2  # one attempt tells nothing
_FEW_DIFFER = 1.1  # times: two attempts of the same seldom differ by as much

Downloads = Callable[[str, str], Sequence[Attempts]]  # by stage and row


def judge(finding: OfDownload, row: str, downloads: Downloads) -> Told | None:
    """None where something of it was not measured."""
    if isinstance(finding, DownloadRatio):
        return _ratio(finding, row, downloads)
    found = downloads(finding.stage, row)
    if isinstance(finding, RoundTripForetold):
        return _foretold(finding, found)
    return _share(finding, found)


def _ratio(finding: DownloadRatio, row: str, downloads: Downloads) -> Told | None:
    one = _over(downloads(finding.stage, row), finding.channels)
    other = _over(downloads(finding.than, row), finding.than_channels)
    if one is None or other is None:
        return None
    found = attempts.ratio(one, other, finding.figure)
    if found is None:
        return Told(CANNOT_TELL)
    figures = f"×{found.median:.2f} ({found.low:.2f}–{found.high:.2f})"
    return Told(inside(_cautious(found), finding.above, finding.below), figures)


def _over(found: Sequence[Attempts], channels: int) -> Attempts | None:
    return next((one for one in found if one.channels == channels), None)


def _foretold(finding: RoundTripForetold, found: Sequence[Attempts]) -> Told | None:
    """By the number of channels at which both differ most."""
    known = [
        (one.channels, measured.median / foretold.median - 1)
        for one in found
        if (measured := one.figure(ROUND_TRIP)) and (foretold := one.figure(FORETOLD))
    ]
    if len(known) < 2:
        return None
    channels, worst = max(known, key=lambda pair: abs(pair[1]))
    figures = f"{worst:+.1%} over {channels}, the most of {len(known)} numbers of channels"
    return Told(SEEN if abs(worst) <= finding.within else NOT_SEEN, figures)


def _share(finding: ShareOfLink, found: Sequence[Attempts]) -> Told | None:
    best = attempts.best(found)
    share = best.attempts.figure("share_of_probed") if best else None
    if best is None or share is None:
        return None
    figures = f"{share.median:.1%} ({share.low:.1%}–{share.high:.1%}) over {best.attempts.channels}"
    return Told(inside(share, finding.above, finding.below), figures)


def _cautious(found: Spread) -> Spread:
    """With few attempts there is a range, which is narrower than what chance does."""
    if found.is_interval:
        return found
    times = math.inf if found.count < _FEWEST else _FEW_DIFFER
    return Spread(found.median, found.low / times, found.high * times, found.count, False)
