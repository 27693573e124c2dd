"""Where the text of a mutation is: found by its function, so that code may move."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from functions import Function, functions

from rig.errors import Failed


@dataclass(frozen=True)
class Mutation:
    """One text of one function, or of one file, which becomes another one.

    tests must fail then, each of them: unit tests as a tag in brackets or as unit/NAME, whose end
    may be a *, other tests as FOLDER/FILE[.CLASS.TEST], such as e2e/test_idle. may_hang says that
    a test that does not end in time counts as failed.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    may_hang: bool = False
    function: str = ""  # such as Fd::Fd, or its last part; empty for what is in no function


@dataclass(frozen=True)
class Place:
    """text[begin:end] of the file becomes new. Of the mutation's text, this is what differs."""

    file: str
    begin: int
    end: int
    new: str

    def changed(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]

    def is_in(self, function: Function) -> bool:
        return function.body < self.begin and self.end < function.end


class Sources:
    """The files below a folder, each read and taken apart once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self.text = cache(self._text)
        self.functions = cache(self._functions)

    def place_of(self, mutation: Mutation) -> Place:
        """Failed unless the text is there once."""
        found = self._found(mutation, mutation.file)
        if not found and mutation.function:
            found = [
                place for file in self._beside(mutation) for place in self._found(mutation, file)
            ]
        if len(found) != 1:
            raise Failed(
                f"mutation {mutation.name}: its text must be in {_where(mutation)} once, but is "
                f"there {len(found)} times:\n{mutation.old}"
            )
        return found[0]

    def function_of(self, place: Place) -> Function | None:
        """The function in whose body the place is."""
        return next(filter(place.is_in, self.functions(place.file)), None)

    def _text(self, file: str) -> str:
        try:
            return (self._top / file).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _functions(self, file: str) -> list[Function]:
        return functions(file, self.text(file))

    def _beside(self, mutation: Mutation) -> list[str]:
        folder = Path(mutation.file).parent
        kinds = (".py",) if mutation.file.endswith(".py") else (".cpp", ".h")
        paths = sorted(path for path in (self._top / folder).glob("*") if path.suffix in kinds)
        return [
            str(folder / path.name) for path in paths if str(folder / path.name) != mutation.file
        ]

    def _found(self, mutation: Mutation, file: str) -> list[Place]:
        text, old = self.text(file), mutation.old
        spans = [(0, len(text))]
        if mutation.function:
            named = [one for one in self.functions(file) if one.is_called(mutation.function)]
            spans = [(one.begin, one.end) for one in named]
        starts = {at for begin, end in spans for at in _all_of(old, text, begin, end)}
        return [_what_differs(file, at, old, mutation.new) for at in sorted(starts)]


def _all_of(old: str, text: str, begin: int, end: int) -> list[int]:
    found, at = [], begin
    while (at := text.find(old, at, end)) >= 0:
        found.append(at)
        at += 1
    return found


def _what_differs(file: str, at: int, old: str, new: str) -> Place:
    most = min(len(old), len(new))
    before = next((i for i in range(most) if old[i] != new[i]), most)
    most -= before
    after = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    return Place(file, at + before, at + len(old) - after, new[before : len(new) - after])


def _where(mutation: Mutation) -> str:
    within = f"{mutation.function}() of " if mutation.function else ""
    return f"{within}{mutation.file}"
