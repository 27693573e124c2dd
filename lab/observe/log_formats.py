"""A line of a log of transfers, of each form that the servers write.

Each function returns the transfer, or None for a line that is about no file. Which exception it
raises for a line that is not of its form depends on the line: see transfer_logs.py.
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

_MICROSECOND_S = 1e-6
_NO_TRANSFERS = ("delete", "mkcol", "lock", "unlock")  # kinds of a change to the folder
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OF_FILES = ("STOR", "RETR", "ESTO", "ERET", "APPE")
_IPV4_MAPPED = "::FFFF:"  # how GridFTP writes the address of a client that asked for EPSV
_COMPLETE = "226"  # the reply to a transfer that succeeded

_XFERLOG = re.compile(
    r"\w{3} (?P<month>\w{3}) (?P<day>[ \d]\d) (?P<time>\d\d:\d\d:\d\d) (?P<year>\d{4}) "
    r"(?P<seconds>\d{1,9}) (?P<peer>\S+) (?P<bytes>\d{1,18}) (?P<name>.+) "
    r"[ab] \S+ (?P<direction>[iod]) [agr] \S+ \S+ [01] \S+ (?P<state>[ci])"
)
_NETLOGGER = re.compile(
    r"DATE=(?P<end>\d{14}\.\d{1,6}) .*\bNL\.EVNT=FTP_INFO START=(?P<start>\d{14}\.\d{1,6}) "
    r"USER=.* FILE=(?P<name>.*) BUFFER=\d+ BLOCK=\d+ NBYTES=(?P<bytes>\d{1,18}) .*"
    r"\bDEST=\d*\[(?P<peer>[^]]*)\] TYPE=(?P<type>\w+) CODE=(?P<code>\d+)(?: .*)?"
)


def turnstile(line: str) -> Served | None:
    """The JSON of our fileserver. A request that moved nothing ended when it was taken up."""
    entry = json.loads(line)
    if entry.get("change") in _NO_TRANSFERS:
        return None
    asked_s = float(entry["asked"])
    return Served(
        start_s=asked_s,
        end_s=float(entry.get("last_byte", asked_s)),
        bytes=int(entry["bytes"]),
        peer_address=str(entry["client"]),
        name=str(entry["name"]),
        is_whole=entry["result"] == "ok",
        resolution_s=_MICROSECOND_S,
        parts=tuple((int(first), int(last)) for first, last in entry.get("range", ())),
    )


def xferlog(line: str) -> Served | None:
    """That of wu-ftpd, which pure-ftpd, vsftpd and proftpd write.

    It has the end and the length in whole seconds, which vsftpd rounds up. pure-ftpd calls every
    transfer complete, even one that broke off. Requires: the server wrote it in UTC.
    """
    found = _matched(_XFERLOG, line)
    if found["direction"] == "d":
        return None  # a file was deleted
    hour, minute, second = map(int, found["time"].split(":"))
    month = _MONTHS.index(found["month"]) + 1
    moment = (int(found["year"]), month, int(found["day"]), hour, minute, second)
    end_s = float(calendar.timegm(datetime(*moment).timetuple()))
    return Served(
        start_s=end_s - int(found["seconds"]),
        end_s=end_s,
        bytes=int(found["bytes"]),
        peer_address=found["peer"],
        name=found["name"],
        is_whole=found["state"] == "c",
        resolution_s=1.0,
    )


def netlogger(line: str) -> Served | None:
    """That of GridFTP, in UTC: `-log-transfer`. A transfer that broke off has no line."""
    found = _matched(_NETLOGGER, line)
    if found["type"] not in _OF_FILES:
        return None  # a listing
    return Served(
        start_s=_netlogger_time(found["start"]),
        end_s=_netlogger_time(found["end"]),
        bytes=int(found["bytes"]),
        peer_address=found["peer"].removeprefix(_IPV4_MAPPED),
        name=found["name"],
        is_whole=found["code"] == _COMPLETE,
        resolution_s=_MICROSECOND_S,
    )


def _matched(form: re.Pattern[str], line: str) -> re.Match[str]:
    found = form.fullmatch(line)
    if not found:
        raise ValueError(line)
    return found


def _netlogger_time(text: str) -> float:
    """Older versions write the microseconds without leading zeros."""
    moment, _, microseconds = text.partition(".")
    seconds = calendar.timegm(datetime.strptime(moment, "%Y%m%d%H%M%S").timetuple())
    return seconds + int(microseconds) * _MICROSECOND_S


@dataclass(frozen=True, kw_only=True)
class Served:
    """One transfer, up or down. Times are seconds since 1970, by the clock of the server."""

    start_s: float
    end_s: float
    bytes: int  # that were moved
    peer_address: str  # of the client; "" if the log does not say
    name: str
    is_whole: bool
    resolution_s: float  # of the times: 1.0 for a log of whole seconds, which are cut off
    # The first and the last byte of each part of the file; () for all of it, or if the log does not
    # say.
    parts: tuple[tuple[int, int], ...] = ()


def make_up(served: Sequence[Served], size_bytes: int) -> bool:
    """Whether transfers that are whole brought each byte of a file of this size, and no byte twice.

    A log that does not tell parts can only say so of one transfer.
    """
    parts = sorted(
        part for one in served if one.is_whole for part in (one.parts or ((0, one.bytes - 1),))
    )
    end = 0
    for first, last in parts:
        if first != end:
            return False
        end = last + 1
    return end == size_bytes and sum(one.bytes for one in served if one.is_whole) == size_bytes
