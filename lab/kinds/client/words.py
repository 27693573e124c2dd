"""What downloads came to, in words."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...report import wording
from ...report.sheet import Column
from . import analysis as attempts
from .analysis import AT_MOST, FORETOLD, ROUND_TRIP, Attempts

MBIT = 8e-6  # a byte
_Text = Callable[[float | None], str]
_LEAST_MS = 2.0  # of a round trip that is worth a word


def series(stage: Stage, link: str) -> str:
    """Source, destination, description and direction, as paper 004 names its series.

    link is that of the command line; "" if each stage has its own.
    """
    server = "ours" if stage.system == "turnstile" else stage.system
    place = stage.link or "loopback"
    return f"{server}.{link or place}.{stage.name.removeprefix(f'{place}-')}.get"


def sentence(stage: Stage, found: Sequence[Attempts]) -> str:
    """For the first page."""
    best = attempts.best(found)
    if best is None:
        return f"{stage.name}: with no number of channels did four of five attempts succeed."
    first, one = found[0], best.attempts
    said = f"{stage.name}: {_mbit(one.rate)} Mbit/s over {wording.plural(one.channels, 'channel')}"
    if shares := one.share_of_link():
        share = statistics.median(shares.values())
        said += f", {wording.percent(share)} of the link less its headers"
    if first.rate and first.channels < one.channels:
        said += f"; {_mbit(first.rate)} over {wording.plural(first.channels, 'channel')}"
    grown = _round_trips(found)
    failed = sum(len(each.runs) - len(each.valid) for each in found)
    lost = f" {wording.plural(failed, 'attempt')} failed." if failed else ""
    return f"{said}{grown}.{lost}"


def _round_trips(found: Sequence[Attempts]) -> str:
    first, last = (found[at].figure(ROUND_TRIP) for at in (0, -1))
    if first is None or last is None or len(found) < 2 or last.median < _LEAST_MS:
        return ""
    said = f"; round trips of {first.median:.0f} ms became {last.median:.0f} ms over "
    return said + str(found[-1].channels)


@dataclass(frozen=True)
class Line:
    """Of a table. alike: whether it is as good as the best number of channels."""

    series: str
    stage: Stage
    one: Attempts
    is_alike: bool = False


def _median(title: str, figure: str, text: _Text, group: str = "") -> Column[Line]:
    return Column(title, lambda line: text(line.one.median(figure)), group)


def _whole_percent(share: float | None) -> str:
    return wording.percent(share)


def _percent(share: float | None) -> str:
    return wording.percent(share, 1)


def _two_decimals(value: float | None) -> str:
    return wording.NOTHING if value is None else f"{value:.2f}"


_SERIES: Column[Line] = Column("series", lambda line: line.series)
_CHANNELS: Column[Line] = Column("channels", lambda line: f"{line.one.channels}")
_WINDOW = _median("window, kB", "window_bytes", wording.kilobytes)
RATES: list[Column[Line]] = [
    _SERIES,
    Column("channels", lambda line: f"{line.one.channels}" + (" ✓" if line.is_alike else "")),
    _median("seen", "channels_seen", wording.number),
    Column("succeeded", lambda line: _succeeded(line.one)),
    Column("", lambda line: _with_range(line.one.rate, MBIT, 2), "rate, Mbit/s"),
    _median("nominal", "share_of_nominal", _whole_percent, "of the link"),
    _median("probed", "share_of_probed", _whole_percent, "of the link"),
    _WINDOW,
    _median("kernel, kB", "kernel_bytes", wording.kilobytes),
    _median("sent again", "retransmitted", _percent),
    _median("waited, kB", "reorder_bytes_max", wording.kilobytes),
    _median("client", "cpu_s_per_gb", _two_decimals, "CPU, s/GB"),
    Column("server", lambda line: _cpu(line.one, "fileserver"), "CPU, s/GB"),
]
ROUND_TRIPS: list[Column[Line]] = [
    _SERIES,
    _CHANNELS,
    _WINDOW,
    Column("foretold", lambda line: _foretold(line.one)),
    Column("p50", lambda line: _with_range(line.one.figure(ROUND_TRIP), 1.0, 1)),
    _median("most", "rtt_max_ms", wording.number),
    _median("lost", "rtt_lost", _percent),
]
RESTARTS: list[Column[Line]] = [
    Column("series", lambda line: line.stage.name),
    _CHANNELS,
    Column("right", lambda line: _succeeded(line.one)),
    Column("kills", lambda line: f"{_of_all(line.one, 'kills'):.0f}"),
    Column("true beginnings", lambda line: f"{_of_all(line.one, 'kills', 'true_prefixes'):.0f}"),
    _median("fetched again", "fetched_again", _whole_percent),
]


def _succeeded(one: Attempts) -> str:
    return f"{len(one.valid)} of {len(one.runs)}"


def _of_all(one: Attempts, *names: str) -> float:
    """The sum of the products of these figures, over all attempts, also those that failed."""
    of_runs = ([attempts.value_of(run, name) or 0.0 for name in names] for run in one.runs)
    return sum(math.prod(values) for values in of_runs)


def best(name: str, found: Sequence[Attempts]) -> list[str]:
    """For the table of best numbers; [] if it is of one number only, or if none is good."""
    told = attempts.best(found)
    if told is None or len(found) < 2:
        return []
    fewest = told.alike[0]
    return [
        name,
        ", ".join(f"{one.channels}" for one in found),
        f"{told.attempts.channels}",
        _with_range(told.attempts.rate, MBIT, 2),
        ", ".join(map(str, told.channels_alike)),
        f"{fewest.channels}",
        _with_range(fewest.rate, MBIT, 2),
        _with_range(found[0].rate, MBIT, 2),
    ]


def _foretold(one: Attempts) -> str:
    """Where it has no value there may be a bound."""
    if found := one.figure(FORETOLD):
        return f"{found.median:.1f}"
    bound = one.figure(AT_MOST)
    return f"≤ {bound.median:.1f}" if bound else wording.NOTHING


def _with_range(found: Spread | None, factor: float, decimals: int) -> str:
    """The middle, with the interval or the range below."""
    if found is None:
        return wording.NOTHING
    middle, low, high = (
        f"{factor * max(0.0, value):.{decimals}f}"
        for value in (found.median, found.low, found.high)
    )
    if found.count == 1:
        return middle
    return f"{middle}\n{low}–{high}{'' if found.is_interval else '*'}"


def _mbit(rate: Spread | None) -> str:
    return wording.NOTHING if rate is None else f"{MBIT * rate.median:.2f}"


def _cpu(one: Attempts, component: str) -> str:
    """CPU seconds for each GB."""
    found = one.spread(
        lambda run: (
            None
            if (cores := run.used_cores(component)) is None or not run.bytes
            else 1e9 * cores * run.elapsed_s / run.bytes
        )
    )
    return f"{found.median:.2f}" if found else wording.NOTHING
