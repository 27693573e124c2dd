"""What a virtual link carries, how long it takes, and how TCP is set at both of its ends.

Papers name their links: see lab/plan/machines.py.

What is asked of TCP here is not always what a connection gets. observe/connections.py reads from
the kernel what was in force.
"""

from dataclasses import dataclass

from . import cable
from .processes import run_tool


@dataclass(frozen=True, kw_only=True)
class Later:
    """Another rate, from a moment on that is counted from when the link was laid."""

    at_s: float
    rate: str


@dataclass(frozen=True, kw_only=True)
class Link:
    """rate is that of each of the lines, which are used in turn, packet by packet.

    A link without a delay is a cable whose ends are limited; one with a delay is a program that
    holds packets: see delay_line.py. queue_bytes may wait for all lines together in each direction.
    """

    rate: str = ""  # such as 10mbit; "" is no limit
    name: str = ""  # of a paper's link; "" for a rate that somebody chose
    title: str = ""
    delay_ms: float = 0.0  # of a round trip
    queue_bytes: int = 0
    lines: int = 1
    later: tuple[Later, ...] = ()

    @property
    def bits_per_s(self) -> float:
        """Of all lines, at the start. Requires: a rate."""
        return self.lines * cable.bits_per_s(self.rate)

    @property
    def longest_s(self) -> float:
        """A round trip behind a queue that is full. Requires: a rate."""
        return self.delay_ms / 1000 + self.queue_bytes * 8 / self.bits_per_s

    def __str__(self) -> str:
        """In a caption."""
        if not self.rate:
            return "without a rate limit"
        lines = f"{self.lines} × {self.rate} in turn" if self.lines > 1 else self.rate
        return lines + (f", {self.delay_ms:g} ms there and back" if self.delay_ms else "")


# Of a receive buffer, the kernel offers this part as a window, less this many bytes. Measured with
# buffers of 8, 16, 32 and 48 KiB, which gave 3,712, 8,832, 19,072 and 29,312 bytes.
_WINDOW_SHARE, _KEPT_BYTES = 0.625, 1408
_WINDOWS = "/proc/sys/net/ipv4/tcp_rmem"
FOR_DELAYS = "reno"  # bbr, the default of some kernels, paces and keeps queues short


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """What a stage asks for. 0 and "" leave it to the kernel, or to the link."""

    window_bytes: int = 0  # that the load generator offers on each connection
    congestion: str = ""  # the name of the congestion control
    mtu: int = 0

    def congestion_over(self, link: Link) -> str:
        """What is set for this link; "" if it is left to the kernel."""
        return self.congestion or (FOR_DELAYS if link.delay_ms else "")


AS_IT_IS = Tcp()


@dataclass(frozen=True, kw_only=True)
class InForce:
    """Of connections that carried more than a packet of data from our side, the most of each.

    Only kernel_bytes is of all connections together.
    """

    at_once: int = 0
    congestion: str = ""  # its name; several with a comma
    window_bytes: int | None = None  # None where nobody says
    mss_bytes: int | None = None
    mtu_bytes: int | None = None  # of the path
    kernel_bytes: int | None = None  # memory that the kernel holds for their data


def receive_buffer_bytes(window_bytes: int) -> int:
    """The buffer that gives this window."""
    return round((window_bytes + _KEPT_BYTES) / _WINDOW_SHARE)


def limit_window(namespace: str, window_bytes: int) -> None:
    """Of the connections that programs of this namespace are going to open.

    The kernel does not keep to the window of a route, but to the largest buffer of a namespace.
    """
    size = receive_buffer_bytes(window_bytes)
    script = f"echo {size} {size} {size} >{_WINDOWS}"
    run_tool([*cable.inside(namespace), "sh", "-c", script], f"a window of {window_bytes} bytes")


def route(network: str, device: str, address: str, congestion: str) -> list[str]:
    """The words of `ip` by which connections over this device use this congestion control.

    As the default of a second namespace the kernel refuses some that it has.
    """
    own = ["dev", device, "proto", "kernel", "scope", "link", "src", address]
    return ["route", "replace", network, *own, "congctl", congestion]
