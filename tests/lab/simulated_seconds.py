"""Seconds of runs that never were, of which is known what happened in them. A level is 100."""

import math
import random
from collections.abc import Sequence

LEVEL = 100.0
NOISE = 5.0
SEEDS = range(100)
FEW = 5  # of the seeds: those by which a test may be wrong


def noisy(seed: int, count: int = 60, follows: float = 0.0) -> list[float]:
    """A constant with noise. follows is the share of a deviation that the next value keeps."""
    source = random.Random(seed)
    fresh = NOISE * math.sqrt(1 - follows**2)
    deviation, values = source.gauss(0, NOISE), []
    for _ in range(count):
        values.append(LEVEL + deviation)
        deviation = follows * deviation + source.gauss(0, fresh)
    return values


def drifting(values: Sequence[float], by: float) -> list[float]:
    """By so much in all."""
    return [value + by * index / (len(values) - 1) for index, value in enumerate(values)]


def stepping(values: Sequence[float], at: int, by: float) -> list[float]:
    """From this index on."""
    return [value + by * (index >= at) for index, value in enumerate(values)]


def spiking(values: Sequence[float], at: int, by: float) -> list[float]:
    return [value + by * (index == at) for index, value in enumerate(values)]
