"""Whether all seconds of a run were alike, by its series."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from ..workloads.series import Second, Series

_SIGMAS = 5  # by which a second may differ where requests are few


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """Of the whole seconds of a run. They are numbered from 1. A request is one that succeeded."""

    seconds: int
    median: float  # requests in a second
    first: int  # in the first one
    least: int
    weak: tuple[int, ...]  # seconds with less than half of the median
    silent: int  # seconds without a request
    failed: int
    failed_in: tuple[int, ...]  # seconds
    slowest: Second | None  # the one with the longest response time; None: no request succeeded

    @property
    def is_steady(self) -> bool:
        return not self.weak and not self.failed

    @property
    def badness(self) -> tuple[int, int, float]:
        """Larger for a run that is less steady."""
        return self.failed, len(self.weak), 1 - self.least / max(self.median, 1)


def whole_seconds(series: Series, elapsed_s: float) -> list[Second]:
    """Those that were over when the run ended."""
    return [one for one in series.seconds if one.t <= math.floor(elapsed_s + 0.01)]


def of_series(series: Series, elapsed_s: float) -> Steadiness | None:
    """None for a run without a whole second."""
    whole = whole_seconds(series, elapsed_s)
    if not whole:
        return None
    median = statistics.median(one.ended for one in whole)
    limit = median - max(median / 2, _SIGMAS * math.sqrt(median))
    answered = [one for one in whole if one.max_ms is not None]
    return Steadiness(
        seconds=len(whole),
        median=median,
        first=whole[0].ended,
        least=min(one.ended for one in whole),
        weak=tuple(one.t for one in whole if one.ended < limit),
        silent=sum(not one.ended for one in whole),
        failed=sum(one.failed for one in whole),
        failed_in=tuple(one.t for one in whole if one.failed),
        slowest=max(answered, key=lambda one: one.max_ms or 0.0, default=None),
    )
