"""A second host on this machine: a network namespace at the other end of a virtual cable.

The cable is a pair of virtual interfaces, with a rate limit at both ends if one is asked for. The
programs in both namespaces share cores and disks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import namespace
from .cores import Cores
from .errors import Failed, WrongUsage
from .place import Place
from .processes import Program, run_tool

_OURS, _THEIRS = "client0", "server0"  # each is named after what is at the other end
_OUR_ADDRESS, _THEIR_ADDRESS = "198.18.0.1", "198.18.0.2"  # of the range for benchmarks
_RATE = re.compile(r"([1-9][0-9]{0,5})(kbit|mbit|gbit)")
_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_SMALLEST_BURST_BYTES = 16_000
_BURST_S = 0.001  # a limit lets this much pass at once
_QUEUE_MS = 20
_START_TIMEOUT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class OtherEnd(Place):
    """The namespace at the other end. Its programs are started here, and moved there."""

    namespace: str  # a file of /proc

    def start(
        self,
        name: str,
        command: list[str],
        log_path: Path,
        *,
        cores: Cores = (),
        secrets: dict[str, str] | None = None,
    ) -> Program:
        moved = [*_inside(self.namespace), *command]
        return Program(name, moved, log_path, cores=cores, environment=secrets)


def bits_per_s(link: str) -> float:
    """WrongUsage for anything but 10mbit, 1gbit and the like."""
    matched = _RATE.fullmatch(link)
    if not matched:
        raise WrongUsage(f"--link '{link}': wanted a rate like 10mbit or 1gbit")
    return int(matched[1]) * _BITS[matched[2]]


@contextmanager
def laid(link: str, logs: Path) -> Iterator[OtherEnd]:
    """Lays the cable, and removes it when the block is left.

    link is its rate, or "" for no limit. Failed without the permission, or without ip and tc.
    """
    logs.mkdir(parents=True, exist_ok=True)
    holder = Program("namespace", ["unshare", "--net", "sleep", "infinity"], logs / "namespace.log")
    try:
        other = f"/proc/{holder.pid}/ns/net"
        _wait_for_namespace(holder, other)
        _connect(holder.pid, other)
        for interface, before in ((_OURS, []), (_THEIRS, _inside(other))):
            _limit(interface, link, before)
        yield OtherEnd(
            name=f"netns {link}".strip(),
            title="one machine, the load generator in a network namespace of its own, over a link "
            + (f"of {link}" if link else "without a rate limit"),
            host=_OUR_ADDRESS,
            interface=_OURS,
            namespace=other,
        )
    finally:
        holder.stop()
        _wait_until_gone()


def _inside(other: str) -> list[str]:
    return ["nsenter", f"--net={other}", "--"]


def _wait_for_namespace(holder: Program, other: str) -> None:
    ours = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + _START_TIMEOUT_S
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
        (_inside(other), ["address", "add", f"{_THEIR_ADDRESS}/30", "dev", _THEIRS]),
        (_inside(other), ["link", "set", _THEIRS, "up"]),
        (_inside(other), ["link", "set", "lo", "up"]),
    ):
        run_tool([*before, "ip", *command], "the link between two namespaces")
    _wait_until_up()
    for path, values in namespace.SETTINGS.items():
        attempts = " || ".join(f"echo {value} >/proc/sys/{path}" for value in values)
        run_tool([*_inside(other), "sh", "-c", f"( {attempts} ) 2>&1 || true"], "settings")


def _wait_until_up() -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while " UP " not in run_tool(["ip", "-brief", "link", "show", _OURS], "the link's state"):
        if time.monotonic() > deadline:
            raise Failed(f"the interface {_OURS} did not come up")
        time.sleep(0.01)


def _limit(interface: str, link: str, before: list[str]) -> None:
    if not link:
        return
    burst = max(_SMALLEST_BURST_BYTES, int(bits_per_s(link) / 8 * _BURST_S))
    bucket = ["tbf", "rate", link, "burst", str(burst), "latency", f"{_QUEUE_MS}ms"]
    run_tool([*before, "tc", "qdisc", "add", "dev", interface, "root", *bucket], "the rate limit")


def _wait_until_gone() -> None:
    """The kernel removes a namespace some time after its last program has ended."""
    deadline = time.monotonic() + _START_TIMEOUT_S
    while f"{_OURS}:" in Path("/proc/self/net/dev").read_text(encoding="ascii"):
        if time.monotonic() > deadline:
            raise Failed(f"the interface {_OURS} was not removed")
        time.sleep(0.01)
