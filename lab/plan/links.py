"""Links of the papers, by name: papers/links.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from ..rig import cable
from ..rig.errors import WrongUsage
from ..rig.link import Link
from . import papers
from .from_json import from_json


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
