"""Waiting until something is true."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# An upper bound for things that must happen at all. It is long because the machine may be loaded
# and the programs may be built with a sanitizer.
LONG_S = 30.0

_LOOK_AGAIN_S = 0.01


def eventually(look: Callable[[], T], what: str, within_s: float = LONG_S) -> T:
    """Calls `look` until it returns a true value, and returns that value.

    Fails with an AssertionError that names `what` if there is none within `within_s`.
    """
    deadline = time.monotonic() + within_s
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s:g} s: {what}")
        time.sleep(_LOOK_AGAIN_S)
    return seen


def time_s(action: Callable[[], object]) -> float:
    """Returns how long `action` takes."""
    start = time.monotonic()
    action()
    return time.monotonic() - start
