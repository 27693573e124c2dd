"""A network namespace of the lab's own, where no other program's rules and ports are in the way.

Connection tracking (any Docker host has it) fills its table within seconds of a new connection for
each request, and then packets are dropped: the measurement would be of that table.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

_MARK = "TURNSTILE_LAB_NAMESPACE"  # set for the second start of this program, inside

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

# What a namespace of ours is set to: ports for a connection per request, and no congestion control
# that paces (bbr halves large transfers on loopback): the first value that the kernel takes. A namespace is refused what
# the host does not let everybody use; reno never is. The host's own settings stay as they are.
_SETTINGS = {
    "net/ipv4/ip_local_port_range": ("10000 65535",),
    "net/ipv4/tcp_congestion_control": ("cubic", "reno"),
}


def enter() -> None:
    """Starts this program again inside a new network namespace, if it may; else returns outside."""
    if is_inside():
        _bring_loopback_up()
        for name, values in _SETTINGS.items():
            _write_setting(name, values)
        return
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if not _works(unshare):
        return
    os.execvpe("unshare", [*unshare, sys.executable, *sys.argv], {**os.environ, _MARK: "1"})


def is_inside() -> bool:
    return os.environ.get(_MARK) == "1"


def settings() -> dict[str, str]:
    """What the network around us is set to, as measured, inside or not."""
    names = (
        *_SETTINGS,
        "net/core/somaxconn",
        "net/ipv4/tcp_tw_reuse",
        "net/ipv4/tcp_max_tw_buckets",
    )
    return {name.replace("/", "."): _read_setting(name) for name in names}


def tracked_connections() -> int:
    """Entries of the connection tracking table that this namespace sees; 0 where there is none."""
    value = _read_setting("net/netfilter/nf_conntrack_count")
    return int(value) if value.isdigit() else 0


def _works(unshare: list[str]) -> bool:
    try:
        return subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _bring_loopback_up() -> None:
    """By ioctl, so that no `ip` program is needed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _read_setting(name: str) -> str:
    try:
        return " ".join((Path("/proc/sys") / name).read_text(encoding="ascii").split())
    except OSError:
        return "not there"


def _write_setting(name: str, values: tuple[str, ...]) -> None:
    for value in values:
        try:
            (Path("/proc/sys") / name).write_text(value, encoding="ascii")
            return
        except OSError:
            pass  # settings() records what is in force
