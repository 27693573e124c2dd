"""Compares the limits of another host with what the load generator needs there."""

from __future__ import annotations

from dataclasses import replace

from rig import remote

from . import limits
from .limits import Finding

_SETTINGS = (
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_congestion_control",
)
_UNLIMITED = 1 << 40
_SOME = 200  # descriptors beside the connections


def compare(destination: str, most_threads: int) -> list[Finding]:
    """Failed when ssh does not reach it."""
    paths = " ".join(f"/proc/sys/{name.replace('.', '/')}" for name in _SETTINGS)
    lines = remote.ask(destination, f"ulimit -Sn && ulimit -Hn && cat {paths}").splitlines()
    soft, hard = (_UNLIMITED if line == "unlimited" else int(line) for line in lines[:2])
    settings = {name: " ".join(line.split()) for name, line in zip(_SETTINGS, lines[2:])}
    found = [
        limits.of_descriptors(soft, hard, most_threads + _SOME),
        *limits.of_connections(settings),
    ]
    return [replace(one, name=f"{destination}: {one.name}") for one in found]
