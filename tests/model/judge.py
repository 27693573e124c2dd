"""Compares all that clients were told with what the model says was possible at that time."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import versions
from names import FILES, FOLDERS, LINKED, MADE
from observations import CUT, Asked
from timeline import ABSENT, FOLDER, Change, Growing, State, States, Timeline

# A file that changed a moment ago is not yet told from its next version, and so it may be cut.
_UNSETTLED_S = 3.0
_STORY_S = 3.0
_HREF = re.compile(r'href="(?:\./)?([^"/?#]+)(/?)"')


class Judge:
    """`lag_s` is how late the server may notice what others change.

    Of tags, only the uploads of a name must have different ones: what somebody else puts there may
    be of the same size and tick of the clock. Where a disk keeps whole seconds that is so often the
    case that conditions may be decided either way.
    """

    def __init__(
        self, timeline: Timeline, asked: Iterable[Asked], lag_s: float, keeps_whole_seconds: bool
    ) -> None:
        self._timeline = timeline
        self._asked = list(asked)
        self._lag_s = lag_s
        self._keeps_whole_seconds = keeps_whole_seconds
        self._own: dict[int, Change] = {}
        # What each tag of each name stood for. A weak one may do so for several versions.
        self._by_tag: dict[tuple[str, str], dict[bytes, Asked]] = defaultdict(dict)
        for one in self._asked:
            self._enter(one)
        timeline.settle()

    def complaints(self) -> Iterator[str]:
        """Each of them with the history of the name."""
        for one in self._asked:
            for complaint in self._check(one):
                yield f"{one}\n  {complaint}\n{self._story(one)}"
        for (name, tag), contents in self._by_tag.items():
            told = [one for one in contents.values() if one.method == "PUT"]
            if len(told) > 1 and not tag.startswith("W/"):
                asked = "\n    ".join(map(str, told))
                stories = "\n".join(map(self._story, told))
                yield f"{name}: two versions have the tag {tag}:\n    {asked}\n{stories}"

    def complaint_of_disk(self, name: str, found: State) -> str | None:
        """What is on disk when all is over is what somebody put there last."""
        now = self._timeline.now()
        possible = self._timeline.possible(name, now, now)
        if found in possible:
            return None
        story = self._timeline.story(name, now - _STORY_S, now)
        return f"{name} on disk: {versions.describe(found)}, not {_all_of(possible)}\n{story}"

    def _story(self, one: Asked) -> str:
        return self._timeline.story(one.name, one.begin - _STORY_S - self._lag_s, one.end)

    def _enter(self, one: Asked) -> None:
        """What clients changed is a part of the model, and tells what tags stand for."""
        content = one.sent if one.method == "PUT" else one.body
        is_whole = one.status == 200 and one.method in ("GET", "get") and one.name not in _FOLDERS
        is_upload = one.method == "PUT" and one.status in (201, 204)
        if one.tag and content is not None and is_upload:
            self._by_tag[one.name, one.tag][content] = one
        elif one.tag and content is not None and is_whole:
            self._by_tag[one.name, one.tag].setdefault(content, one)
        states: States | None = None
        if one.method == "PUT" and one.sent is not None and one.status in (201, 204, CUT):
            states = frozenset([one.sent])
        elif one.method == "MKCOL" and one.status in (201, CUT):
            states = frozenset([FOLDER])
        elif one.method == "DELETE" and one.status in (204, CUT):
            states = ABSENT
        if states is not None:
            is_certain = one.status != CUT
            latest = one.end if is_certain else math.inf
            change = Change(f"{one.method} {one.status}", states, one.begin, latest, is_certain)
            self._own[id(one)] = self._timeline.add(change, one.name)

    def _named(self, one: Asked) -> set[bytes]:
        """What If-None-Match names: weak or strong is all the same."""
        opaque = one.fields.get("If-None-Match", "").removeprefix("W/")
        return {*self._contents(one.name, opaque), *self._contents(one.name, f"W/{opaque}")}

    def _contents(self, name: str, tag: str) -> set[bytes]:
        return set() if self._keeps_whole_seconds else set(self._by_tag.get((name, tag), ()))

    def _is_wanted(self, one: Asked, content: State) -> bool:
        """Whether If-Match, if there is one, lets the version be the current one."""
        tag = one.fields.get("If-Match")
        return tag is None or self._keeps_whole_seconds or content in self._contents(one.name, tag)

    def _is_refused(self, one: Asked, content: State) -> bool:
        """Whether If-Match may not hold. Versions without a byte are not told apart."""
        is_clear = content and not self._keeps_whole_seconds
        return "If-Match" in one.fields and not (is_clear and self._is_wanted(one, content))

    def _check(self, one: Asked) -> Iterator[str]:
        if one.status >= 500:
            yield "a failure of the server"
        elif one.status == CUT:
            if one.method in ("GET", "get") and not self._may_be_cut(one):
                yield "cut, though nothing has changed"
        elif one.method in ("PUT", "DELETE", "MKCOL"):
            yield from self._check_change(one)
        elif one.name in _FOLDERS:
            yield from self._check_listing(one)
        else:
            yield from self._check_read(one)

    def _may_be_cut(self, one: Asked) -> bool:
        since = one.begin - _UNSETTLED_S - self._lag_s
        return self._timeline.is_disturbed(one.name, since, one.end)

    def _check_read(self, one: Asked) -> Iterator[str]:
        possible = self._timeline.readable(one.name, one.begin, one.end, self._lag_s)
        files = [state for state in possible if isinstance(state, bytes)]
        growing = [state for state in possible if isinstance(state, Growing)]
        if one.method == "HEAD" and any(_may_be_of_size(state, one.size) for state in growing):
            return
        if not self._explains(one, files, None in possible):
            got = versions.describe(one.body) if one.status == 200 else str(one.status)
            yield f"{got} is not explained by {_all_of(possible)}"
        first = one.resumed
        if first is not None and one.status == 206 and not self._keeps_whole_seconds:
            whole = first.sent or first.body
            if one.parts[0].content != whole[one.parts[0].begin :]:
                yield f"the rest is of another version than {versions.describe(whole)} of {first}"

    def _explains(self, one: Asked, files: list[bytes], may_be_absent: bool) -> bool:
        named = self._named(one)
        if one.status == 200 and one.method == "HEAD":
            of_tag = self._contents(one.name, one.tag)
            return any(len(file) == one.size and (not of_tag or file in of_tag) for file in files)
        if one.status == 200:
            is_asked = not one.body or one.body not in named
            return one.body in files and is_asked and self._is_wanted(one, one.body)
        if one.status == 206:
            return any(
                all(
                    part.total == len(file)
                    and part.content == file[part.begin : part.begin + len(part.content)]
                    for part in one.parts
                )
                for file in files
            )
        if one.status == 304:
            return any(self._keeps_whole_seconds or file in named for file in files)
        if one.status == 412:
            return any(self._is_refused(one, file) for file in files)
        if one.status == 416:
            begin = one.fields["Range"].removeprefix("bytes=").partition("-")[0]
            return any(len(file) <= int(begin or 0) for file in files)
        return one.status == 404 and may_be_absent

    def _check_change(self, one: Asked) -> Iterator[str]:
        own = self._own.get(id(one))
        possible = self._timeline.possible(one.name, one.begin, one.end, but=own)
        folder = one.name.rpartition("/")[0]
        of_folder: States = (
            self._timeline.possible(folder, one.begin, one.end) if folder else frozenset([FOLDER])
        )
        there = possible - ABSENT
        is_new = "If-None-Match" in one.fields
        is_replaced = any(self._is_wanted(one, state) for state in there) and not is_new
        is_made = None in possible and "If-Match" not in one.fields
        is_refused = any(self._is_refused(one, state) for state in possible)
        is_right = {
            (one.method, 201): is_made and FOLDER in of_folder,
            ("PUT", 204): is_replaced and FOLDER in of_folder,
            ("PUT", 409): None in of_folder,
            ("PUT", 412): is_refused or (is_new and there),
            ("DELETE", 204): there,
            ("DELETE", 404): None in possible,
            ("MKCOL", 405): there,
        }.get((one.method, one.status), False)
        if not is_right:
            where = f" in {_all_of(of_folder)}" if folder else ""
            yield f"{one.status} is not explained by {_all_of(possible)}{where}"

    def _check_listing(self, one: Asked) -> Iterator[str]:
        def possible(name: str) -> States:
            return self._timeline.possible(name, one.begin, one.end, self._lag_s)

        if one.status == 404 and one.name and None in possible(one.name):
            return
        if one.status != 200 or (one.name and FOLDER not in possible(one.name)):
            yield f"{one.status} of a folder that is {_all_of(possible(one.name))}"
            return
        listed = entries(one)
        known = children(one.name)
        for name in listed.keys() - known:
            yield f"{name} is listed, and nobody made it"
        for name in known:
            states = possible(name)
            is_there = name in listed
            size = listed.get(name)
            if not any(_is_listed_as(state, is_there, size) for state in states):
                yield f"{name} is listed as {listed.get(name, 'absent')}, not as {_all_of(states)}"


_FOLDERS = ("", *FOLDERS)


def children(folder: str) -> set[str]:
    """All names that may ever be in a folder."""
    all_names = (*FILES, *LINKED, *FOLDERS, *MADE)
    return {name for name in all_names if name.rpartition("/")[0] == folder}


def entries(one: Asked) -> dict[str, int | None]:
    """The names in a listing, and their sizes where it tells them."""
    within = f"{one.name}/" if one.name else ""
    text = one.body.decode()
    if one.fields.get("Accept") == "application/json":
        return {within + entry["name"]: entry.get("size") for entry in json.loads(text)}
    return {within + match[1]: None for match in _HREF.finditer(text) if match[1] != ".."}


def _is_listed_as(state: State, is_there: bool, size: int | None) -> bool:
    if state is None or not is_there:
        return state is None and not is_there
    return size is None or _may_be_of_size(state, size)


def _may_be_of_size(state: State, size: int) -> bool:
    if isinstance(state, Growing):
        return state.least <= size <= state.most
    return isinstance(state, bytes) and len(state) == size


def _all_of(states: States) -> str:
    return " or ".join(sorted(map(versions.describe, states))) or "nothing that is known"
