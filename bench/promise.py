"""What a promise is, and how two systems are compared: in turns, each at its own best load."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rig.stores import Store

from .system import Bench

_THREADS = (4, 8, 16, 32, 64)  # each system is measured at the best of these, or of its own


@dataclass(frozen=True)
class Outcome:
    ratio: float
    evidence: str


def _nothing() -> list[str]:
    return []


@dataclass(frozen=True)
class Promise:
    """limit is the smallest ratio that keeps the promise, or the largest if at_most is set.

    missing returns the packages without which it cannot be measured. fetched has systems of the lab
    that are downloaded before.
    """

    name: str  # one word, to choose it by
    title: str
    limit: float
    measure: Callable[[Bench, Store], Outcome]
    at_most: bool = False
    missing: Callable[[], Sequence[str]] = _nothing
    fetched: tuple[str, ...] = ()

    def is_kept(self, outcome: Outcome) -> bool:
        return outcome.ratio <= self.limit if self.at_most else outcome.ratio >= self.limit

    def limit_text(self) -> str:
        return f"at {'most' if self.at_most else 'least'} {self.limit:g}"


@dataclass(frozen=True)
class Side:
    """One of two systems: its name in the evidence, and its rate at N threads or connections."""

    name: str
    rate: Callable[[int], float]
    threads: tuple[int, ...] = _THREADS

    def best(self) -> int:
        """The N with the highest rate. These runs also warm the system up."""
        return max((self.rate(n), n) for n in self.threads)[1]


def in_turns(
    bench: Bench, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[float, float, float]:
    """Measures alternately; returns the medians of ours, of theirs, and of the rounds' ratios."""
    pairs = [(ours(), theirs()) for _ in range(bench.rounds)]
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def compare(bench: Bench, ours: Side, theirs: Side) -> Outcome:
    """The ratio of the two rates, each at its own best N. Both systems are up all the time."""
    our_n, their_n = ours.best(), theirs.best()
    our_rate, their_rate, ratio = in_turns(
        bench, lambda: ours.rate(our_n), lambda: theirs.rate(their_n)
    )
    return Outcome(
        ratio,
        f"{our_rate:,.0f}/s at N={our_n} against {their_rate:,.0f}/s of {theirs.name} "
        f"at N={their_n}",
    )
