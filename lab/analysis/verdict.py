"""Names the bottleneck of a cell by one rule, and gives the evidence in one sentence.

The rule looks at all runs from N* to the highest N that still has the maximum. A resource is named
only if it was busier than every other one in each pass, by five points. With fewer than three
passes, it must be so in each run, and by 15 points if these are fewer than three, too. Otherwise
those that are alike are listed, and none is named. The first of these that holds decides:
  1. The load generator says in most runs that it was the limit. The servers were not the limit.
  2. A resource was busy for 90% of the window or more. The busiest is named. If it is a CPU of
     which the load generator used over half, and no other is alike, that was the limit.
  3. Throughput still rose at the last N. The maximum was not reached, and nothing is named.
  4. A resource was busy for 70% or more. The busiest is named and called "close".
  5. No measured resource explains the limit. It may be locks, sleeps or configured limits.
Loopback counts only where nothing else is at 70%, because what it carries depends on the cores. It
does not count where several connections carried more than the one of iperf3.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SATURATED = 0.90
CLOSE = 0.70
FEWEST_PASSES = 3  # with fewer, each run must show a lead
_LEAD = 0.05  # a smaller difference between two shares of a window is chance
_LEAD_OF_FEW = 0.15  # the same where fewer than FEWEST_PASSES values show it
NOT_SATURATED = "not saturated"
CANNOT_TELL = "cannot tell"
LOAD_GENERATOR = "loadgen"


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something that can be busy all the time.

    kind is cpu, disk, thread, network (a link) or loopback. name is the noun of the sentence
    ("MySQL's disk writes"). by_pass is pass -> how busy it was, 0 … 1; with few passes, it is
    run -> how busy. demand_s is its service demand per request, or None. detail is more evidence,
    printed in brackets. owners is the title of the component that used over half of it; empty if
    none did. others are the titles of those that used clearly less than the first.
    """

    kind: str
    name: str
    by_pass: dict[int, float]
    demand_s: float | None = None
    detail: str = ""
    owners: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def busy(self) -> float:
        return statistics.median(self.by_pass.values())


@dataclass(frozen=True)
class Verdict:
    """alike are the resources of which one is the limit; none if the rule names none."""

    label: str  # a few words for a table
    sentence: str  # with its numbers
    alike: tuple[Resource, ...] = ()

    @property
    def named(self) -> Resource | None:
        """None if the rule names none, or cannot tell two apart."""
        return self.alike[0] if len(self.alike) == 1 else None


OF_SHARED = Verdict(
    "not judged", "Other programs had part of the machine, so what limits a stage is not judged."
)


def judge(
    resources: list[Resource],
    response_s: float | None,
    is_saturated: bool,
    is_generator_limit: bool,
) -> Verdict:
    """Applies the rule. response_s is the response time at N = 1; None if it was not measured."""
    busiest = _busiest(resources)
    evidence = "; ".join(_evidence(one, response_s) for one in busiest) or "nothing was measured"
    most = busiest[0].busy if busiest else 0.0
    if is_generator_limit or (most >= SATURATED and _is_load_generator(busiest)):
        return Verdict(
            "load generator",
            "The load generator was the limit, so the servers can "
            f"do more than this; busiest resource: {evidence}.",
        )
    if most >= SATURATED:
        return Verdict(_label(busiest), f"{_capital(evidence)}.{_alike(busiest)}", tuple(busiest))
    if not is_saturated:
        return Verdict(
            NOT_SATURATED,
            f"Not saturated: throughput still rose at the last N; busiest: {evidence}.",
        )
    if most >= CLOSE:
        return Verdict(
            f"{_label(busiest)} (close)",
            f"{_capital(evidence)}. It is close to its limit, and nothing is closer."
            if len(busiest) == 1
            else f"{_capital(evidence)}. They are close to their limits.{_alike(busiest)}",
            tuple(busiest),
        )
    return Verdict(
        "none over 70%",
        "Saturated, but no resource is over 70%: look for locks, sleeps or limits; "
        f"busiest: {evidence}.",
    )


def agreed(verdicts: Iterable[Verdict]) -> Verdict:
    """The last one, if all of them name the same. Each goes by other figures of what the disk can
    do.
    """
    *others, last = verdicts
    other = next((one for one in others if one.label != last.label), None)
    if not other:
        return last
    return Verdict(
        CANNOT_TELL,
        "Cannot tell: the figures of what the disk can do contradict each other. By the highest: "
        f"{last.sentence} By the lowest: {other.sentence}",
    )


def leads(one: Resource, other: Resource) -> bool:
    """Whether it was busier in every pass, by more than chance."""
    least = least_lead(len(one.by_pass))
    return all(busy >= other.by_pass[repeat] + least for repeat, busy in one.by_pass.items())


def least_lead(count: int) -> float:
    """By how much each of so many shares must be larger than another one."""
    return _LEAD if count >= FEWEST_PASSES else _LEAD_OF_FEW


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _busiest(resources: list[Resource]) -> list[Resource]:
    """The busiest resource, and those that cannot be told from it; [] without any."""
    others = [resource for resource in resources if resource.kind != "loopback"]
    is_one_close = any(resource.busy >= CLOSE for resource in others)
    ordered = sorted(others if is_one_close else resources, key=lambda one: -one.busy)
    return [
        one
        for one in ordered
        if one is ordered[0] or not (leads(ordered[0], one) or _is_same(ordered[0], one))
    ]


def _is_same(one: Resource, other: Resource) -> bool:
    """Whether both say the same: the CPU and the main thread of one component."""
    return one.owners == other.owners != () and {one.kind, other.kind} == {"cpu", "thread"}


def _is_load_generator(busiest: list[Resource]) -> bool:
    return all(one.kind == "cpu" and one.owners == (LOAD_GENERATOR,) for one in busiest)


def _label(busiest: list[Resource]) -> str:
    return listed([one.name for one in busiest]) + (" alike" if len(busiest) > 1 else "")


def _alike(busiest: list[Resource]) -> str:
    if len(busiest) == 1:
        return ""
    return " None of them leads in every pass, so which one is the limit cannot be told."


def _evidence(resource: Resource, response_s: float | None) -> str:
    text = f"{resource.name}: {resource.busy:.0%} busy"
    if resource.detail:
        text += f" ({resource.detail})"
    if resource.demand_s is not None and response_s:
        share = resource.demand_s / response_s  # above 1 if several cores work on one request
        text += f"; its demand is {share:.0%} of the response time at N = 1"
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
