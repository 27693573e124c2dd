"""What is said about a run that drifted or changed."""

from __future__ import annotations

import math

from ..analysis.over_time import Course, OverTime, Shift
from . import wording


def sentences(found: OverTime) -> str:
    """Each with a blank before it; "" where nothing happened."""
    return _of_requests(found.requests) + _of_times(found.mean_ms)


def _of_requests(course: Course) -> str:
    if course.drift:
        much = wording.percent(abs(course.drift))
        word = "rose" if course.drift > 0 else "fell"
        return f" From the start to the end the number of requests {word} by {much}."
    return _list(course, "there were", "more requests", "fewer requests")


def _of_times(course: Course) -> str:
    if course.drift:
        much = wording.percent(abs(course.drift))
        word = "longer" if course.drift > 0 else "shorter"
        return f" From the start to the end the mean response time became {much} {word}."
    return _list(course, "the mean response time was", "longer", "shorter")


def _list(course: Course, verb: str, more: str, less: str) -> str:
    """The verb is said once."""
    if not course.shifts:
        return ""
    first, *others = (_amount(one, more, less) for one in course.shifts)
    starts = [f"from {one.from_s} s on" for one in course.shifts]
    rest = "".join(f", {start} {amount}" for start, amount in zip(starts[1:], others))
    return f" {starts[0].capitalize()} {verb} {first}{rest}."


def _amount(shift: Shift, more: str, less: str) -> str:
    if math.isinf(shift.share):
        return f"{more} than none"
    return f"{wording.percent(abs(shift.share))} {more if shift.share > 0 else less}"
