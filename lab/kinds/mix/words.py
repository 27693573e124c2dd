"""What mixes came to, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import wording
from . import analysis as mixes
from .analysis import MixResult

_USUAL_SHARE = 0.25  # the memory of which a sentence tells; else one that is near


def sentences(found: Sequence[MixResult], row: str, files: int) -> list[str]:
    """Each compares two settings that differ in one thing; those that were measured."""
    readers = [one for one in found if not one.has_writers]
    writers = [one for one in found if one.has_writers]
    said = [
        _hits(readers or writers, row, files),
        _memory(readers or writers),
        _writers(readers, writers),
        _written(writers),
        _taken(writers),
    ]
    return [sentence for sentence in said if sentence]


def _hits(found: Sequence[MixResult], row: str, files: int) -> str:
    part = [one for one in found if 0 < one.mix.in_memory < 1 and one.figure("hit_share")]
    if not part:
        return ""
    one = min(part, key=lambda one: abs(one.mix.in_memory - _USUAL_SHARE))
    held = mixes.expected(row, files, one.mix)
    return (
        f"With memory for {wording.percent(one.mix.in_memory)} of {files:,} files, "
        f"{wording.percent(one.median('hit_share'))} of those that were sent came from it; "
        f"{wording.percent(held.by_name)} are expected, because it has the files that come first "
        f"by name. With the most popular ones it would be {wording.percent(held.best)}."
    )


def _memory(found: Sequence[MixResult]) -> str:
    """The least against the most memory, all else alike."""
    if len({one.mix.in_memory for one in found}) < 2:
        return ""
    least = min(found, key=lambda one: one.mix.in_memory)
    most = max(found, key=lambda one: one.mix.in_memory)
    who = "readers and writers" if most.has_writers else "readers alone"
    return (
        f"For {who}, {_change(least, most)} with {_share(most)} in memory instead of "
        f"{_share(least)}."
    )


def _writers(readers: Sequence[MixResult], writers: Sequence[MixResult]) -> str:
    """With as much memory as both have at most."""
    pairs = [
        (one, other)
        for one in readers
        for other in writers
        if (one.mix.in_memory, one.threads) == (other.mix.in_memory, other.threads)
    ]
    if not pairs:
        return ""
    alone, beside = max(pairs, key=lambda pair: pair[0].mix.in_memory)
    return f"With writers beside them ({_share(beside)} in memory), {_change(alone, beside)}."


def _written(writers: Sequence[MixResult]) -> str:
    if not writers:
        return ""
    most = max(writers, key=lambda one: one.mix.in_memory)
    times = [
        f"{name} {wording.milliseconds(p50)} ms"
        for name, kind in (("a get takes", "get"), ("a put", "put"), ("a new account", "new"))
        if (p50 := most.median(f"{kind}_p50_ms")) is not None
    ]
    return f"In that mix {', '.join(times)} (medians)." if times else ""


def _taken(writers: Sequence[MixResult]) -> str:
    taken = max((one.median("files_written_to_memory") or 0.0 for one in writers), default=0.0)
    if taken < 1:
        return ""
    return f"Up to {taken:,.0f} files that were written took memory, and nobody asked for them."


def _share(one: MixResult) -> str:
    share = one.mix.in_memory
    return "all files" if share == 1 else "none" if not share else wording.percent(share)


def _change(before: MixResult, after: MixResult) -> str:
    """Of the gets."""
    rates = [one.median("get_rps") for one in (before, after)]
    times = [one.median("get_p99_ms") for one in (before, after)]
    parts = []
    if rates[0] and rates[1]:
        parts.append(
            f"{wording.rate(rates[0])} gets/s become {wording.rate(rates[1])} "
            f"({wording.times(rates[1] / rates[0])})"
        )
    if times[0] and times[1]:
        parts.append(
            f"their p99 goes from {wording.milliseconds(times[0])} to "
            f"{wording.milliseconds(times[1])} ms"
        )
    return " and ".join(parts) or "nothing is known of the gets"
