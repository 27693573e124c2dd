"""Machines and links of the papers, by name: papers/machines.json and papers/links.json.

A machine is the part of this host that stands for it. Only the program that serves files and its
sessions get that part. The others keep the whole host.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from rig import cable
from rig.control_group import Limits
from rig.errors import WrongUsage
from rig.link import Link

from . import papers
from .from_json import from_json


@dataclass(frozen=True, kw_only=True)
class Machine(Limits):
    """A folder of an older version may have one without name and title."""

    name: str = ""
    title: str = ""

    @property
    def has_limits(self) -> bool:
        return replace(self, name="", title="") != Machine()


@cache
def machines() -> Mapping[str, Machine]:
    entries = json.loads((papers.FOLDER / "machines.json").read_text(encoding="utf-8"))
    return {name: from_json(Machine, {**entry, "name": name}) for name, entry in entries.items()}


def machine(name: str) -> Machine:
    """WrongUsage for an unknown name."""
    if name not in machines():
        raise WrongUsage(f"no machine '{name}'; there are: {', '.join(machines())}")
    return machines()[name]


_ROUND_TRIPS, _TIMES_AS_LONG = 30, 4  # until a link with a delay is full, and what is then counted
_MOST_S = 30.0


@cache
def links() -> Mapping[str, Link]:
    entries = json.loads((papers.FOLDER / "links.json").read_text(encoding="utf-8"))
    return {name: from_json(Link, {**entry, "name": name}) for name, entry in entries.items()}


def link(text: str) -> Link:
    """That of a name, or of a rate such as 10mbit; "" is one without a limit.

    WrongUsage for anything else.
    """
    if found := links().get(text):
        return found
    if text and not cable.is_rate(text):
        names = ", ".join(links())
        raise WrongUsage(f"--link '{text}': wanted a rate like 10mbit or 1gbit, or {names}")
    return Link(rate=text)


def probing_s(link: Link, usual_s: float) -> tuple[int, float]:
    """How long a probe fills this link before it counts, and how long it counts: a connection needs
    many round trips to fill a link with a delay.
    """
    if not link.delay_ms:
        return 0, usual_s
    warm_up_s = max(1, math.ceil(link.delay_ms * _ROUND_TRIPS / 1000))
    return warm_up_s, max(usual_s, min(_MOST_S, _TIMES_AS_LONG * warm_up_s))
