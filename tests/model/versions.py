"""What files contain: each block of 32 bytes says of which version it is, and where it stands."""

import itertools
import re

_BLOCK = re.compile(rb"(\d{20}) (\d{10})\n")
_BLOCK_BYTES = 32
_numbers = itertools.count(1)


def fresh(size: int, offset: int = 0) -> bytes:
    """Content that nobody had before. With an offset: what is appended behind so many bytes."""
    number = next(_numbers)
    places = range(offset, offset + size, _BLOCK_BYTES)
    return b"".join(b"%020d %010d\n" % (number, place) for place in places)[:size]


def describe(content: object) -> str:
    """For people: a state of a name, or the body of an answer."""
    if not isinstance(content, bytes):
        return "absent" if content is None else str(content)
    found = dict.fromkeys(int(block[1]) for block in _BLOCK.finditer(content))
    of = "+".join(str(number) for number in found) or "?"
    return f"version {of} ({len(content)} bytes)" if content else "empty"
