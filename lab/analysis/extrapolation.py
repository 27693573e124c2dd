"""Which resource ends first, and at how many clients, by the lines of a run with fewer of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .blocks import Estimate
from .regression import Line


@dataclass(frozen=True)
class Resource:
    """Something of which there is only so much: bytes of memory or swap, cores, bytes/s of a link.

    line is its use over the clients.
    """

    name: str
    limit: float  # in the unit of the line
    line: Line


@dataclass(frozen=True)
class End:
    """clients is infinite where the use of the resource does not rise."""

    name: str
    clients: Estimate


@dataclass(frozen=True)
class First:
    """The resource that ends first. rivals are those that may end before it: their intervals
    overlap. clients is the interval of the first end, whichever it is.
    """

    name: str
    clients: Estimate
    rivals: tuple[str, ...]


def ends(resources: Sequence[Resource]) -> list[End]:
    """In the order in which they end."""
    found = [End(one.name, one.line.reaches(one.limit)) for one in resources]
    return sorted(found, key=lambda one: one.clients.value)


def first(found: Sequence[End]) -> First | None:
    """None if none of them ever ends. Requires: the order of ends()."""
    if not found or found[0].clients.value == float("inf"):
        return None
    at = found[0].clients
    rivals = tuple(one.name for one in found[1:] if one.clients.low <= at.high)
    low = min(one.clients.low for one in found)
    high = min(one.clients.high for one in found)
    return First(found[0].name, Estimate(at.value, low, high), rivals)
