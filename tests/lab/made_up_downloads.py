"""Attempts to fetch a file that nobody made, for tests."""

from dataclasses import replace

import examples

from lab.kinds.client.load import FAILED
from lab.plan.catalog import Cell
from lab.results.records import Run

ROW = "2MB"
_BYTES = 2_000_000
_OF_THE_WAY = ("rtt_p50_ms", "rtt_max_ms", "rtt_lost")


def attempt(stage: str, channels: int, mbit: float, repeat: int = 1, **figures: float) -> Run:
    """One that got the file at this rate. Some of the figures are of the way."""
    rate = mbit * 1e6 / 8
    way = {name: figures.pop(name) for name in list(figures) if name in _OF_THE_WAY}
    return examples.run(
        channels,
        rate / _BYTES,
        repeat,
        replace(examples.usage({"fileserver": 0.1, "loadgen": 0.2}), figures=way),
        cell=Cell(stage, ROW, workload="client"),
        bytes=_BYTES,
        elapsed_s=_BYTES / rate,
        **{"rate_bytes_s": rate, "succeeded": 1.0, **figures},
    )


def failed(stage: str, channels: int, repeat: int = 1, why: str = f"{FAILED}: status 1") -> Run:
    one = attempt(stage, channels, 1.0, repeat)
    return replace(one, failures=why, figures={"succeeded": 0.0})


def attempts(stage: str, channels: int, *mbit: float, **figures: float) -> list[Run]:
    """A repetition for each of the rates."""
    return [
        attempt(stage, channels, rate, repeat, **figures)
        for repeat, rate in enumerate(mbit, start=1)
    ]
