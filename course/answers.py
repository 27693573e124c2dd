"""answers.json: which stage a server is, and what its author says of the results.

Students write it, so nothing in it is believed before it was looked at.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.errors import Failed

NAME = "answers.json"
STAGES = range(6)
LANGUAGES = ("c++", "go", "python")
_MOST_BYTES = 64 * 1024
_MOST_CLAIMS = 30
_TEXT = 2000
_MOST_NUMBER = 1e300  # neither inf nor nan is less, nor an integer that no float can be


@dataclass(frozen=True)
class Claim:
    """kind is "gain", "limit" or "n_star". after is the stage; before only that of a gain."""

    kind: str
    row: str
    after: str
    before: str
    said: float | str
    why: str

    def __str__(self) -> str:
        of = f"{self.before} → {self.after}" if self.before else self.after
        return f"{self.kind} of {of} at {self.row}: {self.said}"


@dataclass(frozen=True)
class Answers:
    """stage is the number of the assignment."""

    stage: int
    language: str
    claims: tuple[Claim, ...]
    predicted: tuple[Claim, ...]


def read(path: Path) -> Answers:
    """Failed, with what to mend, when it is not there or not as it should be."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Failed(f"{path.name}: {error.strerror}; the starter has one to fill in") from error
    return of_text(text)


def of_text(text: bytes) -> Answers:
    """Failed as above."""
    if len(text) > _MOST_BYTES:
        raise Failed(f"{NAME} is larger than 64 KiB")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Failed(f"{NAME} is no JSON: {str(error)[:100]}") from error
    if not isinstance(found, dict):
        raise Failed(f"{NAME} is no JSON object")
    return _checked(found)


def _checked(found: Mapping[str, Any]) -> Answers:
    stage, language = found.get("stage"), found.get("language", "c++")
    if not isinstance(stage, int) or isinstance(stage, bool) or stage not in STAGES:
        raise Failed(f'{NAME}: "stage" is a number from 0 to {STAGES[-1]}')
    if language not in LANGUAGES:
        raise Failed(f'{NAME}: "language" is one of {", ".join(LANGUAGES)}')
    gains = _claims(found, "gains", "gain", ("before", "after", "row"))
    limits = _claims(found, "limits", "limit", ("stage", "row"))
    n_stars = _claims(found, "n_stars", "n_star", ("stage", "row"))
    return Answers(
        stage,
        language,
        (*gains, *limits, *n_stars),
        tuple(_claims(found, "predicted", "gain", ("before", "after", "row"))),
    )


def _claims(found: Mapping[str, Any], name: str, kind: str, texts: Sequence[str]) -> list[Claim]:
    rows = found.get(name, [])
    if not isinstance(rows, list) or len(rows) > _MOST_CLAIMS:
        raise Failed(f'{NAME}: "{name}" is a list of at most {_MOST_CLAIMS}')
    made = []
    for row in rows:
        if not isinstance(row, dict):
            raise Failed(f'{NAME}: each of "{name}" is an object')
        if lacking := [one for one in (*texts, kind) if not _is_good(row.get(one), one == kind)]:
            raise Failed(f'{NAME}: one of "{name}" has no good {", ".join(lacking)}')
        said = row[kind]
        if (kind == "limit") == isinstance(said, (int, float)):
            raise Failed(f'{NAME}: "{kind}" is a {"word" if kind == "limit" else "number"}')
        after = row["after"] if kind == "gain" else row["stage"]
        why = row.get("why", "")
        made.append(
            Claim(
                kind,
                row["row"],
                after,
                row.get("before", "") if kind == "gain" else "",
                said,
                why[:_TEXT] if isinstance(why, str) else "",
            )
        )
    return made


def _is_good(value: object, may_be_number: bool) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _TEXT
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return may_be_number and is_number and abs(value) < _MOST_NUMBER  # type: ignore[arg-type]
