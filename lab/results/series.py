"""Series and distributions of a run, as samples/ keeps them: a text for each second and event.

As JSON with a line for each number, they would be the most of what a long trial leaves.

A distribution of response times is one text of `upper_ms:count`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..workloads.outcome import Event, Second, Series, of_words
from ..workloads.uploads import Moment

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


_COLUMNS = ("load", "ended", "bytes_per_s", "mean_ms")
_NONE_ENDED = "-"


@dataclass(frozen=True)
class Courses:
    """Both views, with steps of equal length. The server's is empty if it keeps no log."""

    step_s: float
    clients: Sequence[Moment]
    server: Sequence[Moment] = ()


def packed_courses(courses: Courses) -> dict[str, Any]:
    """A part of the evidence."""
    return {
        "courses": {
            "step_s": courses.step_s,
            "columns": " ".join(_COLUMNS),
            "clients": [_step_text(moment) for moment in courses.clients],
            "server": [_step_text(moment) for moment in courses.server],
        }
    }


def courses_of(evidence: Mapping[str, Any]) -> Courses | None:
    """None for a run that is no ramp."""
    kept = evidence.get("courses")
    if not kept:
        return None
    step_s = kept["step_s"]
    return Courses(step_s, *(_moments(kept[view], step_s) for view in ("clients", "server")))


def _step_text(moment: Moment) -> str:
    mean = _NONE_ENDED if moment.mean_ms is None else f"{moment.mean_ms:.3f}"
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
                mean_ms=None if mean == _NONE_ENDED else float(mean),
            )
        )
    return found


Bucket = tuple[float, int]  # the largest value in it, in ms, and how many values it has
Distribution = list[Bucket]  # in ascending order

_LISTS = (
    *("distribution", "service_distribution", "lateness_distribution"),
    "handshake_distribution",
)


@dataclass(frozen=True)
class Tail:
    """Of one trial. There are two halves, or none where they are not known."""

    whole: Distribution
    halves: list[Distribution]


def packed_distributions(result: dict[str, Any]) -> dict[str, Any]:
    """The load generator's result with its distributions as texts."""
    kept: dict[str, Any] = {
        name: _distribution_text(result[name]) for name in _LISTS if result.get(name)
    }
    if result.get("halves"):
        kept["halves"] = [_distribution_text(half) for half in result["halves"]]
    return {**result, **kept}


def tail(result: dict[str, Any]) -> Tail | None:
    """Of a packed result; None if it has no distribution, as those of older versions."""
    if not isinstance(result.get("distribution"), str):
        return None
    return Tail(
        _parsed(result["distribution"]), [_parsed(one) for one in result.get("halves") or []]
    )


def _distribution_text(buckets: list[list[float]]) -> str:
    return " ".join(f"{upper!r}:{count}" for upper, count in buckets)


def _parsed(text: str) -> Distribution:
    pairs = (one.split(":") for one in text.split())
    return [(float(upper), int(count)) for upper, count in pairs]
