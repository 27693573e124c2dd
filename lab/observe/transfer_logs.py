"""Reads the logs of transfers that servers write, whatever their form."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from rig.transfer_log import NETLOGGER, TURNSTILE, XFERLOG

from . import log_formats
from .log_formats import Served

_READERS: dict[str, Callable[[str], Served | None]] = {
    TURNSTILE: log_formats.turnstile,
    XFERLOG: log_formats.xferlog,
    NETLOGGER: log_formats.netlogger,
}
_LONGEST_LINE = 10_000
_MOST_BYTES = 1 << 63
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,  # of JSON with thousands of brackets
)


@dataclass(frozen=True)
class Recorded:
    """In the order of the log, which is mostly that of the ends."""

    served: list[Served]
    skipped: int  # lines that could not be read, such as one that was not written to its end


def read(form: str, data: bytes) -> Recorded:
    """What is in a log, or in a part of it. The server may still be writing.

    Requires: there is such a form.
    """
    *lines, rest = data.split(b"\n")
    served, skipped = [], 1 if rest else 0
    for line in lines:
        try:
            one = _read_line(form, line)
        except _UNREADABLE:
            skipped += 1
            continue
        if one:
            served.append(one)
    return Recorded(served, skipped)


def _read_line(form: str, line: bytes) -> Served | None:
    if len(line) > _LONGEST_LINE:
        raise ValueError("the line is too long")
    one = _READERS[form](line.decode("utf-8", errors="replace"))
    if one and not _is_possible(one):
        raise ValueError("no transfer can be like this")
    return one


def _is_possible(one: Served) -> bool:
    times = math.isfinite(one.start_s) and math.isfinite(one.end_s)
    return times and 0 <= one.start_s <= one.end_s and 0 <= one.bytes < _MOST_BYTES
