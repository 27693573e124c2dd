"""How fast the host answers: a program that sleeps for 10 ms at a time, and how late it wakes.

It is a process of its own, outside of every control group of the lab and on any core. So it waits
for a core as a program would that somebody else used on this host. Its lateness is that of the
scheduler and of interrupts, about 0.1 ms on an idle host, and not that of disk or network.
"""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise

from ..kinds.kind import measured
from .moment import Sample

_MS_PER_S = 1000
_END_TIMEOUT_S = 60.0
_INTERVAL_S = 0.01

# It ends when its input does, even if the lab was killed.
_SCRIPT = """
import select, sys, time
interval_s, wakes = float(sys.argv[1]), []
while not select.select([0], [], [], 0)[0]:
    due = time.monotonic() + interval_s
    time.sleep(interval_s)
    wakes.append((time.time(), time.monotonic() - due))
for time_s, late_s in wakes:
    print(f"{time_s:.6f} {late_s:.6f}")
"""


@dataclass(frozen=True)
class Wake:
    time_s: float  # wall clock, as that of a sample
    late_ms: float


class Sleeper:
    """Runs while the block is active."""

    def __enter__(self) -> Sleeper:
        self._wakes: list[Wake] = []
        self._program = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SCRIPT, str(_INTERVAL_S)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        try:
            said, _err = self._program.communicate(timeout=_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._program.kill()
            said, _err = self._program.communicate()
        lines = (line.split() for line in said.splitlines())
        self._wakes = [Wake(float(time_s), _MS_PER_S * float(late)) for time_s, late in lines]

    def wakes(self) -> list[Wake]:
        """In order of time. Requires: the block was left."""
        return self._wakes


def quantile_ms(wakes: list[Wake], window: list[Sample], share: float) -> float | None:
    """The lateness that this share of the wakes in the window did not exceed; None without any."""
    start_s, end_s = window[0].time_s, window[-1].time_s
    inside = sorted(wake.late_ms for wake in wakes if start_s < wake.time_s <= end_s)
    return inside[math.ceil(share * len(inside)) - 1] if inside else None


def lateness(wakes: list[Wake], window: list[Sample]) -> dict[str, float]:
    """The figures of a window; {} without a wake in it."""
    quantiles = {
        "sleeper_p50_ms": quantile_ms(wakes, window, 0.5),
        "sleeper_p99_ms": quantile_ms(wakes, window, 0.99),
    }
    return measured(quantiles)


def beside(samples: list[Sample], wakes: list[Wake]) -> list[Sample]:
    """The samples, each with the worst lateness since the one before it, if there was a wake."""
    return samples[:1] + [
        _with_worst(after, [w.late_ms for w in wakes if before.time_s < w.time_s <= after.time_s])
        for before, after in pairwise(samples)
    ]


def _with_worst(sample: Sample, late_ms: list[float]) -> Sample:
    if not late_ms:
        return sample
    return Sample(sample.time_s, {**sample.values, "host.sleeper_late_ms": max(late_ms)})
