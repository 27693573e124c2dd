"""A second host on this machine: a network namespace at the other end of a virtual link.

The link is a pair of virtual interfaces, with a rate limit at both ends if one is asked for; or,
with a delay, two devices of a program that holds the packets. The programs in both namespaces share
cores and disks.

Many kernels of virtual machines and containers have no netem, hence lab/delay_line. It says how
late it was itself, because what it does not do in time looks like a slower link.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import cable, namespace
from .cable import InNamespace, inside
from .errors import Failed
from .link import AS_IT_IS, Link, Tcp, limit_window, route
from .place import Direction, Told
from .processes import Program, run_tool

_OURS, _THEIRS = "client0", "server0"  # each is named after what is at the other end
_LONG_QUEUE = 5000  # packets
# Of the range for benchmarks.
_NETWORK, _OUR_ADDRESS, _THEIR_ADDRESS = "198.18.0.0/30", "198.18.0.1", "198.18.0.2"


@dataclass(frozen=True, kw_only=True)
class End(InNamespace):
    """The other end of the link."""

    link: Link
    line: DelayLine | None = None

    def helpers(self) -> list[int]:
        return [self.line.pid] if self.line else []

    @property
    def longest_s(self) -> float:
        return self.link.longest_s if self.link.rate else 0.0

    def told(self) -> Told | None:
        return self.line.told() if self.line else None

    def stall(self, seconds: float) -> None:
        if not self.line:
            super().stall(seconds)
            return
        self.line.stall(seconds)

    def limit_window(self, window_bytes: int) -> None:
        limit_window(self.namespace, window_bytes)


@contextmanager
def laid(link: Link, logs: Path, delay_line: Path, asked: Tcp = AS_IT_IS) -> Iterator[End]:
    """Lays the link, and removes it when the block is left. delay_line is that program of ours.

    The window is not limited yet: see End.limit_window(). Failed without the permission, without
    ip and tc, or when the kernel does not have what is asked of TCP.
    """
    logs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.callback(cable.wait_until_gone, _OURS)
        command = ["unshare", "--net", "sleep", "infinity"]
        holder = Program("namespace", command, logs / "namespace.log")
        stack.callback(holder.stop)
        other = f"/proc/{holder.pid}/ns/net"
        _wait_for_namespace(holder, other)
        line = None
        if link.delay_ms:
            line = DelayLine(delay_line, link, _OURS, other, _THEIRS, logs)
            stack.callback(line.stop)
        else:
            _plug_in(holder.pid)
        _set_up(other, has_line=line is not None)
        _set_tcp(other, asked.congestion_over(link), asked.mtu)
        if link.rate and not line:
            run_tool(["tc", *cable.limited(_OURS, link.rate)], "the rate limit")
            run_tool([*inside(other), "tc", *cable.limited(_THEIRS, link.rate)], "the rate limit")
        yield End(
            name=f"netns {link.name or link.rate}".strip(),
            title="one machine, the load generator in a network namespace of its own, over a link "
            + (f"of {link}" if link.rate else str(link)),
            host=_OUR_ADDRESS,
            own_address=_THEIR_ADDRESS,
            interface=_OURS,
            namespace=other,
            link=link,
            line=line,
        )


def _wait_for_namespace(holder: Program, other: str) -> None:
    ours = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + cable.TIMEOUT_S
    while not holder.is_running() or Path(other).readlink() == ours:
        if not holder.is_running() or time.monotonic() > deadline:
            raise Failed(f"no second network namespace: {holder.last_words()}")
        time.sleep(0.01)


def _plug_in(pid: int) -> None:
    """A cable from here to the namespace of this process."""
    veth = ["link", "add", _OURS, "type", "veth", "peer", "name", _THEIRS, "netns", str(pid)]
    run_tool(["ip", *veth], "the link between two namespaces")


def _set_up(other: str, *, has_line: bool) -> None:
    # Only the queue of the line itself is to drop packets.
    queue = ["txqueuelen", str(_LONG_QUEUE)] if has_line else []
    for before, command in (
        ([], ["address", "add", f"{_OUR_ADDRESS}/30", "dev", _OURS]),
        ([], ["link", "set", _OURS, "up", *queue]),
        (inside(other), ["address", "add", f"{_THEIR_ADDRESS}/30", "dev", _THEIRS]),
        (inside(other), ["link", "set", _THEIRS, "up", *queue]),
        (inside(other), ["link", "set", "lo", "up"]),
    ):
        run_tool([*before, "ip", *command], "the link between two namespaces")
    if not has_line:
        cable.wait_until_up(1, [_OURS])
    settings = cable.settings_script(namespace.SETTINGS)
    run_tool([*inside(other), "sh", "-c", settings], "settings")


def _set_tcp(other: str, congestion: str, mtu: int) -> None:
    """At both ends, because each may send. "" and 0 leave it as it is."""
    for before, device, address in (
        ([], _OURS, _OUR_ADDRESS),
        (inside(other), _THEIRS, _THEIR_ADDRESS),
    ):
        if mtu:
            run_tool([*before, "ip", "link", "set", device, "mtu", str(mtu)], f"an MTU of {mtu}")
        if congestion:
            words = route(_NETWORK, device, address, congestion)
            run_tool([*before, "ip", *words], f"congestion control {congestion}")


_TIMEOUT_S = 10.0


class DelayLine:
    """Two devices, each in a namespace, with a link between them until stop().

    Threads: one.
    """

    def __init__(
        self, program: Path, link: Link, ours: str, namespace: str, theirs: str, logs: Path
    ) -> None:
        """ours and theirs are the names of the devices; theirs is in the namespace, a file of
        /proc. Failed when the devices cannot be made.
        """
        command = [str(program), f"/proc/{os.getpid()}/ns/net", ours, namespace, theirs]
        self._program = Program(
            "delay_line", command + _words(link), logs / "delay_line.log", input_lines=""
        )
        if self._program.read_line(_TIMEOUT_S) != "ready\n":
            self.stop()
            raise Failed(f"no link with a delay: {self._program.last_words()}")

    @property
    def pid(self) -> int:
        return self._program.pid

    def told(self) -> Told:
        """Since it was last asked. Failed when it has ended."""
        self._program.send("\n")
        line = self._program.read_line(_TIMEOUT_S)
        try:
            said = json.loads(line)
        except ValueError as error:
            raise Failed(f"the link with a delay: {self._program.last_words()}") from error
        return Told(*(Direction(**said[name]) for name in ("there", "back")))

    def stall(self, seconds: float) -> None:
        """For so long, the connection that sends data next loses all of its packets."""
        self._program.send(f"{seconds:g}\n")

    def stop(self) -> None:
        self._program.stop()


def _words(link: Link) -> list[str]:
    """DELAY_MS is that of one direction."""
    later = [f"{one.at_s:g}:{cable.bits_per_s(one.rate):.0f}" for one in link.later]
    one_way_ms = f"{link.delay_ms / 2:g}"
    rate = f"{cable.bits_per_s(link.rate):.0f}"
    return [one_way_ms, str(link.queue_bytes), str(link.lines), rate, *later]
