"""Links of the papers, by name: papers/links.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache

from rig import cable
from rig.errors import WrongUsage
from rig.link import Link

from . import papers
from .from_json import from_json

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
