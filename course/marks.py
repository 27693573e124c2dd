"""How many points a submission gets, by which rule, and why not more."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .contract import CASES, Outcome

# Ratios of the CPU time of a request, student / reference: up to the first one all points, from the
# second one on none, and between the two by the logarithm.
_RATIOS = {"c++": (1.5, 5.0), "go": (2.0, 7.0), "python": (6.0, 20.0)}
_OF_CONTRACT, _OF_SHAPE, _OF_RESULTS, _OF_CLAIMS, _OF_GAIN = 40, 10, 10, 10, 30
# Without these nothing is measured: such a server gives away what it was to keep, or its CPU time
# is not known.
GUARDS = (
    *("ready", "file", "before", "wrong-password", "taken-away", "asks"),
    *("not-found", "parallel", "stop"),
)


@dataclass(frozen=True)
class Part:
    """rule is printed beside the points."""

    name: str
    points: float
    of: int
    rule: str
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""  # in a few words; "" for all points

    @property
    def is_full(self) -> bool:
        return self.points >= self.of


@dataclass(frozen=True)
class Sheet:
    """The marks of a submission. gain is the reference's CPU time of a request by the student's."""

    name: str
    stage: int
    parts: tuple[Part, ...]
    gain: float | None = None
    remark: str = ""

    @property
    def points(self) -> float:
        return round(sum(part.points for part in self.parts), 1)

    @property
    def of(self) -> int:
        return sum(part.of for part in self.parts)

    @property
    def reason(self) -> str:
        told = [f"{part.name}: {part.reason}" for part in self.parts if part.reason]
        return "; ".join(filter(None, (self.remark, *told)))

    def part(self, name: str) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)


def _share(outcomes: Sequence[Outcome], of: int) -> float:
    return round(of * sum(one.holds for one in outcomes) / len(outcomes), 1) if outcomes else 0.0


def _names(outcomes: Sequence[Outcome]) -> str:
    return ", ".join(dict.fromkeys(one.name for one in outcomes if not one.holds))


def contract(outcomes: Sequence[Outcome], lost: str = "") -> Part:
    """lost is why the points are lost, though the cases hold."""
    points = 0.0 if lost else _share(outcomes, _OF_CONTRACT)
    each = _OF_CONTRACT / len(CASES)
    rule = f"{each:g} points for each of the {len(CASES)} cases that holds"
    return Part("contract", points, _OF_CONTRACT, rule, tuple(outcomes), lost or _names(outcomes))


def shape(outcome: Outcome | None, lost: str = "") -> Part:
    holds = outcome is not None and outcome.holds and not lost
    why = lost or (outcome.why if outcome else "it was not tried")
    rule = "all points when the server has the shape of its stage"
    return Part(
        "shape", _OF_SHAPE if holds else 0, _OF_SHAPE, rule, (outcome,) if outcome else (), why
    )


def results(outcomes: Sequence[Outcome], lost: str = "") -> Part:
    rule = "one point for each check of the results folder that holds"
    points = _share(outcomes, _OF_RESULTS)
    return Part("results", points, _OF_RESULTS, rule, tuple(outcomes), lost or _names(outcomes))


def claims(outcomes: Sequence[Outcome], lost: str = "") -> Part:
    rule = "by the share of claims that the folder bears out; none if its figures do not fit"
    points = 0.0 if lost else _share(outcomes, _OF_CLAIMS)
    return Part("claims", points, _OF_CLAIMS, rule, tuple(outcomes), lost or _names(outcomes))


def gain(ratio: float | None, language: str, lost: str = "") -> Part:
    """ratio is the CPU time of a request, student / reference; None: it was not measured."""
    full, none = _RATIOS[language]
    rule = (
        f"CPU time of a request / that of the reference: all points up to {full:g} ({language}), "
        f"none from {none:g} on, between them by the logarithm"
    )
    if ratio is None or lost:
        return Part("gain", 0, _OF_GAIN, rule, (), lost or "it was not measured")
    share = min(1.0, max(0.0, math.log(none / ratio) / math.log(none / full)))
    points = round(_OF_GAIN * share, 1)
    why = "" if share == 1 else f"{ratio:.2f} times the reference's CPU time"
    return Part("gain", points, _OF_GAIN, rule, (), why)
