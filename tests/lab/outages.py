"""The series of a run of twelve seconds in which the authserver was killed and started again."""

from dataclasses import replace

from lab.kinds.failover import load
from lab.kinds.failover.load import Outage
from lab.workloads.outcome import Event, Second, Series


def _second(t: int, ended: int, failed: int, p50_ms: float = 0.2, p99_ms: float = 2.0) -> Second:
    made = Second(t=t, under_way=0, started=100, ended=ended, failed=failed, bytes=1000 * ended)
    if not ended:
        return made
    return replace(made, mean_ms=0.5, p50_ms=p50_ms, p99_ms=p99_ms, max_ms=2 * p99_ms)


SERIES = Series(
    (
        _second(1, 100, 0, p50_ms=9.0, p99_ms=90.0),
        _second(2, 100, 0),
        _second(3, 100, 0, p50_ms=0.3, p99_ms=2.5),
        _second(4, 100, 0),
        _second(5, 50, 50),
        *(_second(t, 0, 100) for t in (6, 7)),
        _second(8, 0, 150),
        _second(9, 50, 50, p99_ms=70.0),
        *(_second(t, 100, 0) for t in (10, 11, 12)),
    ),
    (Event(4.5, "authserver killed"), Event(8.4, "authserver started again")),
)


def changed(t: int, before: Series = SERIES, **changes: float) -> Series:
    """With other values of this second."""
    seconds = tuple(replace(one, **changes) if one.t == t else one for one in before.seconds)  # type: ignore[arg-type]
    return replace(before, seconds=seconds)


def seen(series: Series) -> Outage:
    found = load.of_series(series)
    assert found
    return found
