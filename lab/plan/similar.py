"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Collection

_FEW = 12  # names that are listed rather than guessed


def instead(name: str, known: Collection[str]) -> str:
    """Follows "no thing 'name'" in a message: the names, or those that are like it."""
    if len(known) <= _FEW:
        return f"; there are: {', '.join(known)}"
    close = difflib.get_close_matches(name, known)
    guess = f": did you mean {' or '.join(close)}?" if close else ";"
    return f"{guess} `lab list --all` has all names"
