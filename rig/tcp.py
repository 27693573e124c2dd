"""How TCP is set at both ends of a virtual link: the window, the congestion control, the MTU.

What is asked for here is not always what a connection gets. observe/connections.py reads from the
kernel what was in force.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import cable
from .link import Link
from .processes import run_tool

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
