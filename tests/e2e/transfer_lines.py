"""The lines of a transfer log, as the tests read them."""

import json
from pathlib import Path
from typing import Any

from waiting import eventually

Line = dict[str, Any]


def parse(data: bytes) -> list[Line]:
    """The lines of one file. Fails if one is torn or is not JSON in ASCII."""
    assert data.isascii() and (not data or data.endswith(b"\n")), data[-200:]
    return [json.loads(line) for line in data.splitlines()]


def lines_of(*logs: Path) -> list[Line]:
    return [line for log in logs for line in parse(log.read_bytes())]


def whole_lines_of(log: Path) -> list[Line]:
    """Of a log whose disk is full. Each new attempt writes what has room, and cuts it off, so one
    look may be in between."""
    data = b""

    def is_whole() -> bool:
        nonlocal data
        data = log.read_bytes()
        return data.endswith(b"\n")

    eventually(is_whole, "the log has whole lines")
    return parse(data)


def wait_for_lines(log: Path, count: int) -> list[Line]:
    """Waits until the log has this many whole lines. Returns them in the order of asking: two that
    end on different cores at the same time may be written in any order."""
    eventually(lambda: log.read_bytes().count(b"\n") >= count, f"{count} lines in {log}")
    return sorted(lines_of(log), key=lambda line: float(line["asked"]))
