"""What a failover came to, in sentences."""

from __future__ import annotations

from ...report import wording
from .outage import Outage, Times


def sentences(seen: Outage, causes: str) -> str:
    """causes is "cause count, …", as a Run has its errors."""
    said = [
        f"The {seen.component} was killed after {seen.killed_s:.1f} s and started again after "
        f"{seen.started_s:.1f} s.",
        failed(seen, causes),
        *_meanwhile(seen),
        answered(seen),
        *afterwards(seen),
    ]
    return " ".join(said)


def failed(seen: Outage, causes: str) -> str:
    if not seen.failed:
        return f"None of {seen.requests:,} requests failed."
    return (
        f"{seen.failed:,} of {seen.requests:,} requests failed ({causes}), the last one in second "
        f"{seen.last_failed}."
    )


def _meanwhile(seen: Outage) -> list[str]:
    if not seen.answered_meanwhile:
        return []
    requests = wording.plural(seen.answered_meanwhile, "request")
    return [f"While it was away, {requests} had an answer all the same."]


def answered(seen: Outage) -> str:
    if seen.waited_s is None:
        return "Nothing was answered after the start."
    return f"The first answer after the start came in second {seen.first_answered}: {waited(seen)}."


def waited(seen: Outage) -> str:
    """How long after the start the first answer came; "" if none did."""
    if seen.waited_s is None:
        return wording.NOTHING
    least, most = seen.waited_s
    return f"{least:.1f} to {most:.1f} s later" if least else f"at most {most:.1f} s later"


def afterwards(seen: Outage) -> list[str]:
    """[] if it cannot be told."""
    if seen.is_as_before is None or seen.before is None or seen.after is None:
        return []
    how = "as before" if seen.is_as_before else "longer than before"
    return [
        f"Afterwards response times were {how}: p50 {both(seen.before, seen.after, 'p50')}, "
        f"p99 {both(seen.before, seen.after, 'p99')}."
    ]


def both(before: Times, after: Times, which: str) -> str:
    first, then = (wording.milliseconds(getattr(one, which)) for one in (before, after))
    return f"{then} ms ({first} before)"
