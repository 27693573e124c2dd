"""Somebody else, who changes the served folder on the disk and knows nothing of the server."""

import itertools
import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import versions
from names import FILES, FOLDERS, LINKED, OTHER_SIZES, OUTSIDE, leaves
from timeline import ABSENT, FOLDER, NOTHING, Change, Growing, State, States, Timeline

_PAUSE_S = 0.03
_TIME_TO_READ_S = 0.3


class Disturber:
    """Only he writes into files in place, and makes, moves and removes the folders with files."""

    def __init__(self, root: Path, beside: Path, timeline: Timeline, seed: str) -> None:
        """`beside` is a folder of the same file system that is not served."""
        self._root = root
        self._beside = beside
        self._timeline = timeline
        self._dice = random.Random(seed)
        self._trash = 0
        self._left_outside: dict[str, bytes] = {}
        self.complaints: list[str] = []

    def begin(self) -> None:
        """Makes the first folder, and files."""
        for folder in FOLDERS[:1]:
            self._make(folder)
        for name in (*FOLDERS, *FILES, *LINKED):
            states: States = frozenset([FOLDER]) if name == FOLDERS[0] else ABSENT
            self._timeline.add(Change("at first", states, 0.0, 0.0), name)
        self._timeline.add(Change("at first", ABSENT, 0.0, 0.0), OUTSIDE, *leaves(OUTSIDE))
        for name in LINKED:
            self._replace(name)

    def live(self, is_over: threading.Event) -> None:
        in_files: tuple[Callable[[str], None], ...] = (
            *(self._overwrite, self._overwrite, self._overwrite, self._rewrite, self._replace),
            *(self._append, self._truncate, self._remove, self._rename, self._chmod),
        )
        of_linked = (self._overwrite, self._append, self._link, self._replace)
        while not is_over.wait(self._dice.expovariate(1 / _PAUSE_S)):
            kind = self._dice.random()
            if kind < 0.1:
                self._change_folders()
            elif kind < 0.2:
                self._disturb_linked(self._dice.choice(of_linked))
            else:
                self._dice.choice(in_files)(self._dice.choice(FILES))
        self._write_twice()

    def _write_twice(self) -> None:
        """At last, each file changes again just after the server has had time to read it."""
        for _ in range(2):
            for name in (*FILES, *LINKED):
                self._overwrite(name)
            time.sleep(_TIME_TO_READ_S)

    def _disturb_linked(self, change: Callable[[str], None]) -> None:
        begun = self._timeline.now()
        change(self._dice.choice(LINKED))
        # Whichever loses or gets a name has other times.
        self._note("linked or unlinked", NOTHING, begun, *LINKED, is_certain=False)

    def _path(self, name: str) -> Path:
        is_outside = name == OUTSIDE or name.startswith(OUTSIDE + "/")
        return (self._beside if is_outside else self._root) / name

    def _note(
        self, what: str, states: States, begun: float, *names: str, is_certain: bool = True
    ) -> Change:
        now = self._timeline.now()
        change = Change(what, states, begun, now, is_certain, shown=now)
        return self._timeline.add(change, *names)

    def _note_moved(self, old: str, new: str, begun: float, departure: Change) -> Change:
        change = self._note(f"moved from {old}", NOTHING, begun, new)
        change.source, change.departure = old, departure
        return change

    def _in_place(self, name: str, what: str, change: Callable[[int, bytes], list[bytes]]) -> None:
        """change(fd, content) makes the states that it returns, one after the other.

        If the name leads to another file at the end, nobody may have seen any of them.
        """
        begun = self._timeline.now()
        try:
            fd = os.open(self._path(name), os.O_RDWR)
        except OSError:
            return
        with os.fdopen(fd, "rb+", buffering=0) as file:
            states = change(fd, os.pread(fd, os.fstat(fd).st_size, 0))
            try:
                is_same = os.path.samestat(os.fstat(fd), os.stat(self._path(name)))
            except OSError:
                is_same = False
            file.close()
        names = self._names_of(name)
        if not states:
            return
        last = self._note(what, frozenset(states[-1:]), begun, *names, is_certain=is_same)
        for state, following in itertools.pairwise(states):
            between = Growing(len(state), len(following))
            passing = self._note(what, frozenset([state, between]), begun, *names, is_certain=False)
            passing.ended_by = last

    def _names_of(self, name: str) -> list[str]:
        """Two linked names are one file, if they are."""
        if name not in LINKED:
            return [name]
        one, other = (self._path(linked) for linked in LINKED)
        is_one_file = one.exists() and other.exists() and one.samefile(other)
        return list(LINKED) if is_one_file else [name]

    def _overwrite(self, name: str) -> None:
        def change(fd: int, content: bytes) -> list[bytes]:
            written = versions.fresh(len(content))
            os.pwrite(fd, written, 0)
            return [written]

        self._in_place(name, "overwritten", change)

    def _rewrite(self, name: str) -> None:
        size = self._dice.choice(OTHER_SIZES)

        def change(fd: int, _content: bytes) -> list[bytes]:
            written = versions.fresh(size)
            os.ftruncate(fd, 0)
            os.pwrite(fd, written, 0)
            return [b"", written]

        self._in_place(name, "truncated and written", change)

    def _append(self, name: str) -> None:
        def change(fd: int, content: bytes) -> list[bytes]:
            first = content + versions.fresh(64, len(content))
            os.pwrite(fd, first[len(content) :], len(content))
            second = first + versions.fresh(64, len(first))
            os.pwrite(fd, second[len(first) :], len(first))
            return [first, second]

        self._in_place(name, "appended twice", change)

    def _truncate(self, name: str) -> None:
        def change(fd: int, content: bytes) -> list[bytes]:
            size = len(content) // 2
            if size == 0:
                return []
            os.ftruncate(fd, size)
            return [content[:size]]

        self._in_place(name, "truncated", change)

    def _replace(self, name: str) -> None:
        fresh = self._beside / "fresh"
        content = versions.fresh(self._dice.choice(OTHER_SIZES))
        fresh.write_bytes(content)
        others = [one for one in self._names_of(name) if one != name]
        begun = self._timeline.now()
        try:
            fresh.rename(self._path(name))
        except OSError:
            return
        departure = self._note("replaced by rename", frozenset([content]), begun, name)
        for other in others:  # who has opened the file reads what is written under this name
            self._note_moved(name, other, begun, departure).is_certain = False

    def _remove(self, name: str) -> None:
        begun = self._timeline.now()
        try:
            self._path(name).unlink()
        except OSError:
            return
        self._note("removed", ABSENT, begun, name)

    def _rename(self, name: str) -> None:
        other = self._dice.choice([one for one in FILES if one != name])
        begun = self._timeline.now()
        try:
            self._path(name).rename(self._path(other))
        except OSError:
            return
        self._note_moved(name, other, begun, self._note(f"moved to {other}", ABSENT, begun, name))

    def _chmod(self, name: str) -> None:
        begun = self._timeline.now()
        try:
            self._path(name).chmod(self._dice.choice([0o600, 0o640, 0o644]))
        except OSError:
            return
        self._note("other permissions", NOTHING, begun, name, is_certain=False)

    def _link(self, name: str) -> None:
        """Gives the file the other name too."""
        (other,) = (one for one in LINKED if one != name)
        fresh = self._beside / "link"
        fresh.unlink(missing_ok=True)
        fresh.hardlink_to(self._path(name))
        begun = self._timeline.now()
        content: State = fresh.read_bytes()
        fresh.rename(self._path(other))  # does nothing if they are one file already
        self._note(f"linked to {name}", frozenset([content]), begun, other)

    def _change_folders(self) -> None:
        one, two = FOLDERS
        there = {name: self._path(name).exists() for name in (*FOLDERS, OUTSIDE)}
        if there[one] and there[two]:
            source = self._dice.choice(FOLDERS)
            self._throw_away(source) if there[OUTSIDE] else self._move(source, OUTSIDE)
        elif there[OUTSIDE] and self._dice.random() < 0.5:
            self._move(OUTSIDE, two if there[one] else one)
        elif there[one] != there[two] and self._dice.random() < 0.7:
            self._move(*((one, two) if there[one] else (two, one)))
        else:
            self._make(self._dice.choice([name for name in FOLDERS if not there[name]]))

    def _make(self, name: str) -> None:
        begun = self._timeline.now()
        self._path(name).mkdir()
        self._note("made", frozenset([FOLDER]), begun, name)

    def _move(self, source: str, target: str) -> None:
        if source == OUTSIDE and (found := self._read_outside()) != self._left_outside:
            moved = [
                name for name in leaves(OUTSIDE) if found.get(name) != self._left_outside.get(name)
            ]
            self.complaints.append(f"{', '.join(moved)}: changed after it was moved away")
        begun = self._timeline.now()
        self._path(source).rename(self._path(target))
        self._note(f"moved from {source}", frozenset([FOLDER]), begun, target)
        departure = self._note(f"moved to {target}", ABSENT, begun, source, *leaves(source))
        for old, new in zip(leaves(source), leaves(target)):
            self._note_moved(old, new, begun, departure)
        if target == OUTSIDE:
            self._left_outside = self._read_outside()

    def _read_outside(self) -> dict[str, bytes]:
        """Nobody but him may change what is not served."""
        paths = {name: self._path(name) for name in leaves(OUTSIDE)}
        return {name: path.read_bytes() for name, path in paths.items() if path.exists()}

    def _throw_away(self, name: str) -> None:
        self._trash += 1
        trash = self._beside / f"trash-{self._trash}"
        begun = self._timeline.now()
        self._path(name).rename(trash)
        self._note("folder removed", ABSENT, begun, name, *leaves(name))
        shutil.rmtree(trash, ignore_errors=True)
