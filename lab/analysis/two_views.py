"""Two views of one run: what the clients saw in each second, and what the server saw.

Nothing is shifted before it is compared. If another number of seconds between the two would fit
better, it is told, because it means that a clock is wrong or that one view counts later.
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from . import blocks
from .blocks import Estimate

_MOST_LAG_S = 10
_CLEARLY = 0.5  # the squares that are left where a lag is worth telling


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Of the seconds of the plateau that both views have. The differences are shares of the mean
    of the clients' view: +0.03 if the server saw 3% more.
    """

    seconds: int
    missing: int  # seconds of the plateau that one view lacks, or both
    mean: Estimate
    worst: float  # of a single second: the one that is farthest from 0
    worst_s: int
    best_lag_s: int  # the server's view fits better if it is moved back by so many seconds; or 0

    @property
    def is_same(self) -> bool:
        """Whether the views may have the same mean."""
        return self.mean.has(0.0)


def compare(
    clients: Mapping[int, float], server: Mapping[int, float], plateau: range
) -> Agreement | None:
    """By the numbers of the seconds. plateau has those that are compared; the lag is by all.

    None for fewer than blocks.FEWEST common seconds, or if the clients' mean is not above 0.
    """
    common = [t for t in plateau if t in clients and t in server]
    usual = statistics.fmean(clients[t] for t in common) if common else 0.0
    shares = [(server[t] - clients[t]) / usual for t in common] if usual > 0 else []
    mean = blocks.mean(shares)
    if mean is None:
        return None
    worst, worst_s = max(zip(shares, common), key=lambda one: abs(one[0]))
    return Agreement(
        seconds=len(common),
        missing=len(plateau) - len(common),
        mean=mean,
        worst=worst,
        worst_s=worst_s,
        best_lag_s=best_lag_s(clients, server),
    )


def best_lag_s(clients: Mapping[int, float], server: Mapping[int, float]) -> int:
    """How many seconds later the server saw the same, up to 10; below 0 for earlier.

    By the mean square of the differences of deviations. 0 unless a lag leaves less than half of
    it: where nothing changes much, no lag can be seen.
    """
    squares = {
        lag: found
        for lag in range(-_MOST_LAG_S, _MOST_LAG_S + 1)
        if (found := _mean_square(clients, server, lag)) is not None
    }
    if 0 not in squares:
        return 0
    best = min(squares, key=lambda lag: (squares[lag], abs(lag)))
    return best if squares[best] < _CLEARLY * squares[0] else 0


def _mean_square(
    clients: Mapping[int, float], server: Mapping[int, float], lag: int
) -> float | None:
    """None for fewer than blocks.FEWEST common seconds. A constant difference counts nothing."""
    differences = [server[t + lag] - value for t, value in clients.items() if t + lag in server]
    if len(differences) < blocks.FEWEST:
        return None
    found = statistics.pvariance(differences)
    return found if math.isfinite(found) else None
