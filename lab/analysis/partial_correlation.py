"""Whether the CPU goes with throughput or with the number of clients.

Throughput rises with the clients, so the CPU is correlated with both. A partial correlation is
that of what remains of two columns when a line over a third one is taken off. Its interval respects
that neighbouring seconds depend on each other; see blocks.py.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from . import blocks
from .blocks import Estimate

_ALMOST_ONE = 1 - 1e-12


@dataclass(frozen=True)
class OfCpu:
    """The partial correlations of the CPU. None: the remaining column does not vary."""

    with_throughput: Estimate | None  # given the clients
    with_clients: Estimate | None  # given throughput


def of_cpu(cpu: Sequence[float], throughput: Sequence[float], clients: Sequence[float]) -> OfCpu:
    """Requires: as many of each, in the order of time, with the same time between all."""
    return OfCpu(of_values(cpu, throughput, clients), of_values(cpu, clients, throughput))


def of_values(
    values: Sequence[float], others: Sequence[float], given: Sequence[float]
) -> Estimate | None:
    """The correlation of values and others when given is held fast.

    None for fewer than blocks.FEWEST of them, or where given leaves nothing of one of the two.
    Requires: the same as of_cpu().
    """
    if len(values) < blocks.FEWEST:
        return None
    few, few_others, few_given = blocks.thinned([values, others, given])
    middle = statistics.fmean(few_given)
    away = [one - middle for one in few_given]
    left, left_of_others = _left(few, away), _left(few_others, away)
    if any(
        blocks.is_nothing(blocks.dot(rest, rest), column)
        for rest, column in ((left, few), (left_of_others, few_others))
    ):
        return None
    noises = [blocks.noise(rest, 2) for rest in (left, left_of_others)]
    drawn = blocks.draws(
        noises, lambda made: _stretched(_left(made[0], away), _left(made[1], away))
    )
    both = noises[0].kept * noises[1].kept  # what two columns have in common fades so fast
    half = blocks.widening(len(few), both, 3) * statistics.pstdev(drawn)
    found = _stretched(left, left_of_others)
    return Estimate(math.tanh(found), math.tanh(found - half), math.tanh(found + half))


def _left(column: Sequence[float], away: Sequence[float]) -> list[float]:
    """What remains of a column without its line over these. Their mean is 0."""
    middle, squares = statistics.fmean(column), blocks.dot(away, away)
    slope = blocks.dot(column, away) / squares if squares else 0.0
    return [value - middle - slope * one for value, one in zip(column, away)]


def _stretched(left: Sequence[float], others: Sequence[float]) -> float:
    """The correlation by Fisher's z, which is as wide near 1 as near 0."""
    squares = blocks.dot(left, left) * blocks.dot(others, others)
    found = blocks.dot(left, others) / math.sqrt(squares) if squares else 0.0
    return math.atanh(max(-_ALMOST_ONE, min(_ALMOST_ONE, found)))
