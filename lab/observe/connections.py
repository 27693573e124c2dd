"""What was in force on the connections of a load, read from the kernel by `ss`.

What was asked for says little. The kernel doubles a buffer, keeps a part of it, and lifts a window
that a route has. So the window is the largest that the other end offered.
"""

import re
import subprocess
from collections.abc import Iterable
from threading import Event, Thread

from rig.link import InForce

_EVERY_S = 0.2
_TIMEOUT_S = 5.0
_NUMBER = re.compile(r"\b(snd_wnd|mss|pmtu|bytes_acked):(\d+)")
# Received and not read; free for more; written and not acknowledged, with what packets take.
_MEMORY = re.compile(r"\bskmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+),")
_CONGESTION = re.compile(r"\b(reno|cubic|bbr\d?|vegas|westwood|htcp|dctcp|bic|illinois)\b")


class Connections:
    """Asks from start() until stop(), five times a second.

    seen() is empty where there is no `ss`.
    """

    def __init__(self, address: str):
        """address is that of our end."""
        self._command = [
            "ss",
            "--tcp",
            "--info",
            "--memory",
            "--numeric",
            "--no-header",
            "--oneline",
        ]
        self._command += ["state", "established", "src", address]
        self._is_over = Event()
        self._seen: list[InForce] = []
        self._thread = Thread(target=self._run, name="connections")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Does nothing when it has stopped."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def seen(self) -> InForce:
        """Over the whole time. Requires: stop() has returned."""
        return together(self._seen)

    def _run(self) -> None:
        while not self._is_over.wait(_EVERY_S):
            try:
                done = subprocess.run(
                    self._command,
                    capture_output=True,
                    text=True,
                    timeout=_TIMEOUT_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                continue  # what this moment was like is not known
            self._seen.append(read(done.stdout))


def read(text: str) -> InForce:
    """One answer of `ss`, a line for each connection."""
    names, found, held = [], [], []
    for line in text.splitlines():
        numbers = {name: int(value) for name, value in _NUMBER.findall(line)}
        if numbers.get("bytes_acked", 0) <= numbers.get("mss", 0):
            continue  # it carries commands only, or nothing yet
        found.append(numbers)
        names += _CONGESTION.findall(line)[:1]
        held += [sum(map(int, parts)) for parts in _MEMORY.findall(line)]
    return InForce(
        at_once=len(found),
        congestion=_joined(names),
        window_bytes=_most(numbers.get("snd_wnd") for numbers in found),
        mss_bytes=_most(numbers.get("mss") for numbers in found),
        mtu_bytes=_most(numbers.get("pmtu") for numbers in found),
        kernel_bytes=sum(held) if held else None,
    )


def together(seen: Iterable[InForce]) -> InForce:
    """The most of each."""
    all_of_them = list(seen)
    names = [name for one in all_of_them for name in one.congestion.split(",") if name]
    return InForce(
        at_once=max((one.at_once for one in all_of_them), default=0),
        congestion=_joined(names),
        window_bytes=_most(one.window_bytes for one in all_of_them),
        mss_bytes=_most(one.mss_bytes for one in all_of_them),
        mtu_bytes=_most(one.mtu_bytes for one in all_of_them),
        kernel_bytes=_most(one.kernel_bytes for one in all_of_them),
    )


def _joined(names: Iterable[str]) -> str:
    return ",".join(sorted(set(names)))


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
