"""Servers that are up for the trials of a cell, and what is around them."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rig.control_group import ControlGroup
from rig.errors import Failed
from rig.nodes import Nodes
from rig.processes import run_tool
from rig.servers import Programs

from ..plan.planned import Planned
from ..systems.clients.client import Client
from ..systems.system import Running, Site
from ..workloads.load import Load

_SERIES = "series-of-the-last-trial.csv"


@dataclass(frozen=True, kw_only=True)
class Stand:
    planned: Planned
    servers: Running
    site: Site
    group: ControlGroup | None  # of the program that serves files
    nodes: Nodes | None = None  # the hosts that a ramp comes from
    client: Client | None = None  # the program that fetches a file
    carries_bytes_s: float | None = None  # the way to the load generator, without our programs
    programs: Programs
    files_folder: Path

    @property
    def held(self) -> ControlGroup | None:
        """The group that is frozen while all of a burst ask."""
        return self.group if self.planned.is_held else None

    def series_of(self, load: Load) -> Path | None:
        """The file for a line for each second; None for a load that keeps no series."""
        is_kept = self.planned.keeps_series or load.needs_series
        return self.site.logs / _SERIES if is_kept else None


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
