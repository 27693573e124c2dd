"""What downloads came to, in words."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...report import wording
from . import analysis as attempts
from .analysis import AT_MOST, FORETOLD, ROUND_TRIP, Attempts

MBIT = 8e-6  # a byte
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


def rates(name: str, one: Attempts, alike: Sequence[int]) -> list[str]:
    """For the table. name is that of the series, alike are the numbers of channels that are as good
    as the best one.
    """
    seen, held = one.figure("channels_seen"), one.figure("kernel_bytes")
    waited = one.figure("reorder_bytes_max")
    return [
        name,
        f"{one.channels}" + (" ✓" if one.channels in alike else ""),
        wording.number(seen.median) if seen else wording.NOTHING,
        f"{len(one.valid)} of {len(one.runs)}",
        _with_range(one.rate, MBIT, 2),
        _percent(one, "share_of_nominal"),
        _percent(one, "share_of_probed"),
        _window(one),
        wording.kilobytes(held.median) if held else wording.NOTHING,
        _percent(one, "retransmitted", 1),
        wording.kilobytes(waited.median) if waited else wording.NOTHING,
        _seconds(one, "cpu_s_per_gb"),
        _cpu(one, "fileserver"),
    ]


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


def round_trips(name: str, one: Attempts) -> list[str]:
    """For the table."""
    most = one.figure("rtt_max_ms")
    return [
        name,
        f"{one.channels}",
        _window(one),
        _foretold(one),
        _with_range(one.figure(ROUND_TRIP), 1.0, 1),
        f"{most.median:.0f}" if most else wording.NOTHING,
        _percent(one, "rtt_lost", 1),
    ]


def _foretold(one: Attempts) -> str:
    """Where it has no value there may be a bound."""
    if found := one.figure(FORETOLD):
        return f"{found.median:.1f}"
    bound = one.figure(AT_MOST)
    return f"≤ {bound.median:.1f}" if bound else wording.NOTHING


def restarts(stage: Stage, one: Attempts) -> list[str]:
    """For the table: of all attempts, whether or not they succeeded."""
    kills = sum(attempts.value_of(run, "kills") or 0 for run in one.runs)
    true = sum(
        (attempts.value_of(run, "true_prefixes") or 0) * (attempts.value_of(run, "kills") or 0)
        for run in one.runs
    )
    return [
        stage.name,
        f"{one.channels}",
        f"{len(one.valid)} of {len(one.runs)}",
        f"{kills:.0f}",
        f"{true:.0f}",
        _percent(one, "fetched_again"),
    ]


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


def _window(one: Attempts) -> str:
    found = one.figure("window_bytes")
    return wording.kilobytes(found.median) if found else wording.NOTHING


def _mbit(rate: Spread | None) -> str:
    return wording.NOTHING if rate is None else f"{MBIT * rate.median:.2f}"


def _percent(one: Attempts, name: str, decimals: int = 0) -> str:
    found = one.figure(name)
    return wording.percent(found.median, decimals) if found else wording.NOTHING


def _seconds(one: Attempts, name: str) -> str:
    found = one.figure(name)
    return f"{found.median:.2f}" if found else wording.NOTHING


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
