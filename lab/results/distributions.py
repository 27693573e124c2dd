"""Distributions of response times, as samples/ keeps them: each is one text of `upper_ms:count`.

As JSON with a line for each number, they would be the most of what a trial leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Bucket = tuple[float, int]  # the largest value in it, in ms, and how many values it has
Distribution = list[Bucket]  # in ascending order

_LISTS = ("distribution", "service_distribution", "lateness_distribution")


@dataclass(frozen=True)
class Tail:
    """Of one trial. There are two halves, or none where they are not known."""

    whole: Distribution
    halves: list[Distribution]


def packed(result: dict[str, Any]) -> dict[str, Any]:
    """The load generator's result with its distributions as texts."""
    kept: dict[str, Any] = {name: _text(result[name]) for name in _LISTS if result.get(name)}
    if result.get("halves"):
        kept["halves"] = [_text(half) for half in result["halves"]]
    return {**result, **kept}


def tail(result: dict[str, Any]) -> Tail | None:
    """Of a packed result; None if it has no distribution, as those of older versions."""
    if not isinstance(result.get("distribution"), str):
        return None
    return Tail(
        _parsed(result["distribution"]), [_parsed(one) for one in result.get("halves") or []]
    )


def _text(buckets: list[list[float]]) -> str:
    return " ".join(f"{upper!r}:{count}" for upper, count in buckets)


def _parsed(text: str) -> Distribution:
    pairs = (one.split(":") for one in text.split())
    return [(float(upper), int(count)) for upper, count in pairs]
