"""What /proc says about a running process."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from client import Client
from waiting import eventually

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields after the program's name, the state first. Empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def state(pid: int) -> str:
    """The state as one letter, Z for a zombie. Empty if there is no such process."""
    fields = _stat(pid)
    return fields[0] if fields else ""


def thread_states(pid: int) -> set[str]:
    """The states of its threads, each as one letter: S sleeps, R runs or is ready to."""
    lines = [line for stat in Path(f"/proc/{pid}/task").glob("*/stat") for line in _lines(stat)]
    return {line.rpartition(")")[2].split()[0] for line in lines}


def minds(pid: int, signal_number: int) -> bool:
    """Whether the process has a handler for the signal, or keeps it back to wait for it."""
    lines = _lines(Path(f"/proc/{pid}/status"))
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt:", "SigBlk:"))]
    return any(mask >> (signal_number - 1) & 1 for mask in masks)


def children(pid: int) -> list[int]:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [child for child in pids if (fields := _stat(child)) and int(fields[1]) == pid]


def cpu_s(pid: int) -> float:
    """The CPU time that the process and its living children have used."""
    pids = [pid, *children(pid)]
    return (
        sum(int(fields[11]) + int(fields[12]) for one in pids if (fields := _stat(one)))
        / _TICKS_PER_S
    )


def sleep_count(pid: int) -> int:
    """How often the threads of the process and its children have gone to sleep.

    While a server waits for a lock of the accounts file, it sleeps and retries: the number grows.
    While it waits for a line, the number stays the same.
    """
    statuses = [
        status
        for one in (pid, *children(pid))
        for status in Path(f"/proc/{one}/task").glob("*/status")
    ]
    return sum(
        int(line.split()[1])
        for status in statuses
        for line in _lines(status)
        if line.startswith("voluntary_ctxt_switches")
    )


def mappings(pid: int) -> int:
    """How many parts its address space has. Each thread has two, for its stack."""
    return len(_lines(Path(f"/proc/{pid}/maps")))


def resident_bytes(pid: int, what: str = "VmRSS") -> int:
    """Its memory now; with VmHWM, the most it ever had."""
    (line,) = (line for line in _lines(Path(f"/proc/{pid}/status")) if line.startswith(what + ":"))
    return int(line.split()[1]) * 1024


def file_memory_bytes(pid: int) -> int:
    """What the fileserver's files take that are sent without a copy. They are not resident memory.

    The process must be --debuggable, unless root asks.
    """
    total = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            if entry.readlink().name.startswith("memfd:files"):
                total += entry.stat().st_blocks * 512
    return total


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def held(pid: int) -> dict[int, tuple[int, int]]:
    """How many threads and descriptors the process and each of its children have at rest.

    So a thread that is about to end does not count: it runs, or waits for one that runs.
    """
    return eventually(lambda: _held_at_rest(pid), f"process {pid} and its children are at rest")


def holds_more(pid: int, before: dict[int, tuple[int, int]], descriptors: int = 0) -> bool:
    """Whether it has threads, descriptors or children at rest that it had not.

    A connection may have been there before and not be there now. So many `descriptors` more count
    for nothing.
    """
    now = held(pid)
    if not now.keys() <= before.keys():
        return True
    return any(
        threads > before[one][0] or count > before[one][1] + descriptors
        for one, (threads, count) in now.items()
    )


def _held_at_rest(pid: int) -> dict[int, tuple[int, int]]:
    """Empty while they do something."""
    found = {}
    for one in (pid, *children(pid)):
        try:
            found[one] = threads(one), descriptors(one)
        except (FileNotFoundError, PermissionError):  # it has ended meanwhile, or ends
            return {}
        if thread_states(one) != {"S"}:
            return {}
    return found


def memory_holds(pid: int, needle: bytes) -> bool:
    """Whether the bytes are in writable memory of the process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in _lines(Path(f"/proc/{pid}/maps")):
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            if "rw" not in line.split()[1]:
                continue
            with contextlib.suppress(OSError):  # the mapping is gone by now
                memory.seek(start)
                if needle in memory.read(end - start):
                    return True
    return False


def server_of(client: Client, parent: int) -> int:
    """The child of `parent` that serves the client's connection."""
    inode = _socket_inode(client.socket.getpeername()[1], client.port())
    owners = [child for child in children(parent) if f"socket:[{inode}]" in open_files(child)]
    assert len(owners) == 1, f"the connection is open in {owners}"
    return owners[0]


def asks_after_peer_in_s(local_port: int | None, remote_port: int) -> float | None:
    """When the system asks whether the peer of an idle connection still exists (keepalive).

    None when it does not, and while bytes are on their way. Without local_port it is the first
    such connection to the remote port.
    """
    for local, remote, fields in _sockets():
        if remote == remote_port and local_port in (None, local):
            kind, _, ticks = fields[5].partition(":")
            if kind == "02":
                return int(ticks, 16) / _TICKS_PER_S
    return None


def unacknowledged_bytes(client: Client) -> int:
    """What the server has sent to the client, and the client's kernel has not taken yet."""
    return int(_connection(client.socket.getpeername()[1], client.port())[4].split(":")[0], 16)


def connections_with_unread_bytes(local_port: int, least: int = 1) -> int:
    """How many connections of a port have so many bytes that their server has not taken yet."""
    unread = [
        int(fields[4].split(":")[1], 16) for local, _, fields in _sockets() if local == local_port
    ]
    return sum(count >= least for count in unread)


def _socket_inode(local_port: int, remote_port: int) -> str:
    return _connection(local_port, remote_port)[9]


def _connection(local_port: int, remote_port: int) -> list[str]:
    """The fields of one side of a connection in /proc/net/tcp."""
    for local, remote, fields in _sockets():
        if (local, remote) == (local_port, remote_port):
            return fields
    raise AssertionError("no such connection")


def _sockets() -> Iterator[tuple[int, int, list[str]]]:
    """The local and the remote port of each TCP socket over IPv4, and all its fields."""
    for line in _lines(Path("/proc/net/tcp"))[1:]:
        fields = line.split()
        local, remote = (int(address.rpartition(":")[2], 16) for address in fields[1:3])
        yield local, remote, fields


def open_files(pid: int) -> set[str]:
    """What its descriptors lead to, in the words of /proc. It may close some meanwhile, or end."""
    found = set()
    try:
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found.add(os.readlink(fd))
    except (FileNotFoundError, PermissionError):  # the latter for who is not root
        return set()
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return []
