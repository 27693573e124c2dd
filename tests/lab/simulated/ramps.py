"""Runs whose load rises, stays and falls, and the questions that the lab answers about them.

What is true of each is known. The noise follows itself: `follows` is the share of a deviation that
the next second keeps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import simulated_seconds as simulated
from simulated.cases import USUAL_POWER

from lab.analysis import knee, regression, two_views
from lab.analysis.blocks import Estimate
from lab.analysis.findings import CANNOT_TELL
from lab.kinds.ramp import capacity
from lab.kinds.ramp.capacity import Resource

ABOVE, BELOW, OUTSIDE = "above 0", "below 0", "the truth is outside"
_SAME, _DIFFERENT = "the same", "different"
_SECONDS = 600
_MEMORY = 0.94  # for each client
_KNEE = 80.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """right are the answers that are true. ask() gives the answer to one run; the same seed gives
    the same run.
    """

    name: str
    truth: str
    ask: Callable[[int], str]
    right: tuple[str, ...]
    power: float = USUAL_POWER


def noise(seed: int, part: int, follows: float, count: int = _SECONDS) -> list[float]:
    """Deviations with a standard deviation of 5. Each part of a run has others."""
    values = simulated.noisy(1000 * part + seed, count, follows)
    return [value - simulated.LEVEL for value in values]


def loads(most: float = 100.0, count: int = _SECONDS) -> list[float]:
    """A third of the time it rises, a third it stays, a third it falls."""
    third = count / 3
    return [most * min(1.0, t / third, (count - t) / third) for t in range(count)]


def rising(most: float = 200.0, count: int = _SECONDS) -> list[float]:
    return [most * t / (count - 1) for t in range(count)]


def line(seed: int, slope: float, follows: float, count: int = _SECONDS) -> regression.Line | None:
    """Of memory over the load."""
    xs = loads(200.0, count)
    return regression.fit(xs, _over(xs, slope, noise(seed, 1, follows, count)))


def _over(xs: Sequence[float], slope: float, deviations: Sequence[float]) -> list[float]:
    return [50 + slope * x + one for x, one in zip(xs, deviations)]


def sign(found: Estimate | None, truth: float) -> str:
    """CANNOT_TELL where the interval has both 0 and the truth."""
    if found is None or (found.has(truth) and found.has(0.0)):
        return CANNOT_TELL
    if not found.has(truth):
        return OUTSIDE
    return ABOVE if found.low > 0 else BELOW


def _slope(slope: float, follows: float) -> Callable[[int], str]:
    def ask(seed: int) -> str:
        found = line(seed, slope, follows)
        return sign(found.slope_estimate if found else None, slope)

    return ask


def correlations(seed: int, follows: float) -> regression.OfCpu:
    """The CPU is 2 for each unit of throughput, which is 0.3 for each client, both with noise. So
    the correlations are 2 / sqrt(5) and 0.
    """
    clients = loads()
    throughput = _over(clients, 0.3, noise(seed, 2, follows))
    cpu = _over(throughput, 2.0, noise(seed, 3, follows))
    return regression.of_cpu(cpu, throughput, clients)


def _given_clients(follows: float) -> Callable[[int], str]:
    return lambda seed: sign(correlations(seed, follows).with_throughput, 2 / 5**0.5)


def _given_throughput(follows: float) -> Callable[[int], str]:
    return lambda seed: sign(correlations(seed, follows).with_clients, 0.0)


def throughputs(xs: Sequence[float], at: float, seed: int, follows: float) -> list[float]:
    return _over([min(x, at) for x in xs], 0.5, noise(seed, 4, follows))


def _knee(at: float, follows: float, xs: Sequence[float]) -> Callable[[int], str]:
    """at is where the knee is; beyond the largest load there is none."""

    def ask(seed: int) -> str:
        found = knee.of_values(xs, throughputs(xs, at, seed, follows))
        if found.load is None:
            return CANNOT_TELL
        return knee.SEEN if found.load.has(at) else OUTSIDE

    return ask


def _views(share: float) -> Callable[[int], str]:
    """The server sees more by this share, with a noise of its own."""

    def ask(seed: int) -> str:
        clients = simulated.noisy(seed, 120, 0.5)
        own = noise(seed, 5, 0.0, 120)
        server = [(1 + share) * value + one / 2 for value, one in zip(clients, own)]
        seconds = range(1, 121)
        found = two_views.compare(dict(zip(seconds, clients)), dict(zip(seconds, server)), seconds)
        if not found or not found.mean.has(share):
            return OUTSIDE
        return _SAME if found.is_same else _DIFFERENT

    return ask


def _first_end(memory: float, cores: float, follows: float) -> Callable[[int], str]:
    """The numbers of clients at which these two end; a third of the first one was measured."""

    def ask(seed: int) -> str:
        xs = rising(min(memory, cores) / 3)
        used = [
            (name, regression.fit(xs, _over(xs, 1000 / end, noise(seed, part, follows))))
            for part, (name, end) in enumerate((("memory", memory), ("CPU", cores)), start=6)
        ]
        resources = [Resource(name, 1050.0, one) for name, one in used if one]
        found = capacity.first(capacity.ends(resources))
        if not found or found.rivals:
            return CANNOT_TELL
        return found.name if found.clients.has(min(memory, cores)) else OUTSIDE

    return ask


_FOLLOWS = (0.0, 0.5, 0.8, 0.95)

CASES = (
    *(
        Case(
            name=f"memory over clients, noise keeps {follows:.0%}",
            truth=f"{_MEMORY} for each",
            ask=_slope(_MEMORY, follows),
            right=(ABOVE,),
        )
        for follows in _FOLLOWS
    ),
    *(
        Case(
            name=f"memory without a slope, noise keeps {follows:.0%}",
            truth="no slope",
            ask=_slope(0.0, follows),
            right=(CANNOT_TELL,),
        )
        for follows in _FOLLOWS
    ),
    *(
        case
        for follows in (0.0, 0.5, 0.8)
        for case in (
            Case(
                name=f"CPU with throughput, noise keeps {follows:.0%}",
                truth="0.89 at the same clients",
                ask=_given_clients(follows),
                right=(ABOVE,),
            ),
            Case(
                name=f"CPU with clients, noise keeps {follows:.0%}",
                truth="0 at the same throughput",
                ask=_given_throughput(follows),
                right=(CANNOT_TELL,),
            ),
        )
    ),
    *(
        case
        for follows in (0.0, 0.5, 0.8)
        for case in (
            Case(
                name=f"a knee, noise keeps {follows:.0%}",
                truth=f"at {_KNEE:g} of 200 clients",
                ask=_knee(_KNEE, follows, rising()),
                right=(knee.SEEN,),
            ),
            Case(
                name=f"throughput that rises to the end, {follows:.0%}",
                truth="no knee",
                ask=_knee(1000.0, follows, rising()),
                right=(CANNOT_TELL,),
            ),
        )
    ),
    Case(
        name="a knee, the load rises and falls",
        truth="at 40 of 100 clients",
        ask=_knee(40.0, 0.5, loads()),
        right=(knee.SEEN,),
    ),
    Case(
        name="throughput that never rises",
        truth="no knee",
        ask=_knee(0.0, 0.5, rising()),
        right=(CANNOT_TELL,),
    ),
    Case(name="two views alike", truth="the same mean", ask=_views(0.0), right=(_SAME,)),
    Case(name="two views, 3% apart", truth="not the same", ask=_views(0.03), right=(_DIFFERENT,)),
    Case(
        name="memory ends at 500, CPU at 900",
        truth="memory is first",
        ask=_first_end(500.0, 900.0, 0.5),
        right=("memory",),
    ),
    Case(
        name="CPU ends at 500, memory never soon",
        truth="the CPU is first",
        ask=_first_end(1e6, 500.0, 0.5),
        right=("CPU",),
    ),
    Case(
        name="memory and CPU end at 500",
        truth="two alike",
        ask=_first_end(500.0, 500.0, 0.8),
        right=(CANNOT_TELL,),
    ),
)
