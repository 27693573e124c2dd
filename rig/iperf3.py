"""What the network carries without our programs, as iperf3 measures it."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from .errors import Failed
from .host import free_port
from .place import HERE, Place
from .processes import Program, wait_listening

_START_TIMEOUT_S = 10.0
_GRACE_S = 30.0


@dataclass(frozen=True)
class Carried:
    interval_s: float
    bytes: int

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.interval_s


def is_installed() -> bool:
    return shutil.which("iperf3") is not None


def measure(
    seconds: float,
    logs: Path,
    streams: int = 1,
    place: Place = HERE,
    warm_up_s: int = 0,
    congestion: str = "",
) -> Carried:
    """Sends from here to the place, over this many connections at once for this long.

    What it sent in the seconds before, while it warmed up, does not count. congestion is the name
    of the congestion control; "" leaves it to the kernel. Failed if it could not run.
    """
    logs.mkdir(parents=True, exist_ok=True)
    where = ["--port", str(port := free_port())]
    command = ["iperf3", "--server", "--one-off", "--bind", place.host, *where]
    server = Program("iperf3", command, logs / "iperf3.log")
    try:
        wait_listening(server, port, _START_TIMEOUT_S)
        command = ["iperf3", "--client", place.host, *where, "--parallel", str(streams)]
        command += ["--reverse", "--time", f"{max(1, round(seconds))}", "--json"]
        command += ["--omit", f"{warm_up_s}"] if warm_up_s else []
        command += ["--congestion", congestion] if congestion else []
        client = place.start("iperf3", command, logs / "iperf3.log")
        status, output = client.wait_for_output(seconds + warm_up_s + _GRACE_S)
    finally:
        server.stop()
    said = json.loads(output or "{}")
    if status != 0:
        raise Failed(f"iperf3: {said.get('error') or client.last_words()}")
    received = said["end"]["sum_received"]
    return Carried(received["seconds"], received["bytes"])
