"""One run of wrk, the meter of the servers that speak HTTP."""

from __future__ import annotations

import json
from pathlib import Path

from lab.rig.cores import usable_cores
from lab.rig.errors import Failed
from lab.rig.host import Tool
from lab.rig.processes import Address, run_tool

TOOL = Tool(("wrk",), "wrk")
_SCRIPT = Path(__file__).with_name("users.lua")


def rate(
    address: Address,
    name: str,
    connections: int,
    *,
    seconds: float,
    users: int,
    password: str,
    is_kept: bool = False,
) -> float:
    """Requests a second for this file, as user1, user2 and so on in turn.

    A new connection serves each request unless is_kept. Failed when a request failed.
    """
    threads = min(connections, len(usable_cores()))
    header = () if is_kept else ("--header", "Connection: close")
    command = ["wrk", "--threads", str(threads), "--connections", str(connections)]
    command += ["--duration", f"{max(1, round(seconds))}s", "--timeout", "30s", *header]
    command += ["--script", str(_SCRIPT), f"http://{address}/{name}", "--", str(users), password]
    result = json.loads(run_tool(command, "wrk", seconds + 60).splitlines()[-1])
    if result["failed"] or not result["requests"]:
        raise Failed(f"wrk: {result['failed']} of {result['requests']} requests for {name} failed")
    return float(result["requests"] / result["seconds"])
