"""What a program had saved of a file when it was killed, and what was sent again all the same."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .log_formats import Served

Parts = tuple[tuple[int, int], ...]  # the first and the last byte of each


@dataclass(frozen=True)
class Kept:
    """at_s is when the program was killed, in seconds since 1970."""

    at_s: float
    parts: Parts


def kept_in(file: Path) -> Parts:
    """Where the file has data. Holes are what the program has not written.

    The file system tells them in pages, so a part may be longer by less than one. One that knows no
    holes says that all is data. () where there is no file.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ()
    try:
        return tuple(_data_in(descriptor, os.fstat(descriptor).st_size))
    finally:
        os.close(descriptor)


def sent_again(served: Sequence[Served], kept: Sequence[Kept]) -> int:
    """The bytes that were asked for after a kill although the program had them.

    What a killed program never received does not count, although a server has sent it. Requires:
    the log tells parts, and kept is in the order of time.
    """
    ends_s = [*(one.at_s for one in kept[1:]), float("inf")]
    return sum(
        _in_common(part, had)
        for one, end_s in zip(kept, ends_s)
        for each in served
        if one.at_s <= each.start_s < end_s
        for part in _sent(each)
        for had in one.parts
    )


def _data_in(descriptor: int, size_bytes: int) -> Iterator[tuple[int, int]]:
    end = 0
    while end < size_bytes:
        try:
            first = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:
            return  # there is only a hole left
        end = os.lseek(descriptor, first, os.SEEK_HOLE)
        yield first, end - 1


def _sent(one: Served) -> Iterator[tuple[int, int]]:
    """The parts as far as they were sent."""
    left = one.bytes
    for first, last in one.parts or ((0, one.bytes - 1),):
        length = min(left, last - first + 1)
        yield first, first + length - 1
        left -= length


def _in_common(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]) + 1)
