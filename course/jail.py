"""Runs a program of a student apart from all else: python3 -I jail.py [FLAGS] -- PROGRAM [WORD]...

It sees a file system of its own with the compilers and the paths that were named, its own processes
only, and a user of its own. Limits of processes, open files and memory hold. The network is that of
the caller, or none. All that it started ends with it. This program stays in front of it, passes
SIGTERM on, and ends with its status (128 and the signal for a program that was killed).

What cannot be had here is left out: `missing()` says what that is. This file needs nothing of the
project, because the program that starts it may be any.
"""

import argparse
import ctypes
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    *(0x00020000, 0x08000000, 0x10000000),
    *(0x20000000, 0x40000000),
)
_NOSUID, _NODEV, _RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = (
    *(0x2, 0x4, 0x1, 0x20, 0x1000),
    *(0x4000, 0x40000),
)
_NO_NEW_PRIVILEGES, _DEATH_SIGNAL, _ADOPTS = 38, 1, 36  # of prctl()
_DROPS, _CAPABILITIES = 24, 64
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_OPEN_FILES = 4096
_MANY_USERS = 65_000
_STATUS_OF_THE_JAIL = 125
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    asked = _parsed()
    if _unshare(_namespaces(asked.no_network)):
        return _in_front(asked, is_apart=True)
    if _is_root() and asked.no_network:
        _unshare(_NEWNET)
    return _in_front(asked, is_apart=False)


def missing() -> str:
    """What a program cannot have here, in one line; "" where it has all."""
    command = [sys.executable, "-I", __file__, "--", "/bin/true"]
    tried = subprocess.run([*command[:3], "--try", *command[3:]], capture_output=True, text=True)
    return tried.stdout.strip()


def has_users() -> bool:
    """Whether other users than ours are known here; in a user namespace there may be none."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return any(int(line.split()[2]) > _MANY_USERS for line in lines)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument(
        "--user", type=int, default=0, help="its number; root starts it as this one"
    )
    parser.add_argument("--show", action="append", default=[], help="a path that it may read")
    parser.add_argument("--write", action="append", default=[], help="a path that it may change")
    parser.add_argument("--folder", default="/", help="where it starts")
    parser.add_argument("--temporary", default="64m", help="how large its /tmp may be")
    parser.add_argument("--memory", type=int, default=0, help="address space of each process")
    parser.add_argument("--processes", type=int, default=0, help="threads count too")
    parser.add_argument("--no-network", action="store_true")
    parser.add_argument("--try", dest="is_trial", action="store_true", help="say what is missing")
    parser.add_argument("program", nargs="+")
    return parser.parse_args()


def _is_root() -> bool:
    return os.geteuid() == 0


def _namespaces(no_network: bool) -> int:
    return (
        _NEWNS
        | _NEWIPC
        | _NEWPID
        | (_NEWNET if no_network else 0)
        | (0 if _is_root() else _NEWUSER)
    )


def _unshare(which: int) -> bool:
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(which) != 0:
        return False
    if which & _NEWUSER:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    return True


def _in_front(asked: argparse.Namespace, *, is_apart: bool) -> int:
    """The first process of the new namespace kills all others of it by its end."""
    first = os.fork()
    if not first:
        _guarded(lambda: _first(asked, is_apart))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.kill(first, signal.SIGTERM))
    return _status(os.waitpid(first, 0)[1])


def _first(asked: argparse.Namespace, is_apart: bool) -> int:
    """Requires: nothing else runs in its namespace. Returns the status of the program."""
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    _libc.prctl(_ADOPTS, 1)
    started: list[int] = []
    ends: list[int] = []

    def end(*_: object) -> None:
        ends.append(1)
        for one in started:
            os.kill(one, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    lacks = [] if is_apart else ["namespaces of its own"]
    if is_apart and not _own_file_system(asked):
        lacks.append("a file system of its own")
    if not (_is_root() and has_users()):
        lacks.append("a user of its own")
    if asked.is_trial:
        print(f"without {' and '.join(lacks)}" if lacks else "", flush=True)
        return 0
    started.append(os.fork())
    if not started[0]:
        _guarded(lambda: _program(asked))
    if ends:
        os.kill(started[0], signal.SIGTERM)
    while True:  # what it left behind is reaped too, so that its CPU time is known
        ended, status = os.waitpid(-1, 0)
        if ended == started[0]:
            if not is_apart:
                _end_children()
            return _status(status)


def _end_children() -> None:
    """Where no namespace ends them. Those of children that ended are ours then."""
    me = os.getpid()
    while children := Path(f"/proc/{me}/task/{me}/children").read_text(encoding="ascii").split():
        for one in children:
            os.kill(int(one), signal.SIGKILL)
            os.waitpid(int(one), 0)


def _program(asked: argparse.Namespace) -> int:
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores some
        signal.signal(number, signal.SIG_DFL)
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    limits = {
        resource.RLIMIT_NPROC: asked.processes if _is_root() and asked.user else 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_AS: asked.memory,
    }
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        if most and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(which, (most, most))
    if _is_root() and asked.user:
        os.setgroups([])
        os.setresgid(asked.user, asked.user, asked.user)
    for capability in range(_CAPABILITIES):  # those that root would get back by the execve()
        _libc.prctl(_DROPS, capability, 0, 0, 0)
    if _is_root() and asked.user:
        os.setresuid(asked.user, asked.user, asked.user)
    _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    # A change of the user has undone the first one.
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    os.chdir(asked.folder)
    variables = {"PATH": "/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    os.execve(asked.program[0], asked.program, {**variables, "LANG": "C.UTF-8"})


def _own_file_system(asked: argparse.Namespace) -> bool:
    """Only what is named is there. Says whether that could be made."""
    base = "/mnt" if os.path.isdir("/mnt") else "/srv"
    try:
        _mount(None, "/", None, _REC | _PRIVATE)
        named = [(path, True) for path in (*_SYSTEM, *_SETTINGS, *asked.show)]
        named += [(path, False) for path in asked.write]
        named += [(f"/dev/{name}", False) for name in _DEVICES]
        # They are open before the new file system may hide them.
        sources = {
            path: os.open(path, os.O_PATH)
            for path, _ in named
            if os.path.exists(path) and not os.path.islink(path)
        }
        _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
        _own_folders(base, asked.temporary)
        for path, is_fixed in named:
            if path in sources:
                _show(sources[path], path, base + path, is_fixed)
            elif os.path.islink(path):
                os.symlink(os.readlink(path), base + path)
        _mount(None, base, None, _REMOUNT | _RDONLY | _NOSUID | _NODEV)
        for opened in sources.values():
            os.close(opened)
        os.chroot(base)
        os.chdir("/")
    except OSError:
        return False
    return True


def _show(opened: int, path: str, place: str, is_fixed: bool) -> None:
    source = f"/proc/self/fd/{opened}"
    if os.path.isdir(source):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="ascii"):
            pass
    _mount(source, place, None, _BIND | (0 if path.startswith("/dev/") else _REC))
    if is_fixed:
        kept = os.statvfs(place).f_flag & (_NOSUID | _NODEV | 0x8 | 0x400 | 0x800)
        _mount(None, place, None, _BIND | _REMOUNT | _RDONLY | _NOSUID | kept)


def _own_folders(base: str, temporary: str) -> None:
    """Before all else, because what is shown may be below /tmp."""
    for name in ("/tmp", "/proc", "/dev"):
        os.makedirs(base + name, exist_ok=True)
    _mount("tmpfs", f"{base}/tmp", "tmpfs", _NOSUID | _NODEV, f"size={temporary},mode=1777")
    os.symlink("/tmp", f"{base}/dev/shm")
    try:
        _mount("proc", f"{base}/proc", "proc", _NOSUID | _NODEV)
    except OSError:
        os.rmdir(f"{base}/proc")  # a container may forbid it


def _mount(source: str | None, place: str, kind: str | None, flags: int, options: str = "") -> None:
    words = [one.encode() if one is not None else None for one in (source, place, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), place)


def _status(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _guarded(run: Callable[[], int]) -> NoReturn:
    """In a child: never returns."""
    try:
        os._exit(run())
    except OSError as error:
        print(f"jail: {error.filename or ''} {error.strerror}", file=sys.stderr, flush=True)
    finally:
        os._exit(_STATUS_OF_THE_JAIL)


if __name__ == "__main__":
    sys.exit(main())
