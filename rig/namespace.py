"""A network namespace for measurements, without the rules and ports of other programs.

A host with Docker tracks connections. With a new connection for each request the tracking table is
full within seconds, and the kernel drops packets. A measurement would then be one of that table.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

_MARK = "TURNSTILE_LAB_NAMESPACE"  # set for the second start of this program, inside

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

# The settings of our namespace; the first value that the kernel takes. The host's stay as they are.
# A connection per request needs many ports. A congestion control that paces is not wanted: bbr
# halves large transfers on loopback. cubic may be reserved to the host; reno never is. No
# connection may inherit what the kernel learned from the one before it.
SETTINGS = {
    "net/ipv4/ip_local_port_range": ("10000 65535",),
    "net/ipv4/tcp_congestion_control": ("cubic", "reno"),
    "net/ipv4/tcp_no_metrics_save": ("1",),
}


def enter() -> None:
    """Starts this program again inside a new network namespace.

    Returns in the new program, or here if a namespace is not permitted.
    """
    if is_inside():
        _bring_loopback_up()
        for name, values in SETTINGS.items():
            _write_setting(name, values)
        return
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if not _works(unshare):
        return
    os.execvpe("unshare", [*unshare, sys.executable, *sys.argv], {**os.environ, _MARK: "1"})


def is_inside() -> bool:
    return os.environ.get(_MARK) == "1"


def settings() -> dict[str, str]:
    """The settings that are in force here, in our namespace or outside."""
    names = (
        *SETTINGS,
        "net/core/somaxconn",
        "net/ipv4/tcp_tw_reuse",
        "net/ipv4/tcp_max_tw_buckets",
    )
    return {name.replace("/", "."): _read_setting(name) for name in names}


def tracked_connections() -> int:
    """Entries in the connection tracking table of this namespace; 0 where there is none."""
    value = _read_setting("net/netfilter/nf_conntrack_count")
    return int(value) if value.isdigit() else 0


def _works(unshare: list[str]) -> bool:
    try:
        return subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _bring_loopback_up() -> None:
    """With an ioctl, so that the program `ip` is not needed."""
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
            continue  # settings() records what is in force
