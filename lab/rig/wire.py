"""A second host on this machine: a network namespace at the other end of a virtual cable.

The cable is a pair of virtual interfaces, with a rate limit at both ends if one is asked for. The
programs in both namespaces share cores and disks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import cable, namespace
from .cable import InNamespace, inside
from .errors import Failed
from .processes import Program, run_tool

_OURS, _THEIRS = "client0", "server0"  # each is named after what is at the other end
_OUR_ADDRESS, _THEIR_ADDRESS = "198.18.0.1", "198.18.0.2"  # of the range for benchmarks


@contextmanager
def laid(link: str, logs: Path) -> Iterator[InNamespace]:
    """Lays the cable, and removes it when the block is left.

    link is its rate, or "" for no limit. Failed without the permission, or without ip and tc.
    """
    logs.mkdir(parents=True, exist_ok=True)
    holder = Program("namespace", ["unshare", "--net", "sleep", "infinity"], logs / "namespace.log")
    try:
        other = f"/proc/{holder.pid}/ns/net"
        _wait_for_namespace(holder, other)
        _connect(holder.pid, other)
        if link:
            run_tool(["tc", *cable.limited(_OURS, link)], "the rate limit")
            run_tool([*inside(other), "tc", *cable.limited(_THEIRS, link)], "the rate limit")
        yield InNamespace(
            name=f"netns {link}".strip(),
            title="one machine, the load generator in a network namespace of its own, over a link "
            + (f"of {link}" if link else "without a rate limit"),
            host=_OUR_ADDRESS,
            interface=_OURS,
            namespace=other,
        )
    finally:
        holder.stop()
        cable.wait_until_gone(_OURS)


def _wait_for_namespace(holder: Program, other: str) -> None:
    ours = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + cable.TIMEOUT_S
    while not holder.is_running() or Path(other).readlink() == ours:
        if not holder.is_running() or time.monotonic() > deadline:
            raise Failed(f"no second network namespace: {holder.last_words()}")
        time.sleep(0.01)


def _connect(pid: int, other: str) -> None:
    veth = ["link", "add", _OURS, "type", "veth", "peer", "name", _THEIRS, "netns", str(pid)]
    for before, command in (
        ([], veth),
        ([], ["address", "add", f"{_OUR_ADDRESS}/30", "dev", _OURS]),
        ([], ["link", "set", _OURS, "up"]),
        (inside(other), ["address", "add", f"{_THEIR_ADDRESS}/30", "dev", _THEIRS]),
        (inside(other), ["link", "set", _THEIRS, "up"]),
        (inside(other), ["link", "set", "lo", "up"]),
    ):
        run_tool([*before, "ip", *command], "the link between two namespaces")
    cable.wait_until_up(1, [_OURS])
    settings = cable.settings_script(namespace.SETTINGS)
    run_tool([*inside(other), "sh", "-c", settings], "settings")
