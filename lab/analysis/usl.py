"""The universal scalability law, X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).

lambda is the throughput at N = 1. sigma is the serial share (contention). kappa is the cost of
keeping each pair consistent (coherence). N counts threads or cores.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

FEWEST_POINTS = 3  # as many as the law has parameters


@dataclass(frozen=True)
class ScalabilityLaw:
    rate_of_one: float  # lambda
    contention: float  # sigma
    coherence: float  # kappa
    r_squared: float

    def throughput(self, n: float) -> float:
        return self.rate_of_one * n / (1 + self.contention * (n - 1) + self.coherence * n * (n - 1))

    @property
    def peak_n(self) -> float:
        """The N of the highest throughput; infinite when the coherence is 0."""
        if self.coherence <= 0:
            return math.inf
        return math.sqrt(max(0.0, 1 - self.contention) / self.coherence)


def fit(points: list[tuple[float, float]]) -> ScalabilityLaw | None:
    """Least squares on relative errors of N / X, which is linear in the parameters.

    points are (N, X). A sigma or kappa that would be negative is fixed at 0.
    None with fewer than FEWEST_POINTS different N.
    """
    if len({n for n, _ in points}) < FEWEST_POINTS:
        return None
    terms = ["one", "contention", "coherence"]
    while True:
        solution = _weighted_fit(points, terms)
        negative = [name for name in terms[1:] if solution[name] < 0]
        if not negative:
            break
        terms.remove(min(negative, key=lambda name: solution[name]))
    one = solution["one"]
    law = ScalabilityLaw(
        1 / one, solution.get("contention", 0.0) / one, solution.get("coherence", 0.0) / one, 0.0
    )
    return ScalabilityLaw(law.rate_of_one, law.contention, law.coherence, _r_squared(law, points))


_TERMS: dict[str, Callable[[float], float]] = {
    "one": lambda n: 1.0,
    "contention": lambda n: n - 1,
    "coherence": lambda n: n * (n - 1),
}


def _weighted_fit(points: list[tuple[float, float]], terms: list[str]) -> dict[str, float]:
    rows = [[_TERMS[name](n) * x / n for name in terms] for n, x in points]  # target is 1 each
    size = len(terms)
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(size)] for i in range(size)]
    target = [sum(row[i] for row in rows) for i in range(size)]
    return dict(zip(terms, _solve(matrix, target)))


def _solve(matrix: list[list[float]], target: list[float]) -> list[float]:
    """Gauss with partial pivoting; the matrices here are at most 3 by 3."""
    size = len(target)
    rows = [[*row, value] for row, value in zip(matrix, target)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda index: abs(rows[index][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for index in range(column + 1, size):
            factor = rows[index][column] / rows[column][column]
            rows[index] = [a - factor * b for a, b in zip(rows[index], rows[column])]
    solution = [0.0] * size
    for index in reversed(range(size)):
        known = sum(rows[index][k] * solution[k] for k in range(index + 1, size))
        solution[index] = (rows[index][size] - known) / rows[index][index]
    return solution


def _r_squared(law: ScalabilityLaw, points: list[tuple[float, float]]) -> float:
    mean = statistics.fmean(x for _, x in points)
    total = sum((x - mean) ** 2 for _, x in points)
    residual = sum((x - law.throughput(n)) ** 2 for n, x in points)
    return 1 - residual / total if total > 0 else 1.0
