"""The limits of this host that a crowd of connections meets, found by trying, not by reading."""

import contextlib
import ctypes
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rig.host import raise_descriptor_limit

_HOST = "127.0.0.1"
_PORTS = range(1, 65536)
_CONNECT_S = 2.0
_MOST_POLLED = 1 << 22  # 32 MiB of what poll() reads
BEFORE_CONNECTIONS = "queued signals"  # what is tried before the slow one
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """How many of each there can be at once. `ended_by` is what the system said to one more."""

    name: str
    count: int
    ended_by: str = ""


def try_all() -> Iterator[Tried]:
    """Tries each limit in this process, and gives back what it took.

    Raises the soft limit of open files to the hard one, as the programs under test do. Connecting
    may take a minute: once every second port is in use, the kernel looks at all of them each time.
    """
    raise_descriptor_limit()
    yield _until_refused("descriptors", _open_descriptor)
    yield Tried(name="explicit ports", count=sum(map(_may_bind, _PORTS)))
    yield _until_refused("ephemeral ports", _bind_any)
    yield _polled()
    yield _queued_signals()
    yield _connects()


def _until_refused(name: str, take: Callable[[contextlib.ExitStack], None]) -> Tried:
    count = 0
    with contextlib.ExitStack() as taken:
        try:
            while True:
                take(taken)
                count += 1
        except OSError as refused:
            return Tried(name=name, count=count, ended_by=refused.strerror or str(refused))


def _open_descriptor(taken: contextlib.ExitStack) -> None:
    taken.callback(os.close, os.open(os.devnull, os.O_RDONLY))


def _bind_any(taken: contextlib.ExitStack) -> None:
    taken.enter_context(socket.socket()).bind((_HOST, 0))


def _may_bind(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind((_HOST, port))
        except OSError:
            return False
    return True


def _connects() -> Tried:
    """Connections to one address, which another process accepts and keeps."""
    with _keeper() as port:

        def connect(taken: contextlib.ExitStack) -> None:
            one = taken.enter_context(socket.socket())
            one.settimeout(_CONNECT_S)
            one.connect((_HOST, port))

        return _until_refused("connections to one address", connect)


@contextlib.contextmanager
def _keeper() -> Iterator[int]:
    """A child that accepts connections and keeps them. Gives its port."""
    with socket.socket() as listener:
        listener.bind((_HOST, 0))
        listener.listen(socket.SOMAXCONN)
        child = os.fork()
        if child == 0:
            _keep_connections(listener)
        try:
            yield listener.getsockname()[1]
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _keep_connections(listener: socket.socket) -> None:
    kept = []
    try:
        while True:
            kept.append(listener.accept())
    except OSError:
        signal.pause()  # out of descriptors: until the parent has seen the same
    finally:
        os._exit(0)


class _PollFd(ctypes.Structure):
    _fields_ = (("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short))


def _polled() -> Tried:
    """The most entries that one poll() takes. The kernel skips those without a descriptor."""
    entries = (_PollFd * _MOST_POLLED)()
    ctypes.memset(entries, 0xFF, ctypes.sizeof(entries))  # each descriptor is -1
    most, refused = 0, _MOST_POLLED + 1
    ended_by = ""
    while refused - most > 1:
        middle = (most + refused) // 2
        if _LIBC.poll(entries, ctypes.c_ulong(middle), 0) >= 0:
            most = middle
        else:
            refused, ended_by = middle, os.strerror(ctypes.get_errno())
    return Tried(name="entries in one poll()", count=most, ended_by=ended_by)


def _queued_signals() -> Tried:
    """Signals that wait for this process at once. All processes of its user share the bound."""
    number = signal.SIGRTMIN + 7
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    count = 0
    try:
        while _LIBC.sigqueue(os.getpid(), number, None) == 0:
            count += 1
        ended_by = os.strerror(ctypes.get_errno())
        for _ in range(count):
            signal.sigtimedwait({number}, 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return Tried(name=BEFORE_CONNECTIONS, count=count, ended_by=ended_by)


_KERNEL = ("threads-max", "pid_max")


@dataclass(frozen=True, order=True)
class Room:
    """`limit` is the name of the setting that leaves so little room, with its value."""

    count: int
    limit: str


def smallest(root: Path = Path("/")) -> Room:
    """By the limits of the system, of the control groups and, unless it is root, of the user.

    Of the last it is not known what other processes have taken.
    """
    return min([*_of_system(root), *_of_groups(root), *_of_user()], default=Room(1 << 40, "none"))


def _of_system(root: Path) -> Iterator[Room]:
    load = _text(root / "proc/loadavg").split()
    used = int(load[3].partition("/")[2]) if len(load) > 3 else 0
    for name in _KERNEL:
        yield from _room(f"kernel.{name}", _text(root / "proc/sys/kernel" / name), used)


def _of_groups(root: Path) -> Iterator[Room]:
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "pids" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("pids" if controllers else "")
        own = mount / group.lstrip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(mount):
                used = _text(folder / "pids.current").strip() or "0"
                name = "pids.max of the control group"
                yield from _room(name, _text(folder / "pids.max"), int(used))


def _of_user() -> Iterator[Room]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() != 0 and soft != resource.RLIM_INFINITY:
        yield Room(soft, f"ulimit -u is {soft}")


def _room(name: str, limit: str, used: int) -> Iterator[Room]:
    if limit.strip().isdigit():
        yield Room(max(0, int(limit) - used), f"{name} is {limit.strip()}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
