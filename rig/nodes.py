"""Where the testers of a load run: many hosts, as namespaces of this machine or by ssh."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from . import cable, switch
from .cable import InNamespace
from .errors import Failed
from .place import Place
from .switch import Switch


@dataclass(frozen=True, kw_only=True)
class Change:
    """What each link of a group carries from a moment on, such as 1500kbit.

    With stagger_s they change one after the other, the i-th (from 0) i * stagger_s later.
    """

    at_s: float  # after the common start
    rate: str
    stagger_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Group:
    """Nodes that are alike. link is the rate of each; "" is no limit, and cannot change."""

    name: str
    count: int
    link: str = ""
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        return f"{self.count} of {self.name}" + (f" at {self.link}" if self.link else "")


@dataclass(frozen=True, kw_only=True)
class Node(InNamespace):
    """A namespace of this machine. It shares cores, disks and the clock with us."""

    address: str


@dataclass(frozen=True)
class Due:
    """A change of some nodes' links in the same moment."""

    at_s: float  # after the common start
    rate: str
    who: str
    numbers: Sequence[int]  # of the nodes, from 0


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Hosts that are ready to run testers."""

    places: tuple[Place, ...]
    name: str  # a word or two for tables
    title: str  # for captions
    host: str  # where servers listen to be reached from all of them
    interface: str  # of ours; it carries all load, so what it receives is what the server does

    def seen_from_here(self) -> Place:
        """Where all their load comes from, for the servers."""
        return Place(name=self.name, title=self.title, host=self.host, interface=self.interface)

    @contextmanager
    def follow_changes(self, start_unix_s: float) -> Iterator[list[tuple[float, str]]]:
        """Changes links when it is time, and gives them their first rates when the block is left.

        Yields what was done, by the time of our wall clock; the list grows. Failed, when the block
        is left, if a change was not possible. The links of other hosts do not change.
        """
        del start_unix_s
        yield []


@dataclass(frozen=True, kw_only=True)
class NodesHere(Nodes):
    """Namespaces of this machine."""

    groups: tuple[Group, ...]
    cables: Switch

    @contextmanager
    def follow_changes(self, start_unix_s: float) -> Iterator[list[tuple[float, str]]]:
        follower = _Follower(self.cables, _dues(self.groups), start_unix_s)
        try:
            yield follower.done
        finally:
            follower.stop()
            for group, numbers in _numbered(self.groups):
                if group.changes:
                    self.cables.limit(numbers, group.link)
        if follower.failure:
            raise follower.failure


@contextmanager
def laid(groups: Sequence[Group], server_link: str, logs: Path) -> Iterator[NodesHere]:
    """Lays a cable to each node, and removes everything when the block is left.

    server_link is the rate of the cable between the nodes' switch and us, or "" for no limit.
    Failed without the permission, or without ip and tc. WrongUsage when a rate is none.
    """
    for rate in _rates(groups, server_link):
        cable.bits_per_s(rate)
    logs.mkdir(parents=True, exist_ok=True)
    count = sum(group.count for group in groups)
    rates = [group.link for group in groups for _ in range(group.count)]
    title = f"one machine, {count} nodes in network namespaces of their own ("
    title += ", ".join(map(str, groups)) + "), behind a link "
    title += f"of {server_link}" if server_link else "without a rate limit"
    cables = Switch(count, logs)
    try:
        cables.lay(rates, server_link)
        yield NodesHere(
            places=tuple(
                Node(
                    name=f"{group.name}-{place + 1}",
                    title=title,
                    host=switch.OUR_ADDRESS,
                    interface=switch.OURS,
                    group=group.name,
                    namespace=cables.namespaces[number],
                    address=switch.address(number),
                )
                for group, numbers in _numbered(groups)
                for place, number in enumerate(numbers)
            ),
            name=f"{count} nodes",
            title=title,
            host=switch.OUR_ADDRESS,
            interface=switch.OURS,
            groups=tuple(groups),
            cables=cables,
        )
    finally:
        cables.remove()


def _rates(groups: Sequence[Group], server_link: str) -> list[str]:
    changes = [change.rate for group in groups for change in group.changes]
    return [rate for rate in (server_link, *(group.link for group in groups)) if rate] + changes


def _numbered(groups: Sequence[Group]) -> Iterator[tuple[Group, range]]:
    """Each group with the numbers of its nodes."""
    begin = 0
    for group in groups:
        yield group, range(begin, begin + group.count)
        begin += group.count


def _dues(groups: Sequence[Group]) -> list[Due]:
    """In the order of time."""
    found = []
    for group, numbers in _numbered(groups):
        for change in group.changes:
            found += _of_change(group, change, numbers)
    return sorted(found, key=lambda due: due.at_s)


def _of_change(group: Group, change: Change, numbers: range) -> list[Due]:
    if not change.stagger_s:
        return [Due(change.at_s, change.rate, f"{group.count} of {group.name}", numbers)]
    return [
        Due(change.at_s + i * change.stagger_s, change.rate, f"{group.name}-{i + 1}", [number])
        for i, number in enumerate(numbers)
    ]


class _Follower:
    """A thread that changes links when it is time, until stop()."""

    def __init__(self, cables: Switch, dues: Sequence[Due], start_unix_s: float):
        self.done: list[tuple[float, str]] = []
        self.failure: Failed | None = None
        self._cables = cables
        self._dues = dues
        self._start_unix_s = start_unix_s
        self._is_stopped = Event()
        self._thread = Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        """Leaves out what is not yet due."""
        self._is_stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            for due in self._dues:
                left_s = self._start_unix_s + due.at_s - time.time()
                if self._is_stopped.wait(max(0.0, left_s)):
                    return
                self._cables.limit(due.numbers, due.rate)
                self.done.append((time.time(), f"{due.who} at {due.rate}"))
        except Failed as failure:
            self.failure = failure
