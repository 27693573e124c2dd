"""Which host has which name: haproxy itself is asked, before any fileserver runs.

Each host has a folder with all files under the same names, its own ones first. A prefetching
fileserver reads files in the order of their names until no further one fits, and drops none with
--evict off. So each host has its own files as they are, and the others in a folder whose name comes
last, with a link at their place. It does not read links, and serves what is behind them from disk.
"""

import http.client
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rig.errors import Failed
from rig.host import HAPROXY, free_port
from rig.processes import Address, Program

from . import haproxy
from .haproxy import HOST_HEADER, Behind

_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Spread:
    """name -> the number of its host, with all hosts and without the last one."""

    with_all: Mapping[str, int]
    without_last: Mapping[str, int]  # as with_all where there is one host only

    def of_host(self, number: int) -> set[str]:
        return {name for name, host in self.with_all.items() if host == number}

    @property
    def moved(self) -> int:
        """Names that have another host once the last one is gone."""
        return sum(host != self.without_last[name] for name, host in self.with_all.items())

    @property
    def of_last(self) -> int:
        return len(self.of_host(max(self.with_all.values())))


def spread(names: Sequence[str], count: int, folder: Path) -> Spread:
    """Over so many hosts. Failed when haproxy does not start or does not answer."""
    hosts = [Behind(number + 1, Address("127.0.0.1", free_port())) for number in range(count)]
    with_all = _asked(names, hosts, folder)
    if count == 1:
        return Spread(with_all, with_all)
    return Spread(with_all, _asked(names, [*hosts[:-1], replace(hosts[-1], is_out=True)], folder))


def _asked(names: Sequence[str], hosts: Sequence[Behind], folder: Path) -> dict[str, int]:
    listen = Address("127.0.0.1", free_port())
    file = folder / "names.cfg"
    file.write_text(haproxy.configuration_of_names(listen, hosts), encoding="utf-8")
    numbers = {one.name: one.number for one in hosts}
    with running(file, folder / "names.log", listen):
        connection = http.client.HTTPConnection(*listen, timeout=_TIMEOUT_S)
        with closing(connection):
            return {name: numbers[_host_of(name, connection)] for name in names}


def _host_of(name: str, connection: http.client.HTTPConnection) -> str:
    try:
        connection.request("HEAD", f"/{name}")
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"haproxy did not say which host has {name}: {error}") from error
    return answer.getheader(HOST_HEADER, "nobody")


@contextmanager
def running(file: Path, log: Path, listen: Address) -> Iterator[Program]:
    """haproxy with this configuration, here. It listens when the block begins."""
    program = Program("proxy", command(file), log)
    try:
        wait_until_it_listens(program, listen)
        yield program
    finally:
        program.stop()


def command(file: Path) -> list[str]:
    """In the foreground; its warnings go to its standard error."""
    return [HAPROXY.found() or HAPROXY.names[0], "-db", "-f", str(file)]


def wait_until_it_listens(program: Program, listen: Address) -> None:
    """It may be in another network namespace, so its table of listeners is that of its process.

    Failed when it ends before or needs too long.
    """
    wanted, deadline = f":{listen.port:04X} ", time.monotonic() + _TIMEOUT_S
    while not _is_there(wanted, Path(f"/proc/{program.pid}/net/tcp")):
        if time.monotonic() > deadline or not program.is_running():
            raise Failed(f"haproxy did not listen: {program.last_words()}")
        time.sleep(0.02)


def _is_there(port: str, table: Path) -> bool:
    try:
        lines = table.read_text(encoding="ascii").splitlines()
    except OSError:  # it has ended
        return False
    return any(port in line and " 0A " in line for line in lines)


OTHERS = "~others"  # behind all names of files


@contextmanager
def made(work: Path, source: Path, own: Sequence[Collection[str]]) -> Iterator[list[Path]]:
    """For each host that has these names as its own. They are removed when the block is left.

    Requires: all names are in source, and work is on the same file system.
    """
    parent = work / "hosts"
    shutil.rmtree(parent, ignore_errors=True)  # of a lab that was killed
    names = sorted(set().union(*own))
    try:
        yield [
            _filled(parent / f"host-{number}", source, names, set(mine))
            for number, mine in enumerate(own, 1)
        ]
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def _filled(folder: Path, source: Path, names: Sequence[str], own: set[str]) -> Path:
    (folder / OTHERS).mkdir(parents=True)
    for name in names:
        if name in own:
            os.link(source / name, folder / name)
        else:
            os.link(source / name, folder / OTHERS / name)
            os.symlink(f"{OTHERS}/{name}", folder / name)
    return folder
