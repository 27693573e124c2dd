"""The series of a run, as samples/ keeps it: each second and each event is one text.

As JSON with a line for each number, they would be the most of what a long trial leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from ..workloads.series import Event, Second, Series, of_words

_NOTHING = "-"


def packed(series: Series) -> dict[str, Any]:
    """A part of the evidence; {} for a run without a series."""
    if not series.seconds:
        return {}
    names = [one.name for one in fields(Second)]
    seconds = [" ".join(_text(asdict(one)[name]) for name in names) for one in series.seconds]
    events = [f"{one.t} {one.what}" for one in series.events]
    return {"series": {"columns": " ".join(names), "seconds": seconds, "events": events}}


def unpacked(evidence: Mapping[str, Any]) -> Series:
    """An empty one for a run without a series."""
    kept = evidence.get("series")
    if not kept:
        return Series()
    names = kept["columns"].split()
    rows = (dict(zip(names, text.split())) for text in kept["seconds"])
    seconds = (
        of_words({name: "" if word == _NOTHING else word for name, word in row.items()})
        for row in rows
    )
    words = (text.split(" ", 1) for text in kept["events"])
    return Series(tuple(seconds), tuple(Event(float(t), what) for t, what in words))


def _text(value: float | None) -> str:
    return _NOTHING if value is None else str(value)
