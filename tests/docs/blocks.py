"""The code blocks of a Markdown page: fenced ones, and those that are indented by four columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(?=\S)")
_NOTE = re.compile(r"<!--\s*(.*?)\s*-->$")


@dataclass(frozen=True)
class Block:
    """A code block."""

    page: str
    section: str  # the heading of level two above it
    line: int  # the number of its first line of code, from 1
    language: str  # of the fence; "plain" without one; "indented" if there is no fence
    notes: tuple[str, ...]  # the HTML comments right above it
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def of_text(text: str, page: str) -> list[Block]:
    """All blocks in their order. Raises ValueError if a fence is not closed."""
    return list(_Reader(text.splitlines(), page).blocks())


class _Reader:
    """Reads a page line by line."""

    def __init__(self, lines: list[str], page: str) -> None:
        self.lines = lines
        self.page = page
        self.at = 0
        self.section = ""
        self.notes: list[str] = []
        self.item_column = 0  # where the text of the list item begins that the line belongs to
        self.after_blank = True

    def blocks(self) -> Iterator[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            stripped = line.strip()
            column = _indent(line)
            if not stripped:
                self.after_blank = True
                self.at += 1
                continue
            if self.after_blank:
                self.item_column = min(self.item_column, column)
            note = _NOTE.match(stripped)
            fence = _FENCE.match(stripped)
            if note:
                self.notes.append(note[1])
                self.at += 1
            elif fence:
                yield self._fenced(fence[1], fence[2] or "plain", column)
            elif self.after_blank and column >= self.item_column + 4:
                yield self._indented(self.item_column + 4)
            else:
                self._prose(stripped, column)

    def _prose(self, stripped: str, column: int) -> None:
        item = _ITEM.match(stripped)
        if item:
            self.item_column = column + item.end()
        if stripped.startswith("## "):
            self.section = stripped
        self.notes = []
        self.after_blank = False
        self.at += 1

    def _fenced(self, mark: str, language: str, column: int) -> Block:
        start = self.at + 1
        for end in range(start, len(self.lines)):
            if self.lines[end].strip() == mark:
                return self._block(start, end, column, language, end + 1)
        raise ValueError(f"{self.page}:{start}: this fence is not closed")

    def _indented(self, columns: int) -> Block:
        """Blank lines belong to the block if more of it follows."""
        end = self.at
        for number in range(self.at, len(self.lines)):
            if self.lines[number].strip():
                if _indent(self.lines[number]) < columns:
                    break
                end = number + 1
        return self._block(self.at, end, columns, "indented", end)

    def _block(self, start: int, end: int, columns: int, language: str, behind: int) -> Block:
        lines = tuple(line[columns:] for line in self.lines[start:end])
        notes = tuple(self.notes)
        self.notes, self.at, self.after_blank = [], behind, True
        return Block(self.page, self.section, start + 1, language, notes, lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
