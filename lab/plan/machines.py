"""Machines of the papers, each as the part of this host that stands for it: papers/machines.json.

Only the program that serves files and its sessions get that part. The others keep the whole host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from rig.control_group import Limits
from rig.errors import WrongUsage

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
