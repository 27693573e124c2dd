"""An open loop: requests are due at random moments, and wait for no other. One run of loadgen each.

It is a run as in closed_loop.py, with a schedule. Response times start when a request is due.
"""

import math
from dataclasses import dataclass
from typing import Any

from ...workloads.load import Asked
from ...workloads.outcome import Result, known_times
from ..closed_loop import load as closed_loop
from ..closed_loop.load import ClosedLoop
from ..kind import LESS, MORE, Figure

MOST_UNDER_WAY = 256  # enough threads for any rate at which the server is not overloaded
_SIGMAS = 5  # by which the number of requests of a Poisson process may differ from its mean
_SLOW = ("timeout", "unfinished")  # errors that are times: the server is too slow for the rate
_MOST_OTHER_ERRORS = 0.01  # of all requests

_VIEWS = ("offered_load",)
FIGURES = (
    Figure(name="offered_rps", unit="/s", better=MORE),
    Figure(name="service_p50_ms", unit="ms", better=LESS),  # from when a request was sent
    Figure(name="service_p99_ms", unit="ms", better=LESS, title="service p99", views=_VIEWS),
    # Of the load generator itself.
    Figure(name="lateness_p99_ms", unit="ms", better=LESS, title="late p99", views=_VIEWS),
    Figure(name="given_up", better=LESS),  # requests that timed out or were never sent
)


@dataclass(frozen=True, kw_only=True)
class OpenLoop(ClosedLoop):
    """threads is the most requests that are under way."""

    offered_rps: float
    seed: int  # chooses the moments at which requests are due

    def command_flags(self) -> list[str]:
        schedule = ["--rate", f"{self.offered_rps:g}", "--arrivals", "poisson"]
        return [*super().command_flags(), *schedule, "--seed", str(self.seed)]

    def failures(self, result: Result) -> list[str]:
        """A server that is too slow for the rate is no failure: its response times say so."""
        found = self._failures_of_schedule(result)
        if not result.requests:
            return found
        due = schedule(result).due
        others = sum(count for cause, count in result.errors.items() if cause not in _SLOW)
        if others > _MOST_OTHER_ERRORS * due:
            found.append(f"{others / due:.1%} errors ({result.error_list})")
        return found

    def _failures_of_schedule(self, result: Result) -> list[str]:
        """Those that have nothing to do with requests that failed."""
        found = [f"load generator: {reason}" for reason in result.invalid_because]
        if not result.requests:
            return [*found, "no request succeeded"]
        due = schedule(result).due
        if result.requests + result.errors_total != due:
            found.append(f"{due} requests were due, {result.requests + result.errors_total} ended")
        wanted = self.offered_rps * self.seconds
        if abs(due - wanted) > _SIGMAS * math.sqrt(wanted):
            found.append(f"{due} requests were due, {wanted:.0f} were wanted")
        return found + self._missing_bytes(result)

    def figures(self, result: Result) -> dict[str, float | None]:
        found = schedule(result)
        return {
            "offered_rps": self.offered_rps,
            "service_p50_ms": found.service_ms["p50"],
            "service_p99_ms": found.service_ms["p99"],
            "lateness_p99_ms": found.lateness_ms["p99"],
            "given_up": found.given_up,
        }


def load(asked: Asked) -> ClosedLoop:
    """Each pass has other moments at which requests are due. The points that find the maximum are
    those of a closed loop.
    """
    closed, offered = closed_loop.load(asked), asked.setting.offered_rps
    if offered is None:
        return closed
    return OpenLoop(**vars(closed), offered_rps=offered, seed=asked.repeat)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What the load generator says about its schedule."""

    due: int  # requests in the window
    given_up: int  # those that timed out or were never sent
    service_ms: dict[str, float | None]  # from the moment at which a request was sent
    lateness_ms: dict[str, float | None]  # of the load generator itself


def schedule(result: Result) -> Schedule:
    """KeyError when a field is missing. Requires: a result of an open loop."""
    raw: dict[str, Any] = result.raw["open_loop"]
    return Schedule(
        due=raw["due"],
        given_up=raw["given_up"],
        service_ms=known_times(raw["service_time_ms"], result.requests),
        lateness_ms=known_times(raw["lateness_ms"], result.requests),
    )
