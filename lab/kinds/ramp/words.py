"""What ramps came to, in words."""

from collections.abc import Callable

from ...analysis import knee as knees
from ...analysis.blocks import Estimate
from ...analysis.regression import Line
from ...report import wording
from ...results.records import Run
from .analysis import RampResult
from .gathered import OfGroup

_MIB, _KIB = 1 << 20, 1 << 10


def sentence(one: RampResult, whole: RampResult | None) -> str:
    """For the first page; "" without a plateau.

    whole is a run of the same load that lost nothing, for one that did; None if there is none.
    """
    run, rate = one.run, one.run.figure("plateau_bytes_s")
    if rate is None:
        return ""
    said = (
        f"{run.cell.stage}, {run.cell.row}: {run.threads:,} clients on {one.ramp.host_count} hosts"
    )
    said += _brought_by_those_left(one, rate, whole) if has_lost(run) else _brought(one, rate)
    if one.agreement:
        said += f"; the server saw {one.agreement.mean.value:+.2%} of that on average"
    return f"{said}."


def _brought(one: RampResult, rate: float) -> str:
    said = f" brought {rate / _MIB:.1f} MiB/s"
    if one.knee.load:
        said += f", and no more from {one.knee.load.value:,.0f} uploads under way on"
    return said


def _brought_by_those_left(one: RampResult, rate: float, whole: RampResult | None) -> str:
    said = f". {_lost(one)}; from {one.plateau_s[0]:.0f} s on, those that are left brought "
    said += f"{rate / _MIB:.1f} MiB/s"
    all_rate = whole.run.figure("plateau_bytes_s") if whole else None
    if whole is None or not all_rate:
        return said
    more = "more" if rate > all_rate else "less"
    return f"{said}, {abs(rate / all_rate - 1):.1%} {more} than all of {whole.run.cell.row}"


def has_lost(run: Run) -> bool:
    """Then what comes before the loss is known of a part of the clients only."""
    return bool(run.figure("testers_lost"))


def _lost(one: RampResult) -> str:
    lost = int(one.run.figure("testers_lost") or 0)
    said = f"{wording.plural(lost, 'tester')} {'was' if lost == 1 else 'were'} lost"
    loss_s = one.run.figure("last_loss_s")
    return said if loss_s is None else f"{said} by {loss_s:.0f} s"


def testers(run: Run) -> str:
    lost = int(run.figure("testers_lost") or 0)
    started = int(run.figure("testers") or 0)
    return f"{started}" + (f"\n{lost} lost" if lost else "")


def knee(one: RampResult) -> str:
    """The load, with its interval below; "" after a loss."""
    found = one.knee
    if has_lost(one.run):
        return ""
    if found.load is None:
        return "none" if found.verdict == knees.NOT_SEEN else ""
    return f"{found.load.value:,.0f}\n{found.load.low:,.0f}–{found.load.high:,.0f}"


def memory(run: Run, line: Line | None) -> str:
    """The slope in KiB, with its interval below; "" after a loss."""
    if line is None or has_lost(run):
        return ""
    slope = line.slope_estimate
    low, high = slope.low / _KIB, slope.high / _KIB
    return f"{slope.value / _KIB:,.1f}\n{low:,.1f} to {high:,.1f}"


OF_GROUP: dict[str, Callable[[OfGroup], str]] = {  # by the titles of columns
    "hosts": lambda found: f"{found.hosts:,}",
    "MiB/s": lambda found: f"{found.bytes_per_s / _MIB:.1f}",
    "KiB/s each": lambda found: f"{found.bytes_per_s / found.hosts / _KIB:,.0f}",
    "mean, s": lambda found: "" if found.mean_ms is None else f"{found.mean_ms / 1000:.2f}",
    "fairness": lambda found: "" if found.fairness is None else f"{found.fairness:.2f}",
}


def correlation(found: Estimate | None) -> str:
    """With its interval below."""
    return "" if found is None else f"{found.value:.2f}\n{found.low:.2f} to {found.high:.2f}"


def caption(one: RampResult) -> str:
    """With the settings of the controller."""
    run, ramp = one.run, one.ramp
    groups = ", ".join(map(str, ramp.hosts))
    link = f", behind a link of {ramp.server_link}" if ramp.server_link else ""
    said = (
        f"{run.threads:,} clients on {groups}{link}. A new one every {_time(ramp.every_s)}, each "
        f"for {_time(ramp.life_s)}, with files of {ramp.file_bytes >> 10:,} KiB. Scale "
        f"{ramp.scale}. {run.bytes / _MIB:,.0f} MiB in {run.requests:,} uploads."
    )
    seen = "" if one.courses.server else " This server keeps no log of transfers."
    valid = "" if run.is_valid else f" This run is not valid: {run.failures}."
    return f"{said}{seen} Memory of the host is over its least.{_gap(one)}{valid}"


def _gap(one: RampResult) -> str:
    """What a figure lacks."""
    if not has_lost(one.run):
        return ""
    return f" {_lost(one)}. The clients’ view lacks their uploads."


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"
