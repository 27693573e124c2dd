"""Other hosts for testers, from a file, each reached with ssh.

A line of the file is a host as ssh takes it, and the group of hosts that are like it, if there are
several kinds. `#` begins a comment.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from . import remote
from .errors import Failed, WrongUsage
from .nodes import Nodes
from .remote import OtherHost

_GROUP = "hosts"  # where the file names none
_GROUP_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Host:
    destination: str
    group: str


def read(file: Path) -> list[Host]:
    """WrongUsage when the file cannot be read, has no host, or a line is none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise WrongUsage(f"--hosts {file}: {error}") from error
    found: list[Host] = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if why := _why_no_host(words, found):
            raise WrongUsage(f"--hosts {file}, line {number}: {why}")
        found.append(Host(words[0], words[1] if len(words) > 1 else _GROUP))
    if not found:
        raise WrongUsage(f"--hosts {file}: it has no host")
    return found


@contextmanager
def logged_in_all(file: Path) -> Iterator[Nodes]:
    """Logs in to all at the same time. Failed when one does not let us in, or sees us by another
    address than the others.
    """
    wanted = read(file)
    with _entered([remote.logged_in(host.destination) for host in wanted]) as hosts:
        addresses = sorted({host.host for host in hosts})
        if len(addresses) > 1:
            raise Failed(f"--hosts {file}: they see us by several addresses: {addresses}")
        count = "1 host" if len(hosts) == 1 else f"{len(hosts)} hosts"
        yield Nodes(
            places=tuple(replace(host, group=one.group) for host, one in zip(hosts, wanted)),
            name=count,
            title=f"the load generator on {count}, reached with ssh",
            host=hosts[0].host,
            interface=hosts[0].interface,
        )


@contextmanager
def _entered(sessions: Sequence[AbstractContextManager[OtherHost]]) -> Iterator[list[OtherHost]]:
    """All at the same time. A host that is not reached at the end keeps what was copied there."""
    stacks = [ExitStack() for _ in sessions]
    with ThreadPoolExecutor(len(sessions)) as pool:
        entering = [
            pool.submit(stack.enter_context, session) for stack, session in zip(stacks, sessions)
        ]
        try:
            yield [one.result() for one in entering]
        finally:
            wait(entering)
            list(pool.map(_left, stacks))


def _left(stack: ExitStack) -> None:
    with suppress(Failed):
        stack.close()


def _why_no_host(words: Sequence[str], before: Sequence[Host]) -> str:
    """ "" for a host that the file did not have before."""
    if len(words) > 2:
        return f"wanted a host, and a group if there are several; it has {len(words)} words"
    if not remote.is_destination(words[0]):
        return f"'{words[0]}' is no host as ssh takes it"
    if len(words) == 2 and not _GROUP_NAME.fullmatch(words[1]):
        return f"'{words[1]}' is no name of a group"
    return f"{words[0]} is there twice" if words[0] in (one.destination for one in before) else ""
