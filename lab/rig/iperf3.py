"""What loopback carries without our programs, as iperf3 measures it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from .host import free_port
from .processes import Program, run_tool, wait_listening

_ADDRESS = "127.0.0.1"
_START_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Carried:
    interval_s: float
    bytes: int

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.interval_s


def is_installed() -> bool:
    return shutil.which("iperf3") is not None


def measure(seconds: float, logs: Path, streams: int = 1) -> Carried:
    """Sends over this many connections at once for this long. Failed if it could not run."""
    logs.mkdir(parents=True, exist_ok=True)
    where = ["--port", str(port := free_port())]
    command = ["iperf3", "--server", "--one-off", "--bind", _ADDRESS, *where]
    server = Program("iperf3", command, logs / "iperf3.log")
    try:
        wait_listening(server, port, _START_TIMEOUT_S)
        client = ["iperf3", "--client", _ADDRESS, *where, "--parallel", str(streams)]
        output = run_tool(
            [*client, "--time", f"{max(1, round(seconds))}", "--json"], "iperf3", seconds + 30
        )
    finally:
        server.stop()
    received = json.loads(output)["end"]["sum_received"]
    return Carried(received["seconds"], received["bytes"])
