"""What virtual cables between network namespaces of this machine have in common."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .cores import Cores
from .errors import Failed, WrongUsage
from .place import Place
from .processes import Program, run_tool

TIMEOUT_S = 10.0  # for the kernel to make or to remove something
_RATE = re.compile(r"([1-9][0-9]{0,5})(kbit|mbit|gbit)")
_BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_SMALLEST_BURST_BYTES = 16_000
_BURST_S = 0.001  # a limit lets this much pass at once
QUEUE_MS = 20  # of a cable that few connections share


@dataclass(frozen=True, kw_only=True)
class InNamespace(Place):
    """A network namespace of this machine. Its programs are started here, and moved there."""

    namespace: str  # a file of /proc

    def start(
        self,
        name: str,
        command: list[str],
        log_path: Path,
        *,
        cores: Cores = (),
        secrets: dict[str, str] | None = None,
    ) -> Program:
        moved = [*inside(self.namespace), *command]
        return Program(name, moved, log_path, cores=cores, environment=secrets)


def inside(namespace: str) -> list[str]:
    """What is put before a command that runs there."""
    return ["nsenter", f"--net={namespace}", "--"]


def is_rate(text: str) -> bool:
    return _RATE.fullmatch(text) is not None


def bits_per_s(link: str) -> float:
    """WrongUsage for anything but 10mbit, 1gbit and the like."""
    matched = _RATE.fullmatch(link)
    if not matched:
        raise WrongUsage(f"--link '{link}': wanted a rate like 10mbit or 1gbit")
    return int(matched[1]) * _BITS[matched[2]]


def limited(interface: str, link: str, queue_ms: int = QUEUE_MS) -> list[str]:
    """The words of `tc` that limit what an interface sends; they change an earlier limit too.

    What would have to wait for longer than queue_ms is dropped.
    """
    burst = max(_SMALLEST_BURST_BYTES, int(bits_per_s(link) / 8 * _BURST_S))
    bucket = ["tbf", "rate", link, "burst", str(burst), "latency", f"{queue_ms}ms"]
    return ["qdisc", "replace", "dev", interface, "root", *bucket]


def settings_script(settings: Mapping[str, tuple[str, ...]]) -> str:
    """For a shell inside. Of each setting, the first value that the kernel takes, or none."""
    attempts = "; ".join(
        " || ".join(f"echo {value} >/proc/sys/{path}" for value in values)
        for path, values in settings.items()
    )
    return f"( {attempts} ) 2>&1 || true"


def wait_until_up(count: int, words: Sequence[str], before: Sequence[str] = ()) -> None:
    """Waits until so many interfaces are up, of those that `ip link show` lists for these words."""
    deadline = time.monotonic() + TIMEOUT_S
    command = [*before, "ip", "-brief", "link", "show", *words]
    while (up := run_tool(command, "the links' state").count(" UP ")) < count:
        if time.monotonic() > deadline:
            raise Failed(f"{count - up} of {count} links did not come up: {' '.join(words)}")
        time.sleep(0.01)


def wait_until_gone(interface: str) -> None:
    """The kernel removes a namespace some time after its last program has ended."""
    deadline = time.monotonic() + TIMEOUT_S
    while f"{interface}:" in Path("/proc/self/net/dev").read_text(encoding="ascii"):
        if time.monotonic() > deadline:
            raise Failed(f"the interface {interface} was not removed")
        time.sleep(0.01)
