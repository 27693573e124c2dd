"""What a paper found, as claims that measurements can be held against. Read from findings.json."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import papers
from .from_json import from_json


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Stage `after` is faster than `before` at these rows or, with is_equal, about as fast."""

    text: str
    before: str
    after: str
    rows: tuple[str, ...]
    is_equal: bool = False
    paper: str = ""  # whose numbers have its own gain; none if empty


@dataclass(frozen=True, kw_only=True)
class Limit:
    """At these rows of a stage the bottleneck is a resource of this kind and of this owner.

    An empty kind or owner matches all. With is_absent, the claim is the opposite.
    """

    text: str
    stage: str
    rows: tuple[str, ...]
    kind: str = ""
    owner: str = ""
    is_absent: bool = False


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """At these rows, the stage is faster with all cores for its fileserver than with one."""

    text: str
    stage: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Bears:
    """At these rows, stage `more` bears more users of a crowd than stage `fewer`."""

    text: str
    more: str
    fewer: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cheaper:
    """At these rows and the same users, the load generator of `stage` needs less CPU than that of
    stage `than`.
    """

    text: str
    stage: str
    than: str
    rows: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BurstRatio:
    """At these rows, a burst of stage `stage` with so many transfers has a rate that is more than
    `above` times, and less than `below` times that of stage `than` with `than_transfers`, at the
    same row or at `than_row`.
    """

    text: str
    stage: str
    transfers: int
    than: str
    than_transfers: int
    rows: tuple[str, ...]
    than_row: str = ""  # "": the same
    above: float = 0.0
    below: float = math.inf


Claim = Gain | Limit | Scaling | Bears | Cheaper | BurstRatio
_KINDS: dict[str, type[Claim]] = {
    "gain": Gain,
    "limit": Limit,
    "scaling": Scaling,
    "bears": Bears,
    "cheaper": Cheaper,
    "burst_ratio": BurstRatio,
}


def claims(paper: str) -> list[Claim]:
    return [
        from_json(_KINDS[entry["claim"]], {**entry, "paper": paper})
        for entry in papers.read(paper, "findings.json")["judged"]
    ]
