"""What clients asked and were answered, and a checker that finds the answers that were wrong.

A name belongs to at most one password. A request whose answer is not known, because it failed or
its connection ended, may have been carried out at any time after it was sent.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

LOST = "lost"  # the connection ended before the answer was complete
MIXED = "mixed"  # the body of a file is of no version
_FAILED = {"unavailable", LOST}
_UNIT_BYTES = 64
_MOST_UNITS = 600


class Operation(NamedTuple):
    """One request. The times are of one clock for all clients.

    secret is the password. For a file it is the answer to the last `get` on the same connection.
    answer is "OK", the code of an error, or LOST. For a file it may also be the version, or MIXED.
    """

    kind: str  # new, get or file
    name: str
    secret: str
    invoked: float
    completed: float
    answer: str
    client: int = 0

    def __str__(self) -> str:
        times = f"{self.invoked:.6f}..{self.completed:.6f}"
        return f"{self.kind} {self.name} {self.secret} at {times}: {self.answer}"

    def may_have_succeeded(self) -> bool:
        return self.answer == "OK" or self.answer in _FAILED


def wrong_answers(operations: Iterable[Operation]) -> Iterator[str]:
    """Says of each wrong answer why it is wrong."""
    by_name: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.kind == "file":
            yield from _wrong_file(operation)
        else:
            by_name[operation.name].append(operation)
    for of_name in by_name.values():
        news = [one for one in of_name if one.kind == "new"]
        gets = [one for one in of_name if one.kind == "get"]
        yield from _wrong_words(news, gets)
        yield from _wrong_news(news, gets)
        yield from _wrong_gets(news, gets)


def _wrong_file(file: Operation) -> Iterator[str]:
    if file.answer in _FAILED:
        return
    if file.secret != "OK":
        if file.answer != "denied":
            yield f"a file without a granted get: {file}"
    elif not file.answer.isdigit():
        yield f"not a version of the file: {file}"


def _wrong_words(news: Sequence[Operation], gets: Sequence[Operation]) -> Iterator[str]:
    for operations, words in ((news, {"OK", "exists"}), (gets, {"OK", "denied"})):
        for one in operations:
            if one.answer not in words and one.answer not in _FAILED:
                yield f"not an answer to this request: {one}"


def _wrong_news(news: Sequence[Operation], gets: Sequence[Operation]) -> Iterator[str]:
    winners = [one for one in news if one.answer == "OK"]
    for second in winners[1:]:
        yield f"a second OK for one name: {second}, after {winners[0]}"
    shown = [one for one in news if one.answer == "exists"]
    shown += [one for one in gets if one.answer == "OK"]
    taken_at = min((one.completed for one in shown), default=math.inf)
    for winner in winners:
        if winner.invoked > taken_at:
            yield f"the name was known to be taken: {winner}"
    reasons = sorted(one.invoked for one in news if one.may_have_succeeded())
    for one in news:
        if one.answer == "exists" and (not reasons or reasons[0] > one.completed):
            yield f"nothing can have made it before: {one}"


def _wrong_gets(news: Sequence[Operation], gets: Sequence[Operation]) -> Iterator[str]:
    granted = [one for one in gets if one.answer == "OK"]
    proofs = [one for one in (*news, *granted) if one.answer == "OK"]
    for other in proofs[1:]:
        if other.secret != proofs[0].secret:
            yield f"two passwords for one name: {other}, after {proofs[0]}"
    for one in granted:
        if not any(
            new.secret == one.secret and new.may_have_succeeded() and new.invoked < one.completed
            for new in news
        ):
            yield f"no account can have this password: {one}"
    for first in proofs[:1]:
        works_from = min(one.completed for one in proofs if one.secret == first.secret)
        for one in gets:
            if one.answer == "denied" and one.secret == first.secret and one.invoked > works_from:
                yield f"the winner's password no longer works: {one}"


def body_of(name: str, version: int) -> bytes:
    """A version of a file. Its size follows from its version; each 64 bytes name both."""
    unit = f"{name} {version} ".encode().ljust(_UNIT_BYTES - 1, b".") + b"\n"
    return unit * (1 + version * 37 % _MOST_UNITS)


def version_of(name: str, body: bytes) -> str:
    """The version as a number, or MIXED if the body is not exactly that of one version."""
    words = body[:_UNIT_BYTES].split(b" ")
    if len(words) < 3 or not words[1].isdigit():
        return MIXED
    version = int(words[1])
    return str(version) if body == body_of(name, version) else MIXED
