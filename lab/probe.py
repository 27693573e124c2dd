"""Section 4.2's question, network or CPU: what can the network alone carry? Asked with iperf3."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from .errors import Failed
from .processes import Program, run_tool
from .stores import free_port

_ADDRESS = "127.0.0.1"


def is_possible() -> bool:
    return shutil.which("iperf3") is not None


def loopback(seconds: float, cores: tuple[int, ...], logs: Path) -> dict[str, float]:
    """Returns the interval, and the bytes that one TCP connection carried in it. Failed if it could not run."""
    logs.mkdir(parents=True, exist_ok=True)
    port = str(free_port())
    server = Program(
        "iperf3",
        ["iperf3", "--server", "--one-off", "--bind", _ADDRESS, "--port", port],
        cores,
        logs / "iperf3.log",
    )
    try:
        _wait_listening(int(port), server)
        output = run_tool(
            ["iperf3", "--client", _ADDRESS, "--port", port, "--time", f"{seconds:.0f}", "--json"],
            "iperf3",
            timeout_s=seconds + 30,
        )
    finally:
        server.stop()
    received = json.loads(output)["end"]["sum_received"]
    return {"interval_s": received["seconds"], "bytes": received["bytes"]}


def _wait_listening(port: int, server: Program) -> None:
    """By the kernel's table of listeners: a trial connection would use up the one that it takes."""
    wanted = f":{port:04X} "
    deadline = time.monotonic() + 10
    while not any(
        wanted in line and " 0A " in line for line in Path("/proc/net/tcp").read_text().splitlines()
    ):
        if time.monotonic() > deadline or not server.is_running():
            raise Failed(f"iperf3 did not listen: {server.last_words()}")
        time.sleep(0.05)
