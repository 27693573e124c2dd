"""All mutations. They are blocks of text in the files beside this one, as CONTRIBUTING.md says.

    @ lib/net/fd.h

    moved-fd-is-closed-twice in Fd::Fd (may hang): unit/a moved-from Fd* | e2e/test_idle.IdleTest
    - the old text, which is in the function once
    + the new text

The function may be anywhere in the file, or in another file of its folder. Without "in FUNCTION",
the text is in the file once. Lines that begin with # are comments.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from place import Mutation

from rig.errors import Failed

_HEAD = re.compile(
    r"(?P<name>[a-z0-9.-]+)(?: in (?P<function>\S+(?: \w+)?))?"
    r"(?P<hang> \(may hang\))?: (?P<tests>\S.*)"
)


def read(path: Path) -> Iterator[Mutation]:
    """The mutations of one file, in its order. Failed for anything else in it."""
    file = head = None
    old: list[str] = []
    new: list[str] = []

    def block() -> Iterator[Mutation]:
        if head is None:
            return
        if file is None or not old:
            raise Failed(f"{path.name}: {head['name']} needs a file and a text to change")
        tests = tuple(head["tests"].split(" | "))
        texts = ("\n".join(old), "\n".join(new))
        hangs = head["hang"] is not None
        yield Mutation(head["name"], file, *texts, tests, hangs, head["function"] or "")

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line in ("-", "+") or line.startswith(("- ", "+ ")):
            if head is None or (line[0] == "-" and new):
                raise Failed(f"{path.name}:{number}: this text is of no mutation: {line}")
            (old if line[0] == "-" else new).append(line[2:])
            continue
        if not line or line.startswith("#"):
            continue
        yield from block()
        head, old, new = None, [], []
        if line.startswith("@ "):
            file = line[2:]
        elif not (head := _HEAD.fullmatch(line)):
            raise Failed(f"{path.name}:{number}: not NAME: TEST | TEST: {line}")
    yield from block()


# Those of one file stand together, so that it is compiled once for each.
ALL: tuple[Mutation, ...] = tuple(
    mutation
    for path in sorted(Path(__file__).resolve().parent.glob("*.txt"))
    for mutation in read(path)
)
