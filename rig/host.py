"""What the rig asks of the host: tools, free ports, file descriptors, a counter of the kernel."""

import os
import random
import resource
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

_LOWEST_PORT = 1100  # above the ports that only root may use
# What engines of containers leave inside: Docker, Podman, and those that tell systemd.
_MARKS_OF_CONTAINERS = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")


@dataclass(frozen=True)
class Tool:
    """A program that must be installed, under one of these names, and the package that has it."""

    names: tuple[str, ...]
    package: str

    def found(self) -> str:
        """The path of the first name that is installed; "" if none is."""
        return next((path for name in self.names if (path := shutil.which(name))), "")


# A user's PATH may have no sbin.
HAPROXY = Tool(("haproxy", "/usr/sbin/haproxy"), "haproxy")
NGINX = Tool(("nginx", "/usr/sbin/nginx"), "nginx")
OPENSSL = Tool(("openssl",), "openssl")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now.

    It is below the ports that the kernel gives to outgoing connections. So it stays free while a
    server that listened on it is down.
    """
    ports = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    end = max(int(ports.split()[0]), _LOWEST_PORT + 100)
    while True:
        port = random.randrange(_LOWEST_PORT, end)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def raise_descriptor_limit() -> tuple[int, int]:
    """Raises the soft limit of open files to the hard one, for this process and all it starts.

    Returns the soft and the hard limit that are in force then.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)


def accepted_connections() -> int:
    """How many TCP connections this network namespace has accepted since it exists."""
    return network_counters("Tcp")["PassiveOpens"]


def network_counters(protocol: str) -> dict[str, int]:
    """Those of Tcp or Udp in this network namespace, by the names of RFC 1213."""
    snmp = Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()
    names, values = (line.split()[1:] for line in snmp if line.startswith(f"{protocol}:"))
    return dict(zip(names, map(int, values), strict=True))


def open_ends() -> int:
    """How many ends of TCP connections are open in this network namespace, listeners included.

    Those that only wait for the end of TIME_WAIT do not count.
    """
    sockets = Path("/proc/net/sockstat").read_text(encoding="ascii").splitlines()
    tcp = next(line.split() for line in sockets if line.startswith("TCP:"))
    return int(tcp[tcp.index("inuse") + 1])


def is_root() -> bool:
    """Whether this user is root outside of all user namespaces, too."""
    own = os.geteuid()
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= own < inside + count:
            return outside + own - inside == 0
    return False


def is_container() -> bool:
    return any(Path(mark).exists() for mark in _MARKS_OF_CONTAINERS)
