"""What ramps came to, in words."""

from __future__ import annotations

from ...analysis import knee as knees
from ...analysis.blocks import Estimate
from ...analysis.ramps import RampResult
from ...analysis.regression import Line
from ...results.records import Run
from .. import wording

_MIB, _KIB = 1 << 20, 1 << 10


def sentence(one: RampResult) -> str:
    """For the first page; "" without a plateau."""
    run, rate = one.run, one.run.figure("plateau_bytes_s")
    if rate is None:
        return ""
    said = (
        f"{run.cell.stage}, {run.cell.row}: {run.threads:,} clients on {one.ramp.host_count} hosts "
        f"brought {rate / _MIB:.1f} MiB/s"
    )
    if one.knee.load:
        said += f", and no more from {one.knee.load.value:,.0f} uploads under way on"
    if one.agreement:
        said += f"; the server saw {one.agreement.mean.value:+.2%} of that on average"
    return f"{said}.{_lost(run)}"


def _lost(run: Run) -> str:
    lost = int(run.figure("testers_lost") or 0)
    if not lost:
        return ""
    were = "was" if lost == 1 else "were"
    return f" {wording.plural(lost, 'tester')} {were} lost; this is of those that are left."


def testers(run: Run) -> str:
    lost = int(run.figure("testers_lost") or 0)
    started = int(run.figure("testers") or 0)
    return f"{started}" + (f"\n{lost} lost" if lost else "")


def knee(one: RampResult) -> str:
    """The load, with its interval below."""
    found = one.knee
    if found.load is None:
        return "none" if found.verdict == knees.NOT_SEEN else ""
    return f"{found.load.value:,.0f}\n{found.load.low:,.0f}–{found.load.high:,.0f}"


def memory(line: Line | None) -> str:
    """The slope in KiB, with its interval below."""
    if line is None:
        return ""
    slope = line.slope_estimate
    low, high = slope.low / _KIB, slope.high / _KIB
    return f"{slope.value / _KIB:,.1f}\n{low:,.1f} to {high:,.1f}"


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
    return f"{said}{seen} Memory of the host is over its least.{_lost(run)}{valid}"


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"
