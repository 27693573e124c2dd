"""A switch in a namespace of its own, with a cable to each of many other namespaces.

All names of interfaces but that of our own cable are in namespaces of their own.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import cable, namespace
from .cable import inside
from .errors import Failed
from .processes import Program, run_tool

OURS = "nodes0"  # our end of our cable
OUR_ADDRESS = "198.19.0.1"  # of the range for benchmarks
_BRIDGE, _UPLINK, _THEIRS = "switch0", "uplink0", "host0"
_IN_A_ROW = 250  # nodes whose addresses differ in the last number only
_MOST = 1000  # ports of a bridge of Linux, about
_START_TIMEOUT_S = 60.0
_AT_ONCE = 4
# With a short queue, a thousand connections on one cable lose most of what they send.
_QUEUE_MS = 200
_WHAT = "the links of the nodes"
_HOLDER = Path(__file__).with_name("namespace_holder.py")
# Without the first two, 130 nodes greet 130 nodes whenever a cable comes up. The send buffer is
# small, or a small file would be sent, for the sender, as soon as it is in there.
_SETTINGS = {
    "net/ipv6/conf/all/disable_ipv6": ("1",),
    "net/ipv6/conf/default/disable_ipv6": ("1",),
    "net/ipv4/tcp_wmem": ("4096 16384 16384",),
    **namespace.SETTINGS,
}


class Switch:
    """Namespaces, numbered from 0, on one switch. They exist from the construction to remove().

    namespaces are their files in /proc, and namespace is that of the switch. Threads: one at a
    time.
    """

    def __init__(self, count: int, logs: Path):
        """Failed without the permission, or with too many; nothing is left then."""
        command = [sys.executable, "-I", "-S", str(_HOLDER), str(count + 1)]
        self._holder = Program("nodes", command, logs / "nodes.log")
        try:
            self.namespace, *self.namespaces = self._held(count + 1)
        except BaseException:
            self.remove()
            raise

    def lay(self, rates: Sequence[str], our_rate: str) -> None:
        """A cable with a rate limit to each, and one to us; "" is no limit."""
        self._in_switch("ip", [f"link add {_BRIDGE} type bridge", f"link set {_BRIDGE} up"])
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._lay_one, range(len(rates)), rates))
        self._lay_ours(our_rate)
        ports = [_UPLINK, *map(_port, range(len(rates)))]
        self._in_switch("ip", [f"link set {port} master {_BRIDGE} up" for port in ports])
        limits = [(port, rate) for port, rate in zip(ports, [our_rate, *rates]) if rate]
        self._in_switch("tc", [" ".join(_limited(port, rate)) for port, rate in limits])
        cable.wait_until_up(len(ports), ["master", _BRIDGE], inside(self.namespace))
        cable.wait_until_up(1, [OURS])

    def limit(self, numbers: Sequence[int], rate: str) -> None:
        """Changes what these cables carry, in both directions."""
        for number in numbers:
            run_tool(self._in_node(number, ["tc", *_limited(_THEIRS, rate)]), _WHAT)
        self._in_switch("tc", [" ".join(_limited(_port(one), rate)) for one in numbers])

    def cut(self, number: int) -> None:
        """The cable of this node: nothing comes through, and nobody is told."""
        run_tool(self._in_node(number, ["ip", "link", "set", _THEIRS, "down"]), _WHAT)

    def mend(self, number: int) -> None:
        """After cut()."""
        run_tool(self._in_node(number, ["ip", "link", "set", _THEIRS, "up"]), _WHAT)

    def remove(self) -> None:
        """Everything, once the programs in the namespaces have ended."""
        self._holder.stop()
        cable.wait_until_gone(OURS)

    def _held(self, count: int) -> list[str]:
        """The files of the namespaces."""
        if count > _MOST:
            raise Failed(f"{count} nodes are too many for one switch, which has {_MOST}")
        descriptors = self._holder.read_line(_START_TIMEOUT_S).split()
        if len(descriptors) != count:
            raise Failed(f"no {count} network namespaces: {self._holder.last_words()}")
        return [f"/proc/{self._holder.pid}/fd/{one}" for one in descriptors]

    def _lay_one(self, number: int, rate: str) -> None:
        """From inside the node, in one go: each program that is started takes its time."""
        script = [
            cable.settings_script(_SETTINGS),
            f"ip link add {_THEIRS} type veth peer name {_port(number)} netns {self.namespace}",
            f"ip address add {address(number)}/16 dev {_THEIRS}",
            f"ip link set {_THEIRS} up",
            "ip link set lo up",
        ]
        if rate:
            script.append(" ".join(["tc", *_limited(_THEIRS, rate)]))
        run_tool(self._in_node(number, ["sh", "-ec", "\n".join(script)]), _WHAT)

    def _lay_ours(self, rate: str) -> None:
        peer = f"type veth peer name {_UPLINK} netns {self.namespace}"
        lines = [
            f"link add {OURS} {peer}",
            f"address add {OUR_ADDRESS}/16 dev {OURS}",
            f"link set {OURS} up",
        ]
        run_tool(["ip", "-batch", "-"], _WHAT, sent="\n".join(lines))
        if rate:
            run_tool(["tc", *_limited(OURS, rate)], _WHAT)

    def _in_node(self, number: int, command: Sequence[str]) -> list[str]:
        return [*inside(self.namespaces[number]), *command]

    def _in_switch(self, tool: str, lines: Sequence[str]) -> None:
        """Many commands of ip or tc at once."""
        command = [*inside(self.namespace), tool, "-batch", "-"]
        run_tool(command, _WHAT, sent="".join(f"{line}\n" for line in lines))


def _limited(interface: str, rate: str) -> list[str]:
    return cable.limited(interface, rate, _QUEUE_MS)


def address(number: int) -> str:
    """Of a node."""
    row, column = divmod(number, _IN_A_ROW)
    return f"198.19.{row + 1}.{column + 1}"


def _port(number: int) -> str:
    return f"port{number + 1}"
