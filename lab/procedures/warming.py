"""Reads the programs of a load from the disk before files are to come from there."""

from __future__ import annotations

import sys
from contextlib import suppress

from rig.errors import Failed
from rig.processes import run_tool
from rig.servers import Programs

from ..systems.clients.client import Client

# What starts a client, looks at its connections and asks for round trips beside it.
_BESIDE = (["nsenter", "--version"], ["setpriv", "--version"], ["ss", "--version"])
_PYTHON = [sys.executable, "-I", "-S", "-c", "import socket, struct, sys, time"]


def warm(programs: Programs, client: Client | None) -> None:
    """Runs each once, and does nothing else with them. client is the program that fetches a file:
    one of the host says its version.
    """
    run_tool([str(programs.path("loadgen")), "--version"], "warming loadgen")
    if client is None:
        return
    assert client.version
    for command in (*_BESIDE, _PYTHON):
        with suppress(Failed):  # a tool that is not there is not used
            run_tool(command, "warming what runs beside the client")
