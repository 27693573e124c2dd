"""Judges what a paper found about downloads. A verdict needs the whole 99% interval on one side.

With few attempts the interval is that of all downloads by the same program over the same link, see
analysis.py. So two short runs may differ in what they can tell, but seldom in what they tell.
"""

import math
from collections.abc import Callable, Sequence

from ...analysis import intervals, passes
from ...analysis.intervals import Spread
from ...analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN, Told, inside
from ...plan import catalog
from ...plan.catalog import Stage
from ...plan.claims import OfDownload, Ratio, RoundTripForetold, ShareOfLink
from . import Download, analysis
from . import analysis as attempts
from .analysis import FORETOLD, ROUND_TRIP, Attempts, Noise

_LASTS = 6  # round trips that an attempt must last at least, so that most of it has full windows
_LOST = 0.02  # the most answers that may be lost; a median of the others is one of survivors

Downloads = Callable[[str, str], Sequence[Attempts]]  # by stage and row


def judge(finding: OfDownload | Ratio, row: str, downloads: Downloads) -> Told | None:
    """None where something of it was not measured."""
    if isinstance(finding, Ratio):
        return _ratio(finding, row, downloads)
    if isinstance(finding, RoundTripForetold):
        return _foretold(finding, row, downloads)
    return _share(finding, row, downloads)


def _ratio(finding: Ratio, row: str, downloads: Downloads) -> Told | None:
    ends, figure = (finding.here, finding.there), finding.figure or attempts.RATE
    one, other = (_over(downloads(end.stage, row), end.at) for end in ends)
    if one is None or other is None:
        return None
    found = passes.ratio(one, other, figure)
    if found is None:
        return Told(CANNOT_TELL)
    sides = [
        (_noise(end.stage, row, downloads, figure), len(each.by_pass(figure)))
        for end, each in zip(ends, (one, other))
    ]
    told = analysis.cautious(found, *sides)
    figures = f"×{told.median:.2f}{_interval(told, '.2f')}"
    return Told(inside(told, finding.above, finding.below), figures)


def _over(found: Sequence[Attempts], channels: int) -> Attempts | None:
    return next((one for one in found if one.channels == channels), None)


def _noise(stage: str, row: str, downloads: Downloads, figure: str) -> Noise:
    """Of one attempt by the program of this stage over its link."""
    known = catalog.stages()
    alike = [one.name for one in known.values() if _has_the_noise_of(one, known[stage])]
    return analysis.noise_of(
        each.by_pass(figure) for name in alike for each in downloads(name, row)
    )


def _has_the_noise_of(one: Stage, other: Stage) -> bool:
    """Whether attempts of both differ by the same causes. Kills and stalls are one more of them."""
    if one == other:
        return True
    how, theirs = one.download, other.download
    if how is None or theirs is None or how.kills or how.stuck_s:
        return False
    is_same_way = (one.link, one.tcp.congestion) == (other.link, other.tcp.congestion)
    return is_same_way and (one.system, _program(how)) == (other.system, _program(theirs))


def _program(how: Download) -> str:
    """Without the way in which it is used."""
    return how.client.partition("-")[0]


def _foretold(finding: RoundTripForetold, row: str, downloads: Downloads) -> Told | None:
    """By the number of channels at which both differ most."""
    noise = _noise(finding.stage, row, downloads, ROUND_TRIP)
    known = [
        (one.channels, analysis.cautious(found, (noise, found.count)))
        for one in downloads(finding.stage, row)
        if _can_be_held_against(one) and (found := attempts.against_foretold(one))
    ]
    if len(known) < 2:
        return None
    channels, worst = max(known, key=lambda pair: abs(pair[1].median - 1))
    verdicts = {inside(found, 1 - finding.within, 1 + finding.within) for _, found in known}
    interval = f" ({worst.low - 1:+.1%} to {worst.high - 1:+.1%})" if worst.high < math.inf else ""
    figures = (
        f"{worst.median - 1:+.1%}{interval} over {channels}, the most of {len(known)} numbers of "
        "channels"
    )
    if NOT_SEEN in verdicts:
        return Told(NOT_SEEN, figures)
    return Told(SEEN if verdicts == {SEEN} else CANNOT_TELL, figures)


def _can_be_held_against(one: Attempts) -> bool:
    """With one channel, an acknowledgement that is delayed keeps part of the window back."""
    foretold, lost = one.figure(FORETOLD), one.figure("rtt_lost")
    lasts = one.spread(lambda run: run.elapsed_s)
    if one.channels == 1 or foretold is None or lasts is None or (lost and lost.median > _LOST):
        return False
    return 1000 * lasts.median >= _LASTS * foretold.median


def _share(finding: ShareOfLink, row: str, downloads: Downloads) -> Told | None:
    best = attempts.best(downloads(finding.stage, row))
    shares = best.attempts.share_of_link() if best else {}
    if best is None or not shares:
        return None
    noise = _noise(finding.stage, row, downloads, attempts.RATE)
    found = intervals.paired_ratio(shares, dict.fromkeys(shares, 1.0))
    told = analysis.cautious(found, (noise, len(shares)))
    figures = f"{told.median:.1%}{_interval(told, '.1%')} over {best.attempts.channels}"
    return Told(inside(told, finding.above, finding.below), figures)


def _interval(found: Spread, form: str) -> str:
    return f" ({found.low:{form}}–{found.high:{form}})" if found.high < math.inf else ""
