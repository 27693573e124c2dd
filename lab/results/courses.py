"""What clients and server did over the time of a ramp, as samples/ keeps it: a text a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..workloads.uploads import Moment

_COLUMNS = ("load", "ended", "bytes_per_s", "mean_ms")
_NOTHING = "-"


@dataclass(frozen=True)
class Courses:
    """Both views, with steps of equal length. The server's is empty if it keeps no log."""

    step_s: float
    clients: Sequence[Moment]
    server: Sequence[Moment] = ()


def packed(courses: Courses) -> dict[str, Any]:
    """A part of the evidence."""
    return {
        "courses": {
            "step_s": courses.step_s,
            "columns": " ".join(_COLUMNS),
            "clients": [_text(moment) for moment in courses.clients],
            "server": [_text(moment) for moment in courses.server],
        }
    }


def unpacked(evidence: Mapping[str, Any]) -> Courses | None:
    """None for a run that is no ramp."""
    kept = evidence.get("courses")
    if not kept:
        return None
    step_s = kept["step_s"]
    return Courses(step_s, *(_moments(kept[view], step_s) for view in ("clients", "server")))


def _text(moment: Moment) -> str:
    mean = _NOTHING if moment.mean_ms is None else f"{moment.mean_ms:.3f}"
    return f"{moment.load:.3f} {moment.ended} {moment.bytes_per_s:.0f} {mean}"


def _moments(texts: Sequence[str], step_s: float) -> list[Moment]:
    found = []
    for index, text in enumerate(texts):
        load, ended, rate, mean = text.split()
        found.append(
            Moment(
                t=(index + 0.5) * step_s,
                load=float(load),
                ended=int(ended),
                bytes_per_s=float(rate),
                mean_ms=None if mean == _NOTHING else float(mean),
            )
        )
    return found
