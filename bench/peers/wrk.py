"""One run of wrk: an independent witness of what loadgen measures, and of what it costs."""

import re
import resource
from collections.abc import Sequence
from dataclasses import dataclass

from rig.cores import usable_cores
from rig.errors import Failed
from rig.host import Tool
from rig.processes import Address, run_tool

TOOL = Tool(("wrk",), "wrk")
_REQUESTS = re.compile(r"^ *([0-9]+) requests in ", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec: *([0-9.]+)$", re.MULTILINE)
_FAILURES = re.compile(r"^ *(Socket errors|Non-2xx or 3xx responses): .*", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """rate is in requests per second, cpu_us wrk's CPU time for each."""

    rate: float
    cpu_us: float


def measure(
    address: Address, name: str, connections: int, *, seconds: float, fields: Sequence[str] = ()
) -> Measured:
    """Gets this file again and again on kept connections, with these further fields.

    Failed when a request failed.
    """
    threads = min(connections, len(usable_cores()))
    command = ["wrk", "--threads", str(threads), "--connections", str(connections)]
    command += ["--duration", f"{max(1, round(seconds))}s", "--timeout", "30s"]
    command += [word for field in fields for word in ("--header", field)]
    before = _cpu_s()
    output = run_tool([*command, f"http://{address}/{name}"], "wrk", seconds + 60)
    used_s = _cpu_s() - before
    requests = _REQUESTS.search(output)
    failures = _FAILURES.search(output)
    if failures or not requests or not int(requests[1]):
        raise Failed(f"wrk: {failures[0].strip() if failures else 'no request'} for {name}")
    rate = _RATE.search(output)
    return Measured(float(rate[1]) if rate else 0.0, used_s * 1e6 / int(requests[1]))


def _cpu_s() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
