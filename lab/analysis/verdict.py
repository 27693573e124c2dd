"""Names the bottleneck of a point by one rule, and gives the evidence in one sentence.

The first of these that holds decides:
  1. The load generator says that it was the limit. It is named; the servers were not saturated.
  2. A resource was busy for 90% of the window or more. The busiest is named. A set of cores is
     named after the server that used most of it, a disk after the component that used it most.
  3. Throughput still rose at the last N. The point is not saturated, and nothing is named.
  4. A resource was busy for 70% or more. The busiest is named and called "close".
  5. No measured resource explains the limit. It may be locks, sleeps or configured limits.
Loopback counts only where nothing else is at 70%, because what it carries depends on the cores, and
several connections may carry more than the one of iperf3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SATURATED = 0.90
CLOSE = 0.70
NOT_SATURATED = "not saturated"


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something that can be busy all the time.

    kind is cpu, disk, thread, network (a link) or loopback. name is the noun of the sentence
    ("MySQL's disk writes"). busy is a share, 0 … 1. demand_s is its service demand per request at
    N = 1, or None. detail is more evidence, printed in brackets. owners are the titles of the
    components that keep it busy; there are several if none stands out.
    """

    kind: str
    name: str
    busy: float
    demand_s: float | None = None
    detail: str = ""
    owners: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """named is the resource that is the limit; None if the rule names none."""

    label: str  # a few words for a table
    sentence: str  # with its numbers
    named: Resource | None = None


def judge(
    resources: list[Resource],
    response_s: float | None,
    is_saturated: bool,
    is_generator_limit: bool,
) -> Verdict:
    """Applies the rule. response_s is the response time at N = 1; None if it was not measured."""
    busiest = _busiest(resources)
    evidence = _evidence(busiest, response_s) if busiest else "nothing was measured"
    if is_generator_limit:
        return Verdict(
            "load generator",
            "The load generator was the limit, so the servers can "
            f"do more than this; busiest resource: {evidence}.",
        )
    if busiest and busiest.busy >= SATURATED:
        return Verdict(busiest.name, f"{_capital(evidence)}.", busiest)
    if not is_saturated:
        return Verdict(
            NOT_SATURATED,
            f"Not saturated: throughput still rose at the last N; busiest: {evidence}.",
        )
    if busiest and busiest.busy >= CLOSE:
        return Verdict(
            f"{busiest.name} (close)",
            f"{_capital(evidence)}. It is close to its limit, and nothing is closer.",
            busiest,
        )
    return Verdict(
        "none over 70%",
        "Saturated, but no resource is over 70%: look for locks, sleeps or limits; "
        f"busiest: {evidence}.",
    )


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _busiest(resources: list[Resource]) -> Resource | None:
    others = [resource for resource in resources if resource.kind != "loopback"]
    is_one_close = any(resource.busy >= CLOSE for resource in others)
    return max(
        others if is_one_close else resources, key=lambda resource: resource.busy, default=None
    )


def _evidence(resource: Resource, response_s: float | None) -> str:
    text = f"{resource.name}: {resource.busy:.0%} busy"
    if resource.detail:
        text += f" ({resource.detail})"
    if resource.demand_s is not None and response_s:
        share = resource.demand_s / response_s  # above 1 if several cores work on one request
        text += f"; {share:.0%} of the response time at N = 1"
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
