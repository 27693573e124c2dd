"""Names the bottleneck of a point by one rule, with the evidence, in one sentence.

The rule, in this order:
  1. the load generator says that it was the limit: then it is, and the servers were not saturated;
  2. a resource busy for 90% or more of the window: the busiest of them. A set of cores is named
     after the server that used most of it, a disk after the component that read or wrote most;
  3. throughput still rose at the last N: not saturated, nothing to name;
  4. a resource busy for 70% or more: the busiest, called "close to its limit";
  5. else nothing that was measured explains it: locks, sleeps or limits.
Loopback is asked last, only where nothing else is at 70%: what it carries is itself limited by the cores,
and one iperf3 connection is no hard bound for many.
"""

from __future__ import annotations

from dataclasses import dataclass

SATURATED = 0.90
CLOSE = 0.70
NOT_SATURATED = "not saturated"


@dataclass(frozen=True)
class Resource:
    """Something that can be full.

    kind: cpu, disk, thread or network. name is the noun of the sentence ("MySQL's disk writes").
    busy is a share, 0 … 1, of what it can do. demand_s is its service demand per request at N = 1,
    None where that was not measured. detail is more evidence, for brackets. owners are the components
    that keep it busy, as a reader knows them: more than one where none stands out.
    """

    kind: str
    name: str
    busy: float
    demand_s: float | None = None
    detail: str = ""
    owners: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """named is the resource that was found to be the limit; None where the rule names none."""

    label: str  # a few words for a table
    sentence: str  # with its numbers
    named: Resource | None = None


def judge(
    resources: list[Resource],
    response_s: float | None,
    is_saturated: bool,
    is_generator_limit: bool,
) -> Verdict:
    """response_s is the response time at N = 1, of which the demand is a share; None if not measured."""
    busiest = _busiest(resources)
    evidence = _evidence(busiest, response_s) if busiest else "nothing was measured"
    if is_generator_limit:
        return Verdict(
            "load generator",
            "The load generator itself was the limit, so the servers could "
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
            f"{_capital(evidence)}: close to its limit, and nothing is closer.",
            busiest,
        )
    return Verdict(
        "none over 70%",
        "Saturated, but no resource over 70%: look for locks, sleeps or limits; "
        f"busiest: {evidence}.",
    )


def _busiest(resources: list[Resource]) -> Resource | None:
    others = [resource for resource in resources if resource.kind != "network"]
    is_one_close = any(resource.busy >= CLOSE for resource in others)
    return max(
        others if is_one_close else resources, key=lambda resource: resource.busy, default=None
    )


def _evidence(resource: Resource, response_s: float | None) -> str:
    text = f"{resource.name}: {resource.busy:.0%} busy"
    if resource.detail:
        text += f" ({resource.detail})"
    if resource.demand_s is not None and response_s:
        share = (
            resource.demand_s / response_s
        )  # above 1 where several cores work at a request at once
        text += f"; {share:.0%} of the response time at N = 1"
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
