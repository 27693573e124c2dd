"""Waiting for what is about to become true."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# An upper bound for whatever must happen at all. The machine may be loaded and the programs built with a sanitizer,
# so it says nothing about speed.
LONG_S = 30.0

_LOOK_AGAIN_S = 0.01


def eventually(look: Callable[[], T], what: str, within_s: float = LONG_S) -> T:
    """The first true value that `look` returns; an AssertionError naming `what` when there is none in time."""
    deadline = time.monotonic() + within_s
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s:g} s: {what}")
        time.sleep(_LOOK_AGAIN_S)
    return seen


def time_s(action: Callable[[], object]) -> float:
    """How long `action` takes."""
    start = time.monotonic()
    action()
    return time.monotonic() - start
