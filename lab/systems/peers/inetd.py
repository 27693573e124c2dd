"""inetd, which listens for a server and starts a process of it for each connection."""

from __future__ import annotations

from pathlib import Path

from rig.errors import Failed
from rig.processes import Address

from .packages import Copy

PACKAGE = "openbsd-inetd"
_UNLIMITED = ("-R", "0")  # by default, 256 connections in a minute


def configuration(address: Address, program: Path, flags: list[str]) -> str:
    """Failed if a path has a blank, which parts the words of a line."""
    words = [program.name, *flags]
    for word in (str(program), *words):
        if len(word.split()) != 1:
            raise Failed(f"inetd cannot start {program.name}: '{word}' has a blank")
    return f"{address} stream tcp nowait root {program} {' '.join(words)}\n"


def command(inetd: Copy, configuration_file: Path) -> list[str]:
    return [str(inetd.path("usr/sbin/inetd")), "-i", *_UNLIMITED, str(configuration_file)]


def libraries_of_both(inetd: Copy, server: Copy) -> dict[str, str]:
    """The variable with which the programs of both packages find theirs."""
    name = "LD_LIBRARY_PATH"
    return {name: f"{server.environment[name]}:{inetd.environment[name]}"}
