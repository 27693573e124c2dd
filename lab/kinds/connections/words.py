"""What many connections came to, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import passes
from ...report import wording
from .analysis import RATE, SWITCHES, Step

Stages = Sequence[Sequence[Step]]  # of each stage, in rising order of N


def sentences(active: Stages, idle: Stages) -> list[str]:
    """Those of which something was measured."""
    said = [_rates(active), _switches(active), _memory(idle), _left(idle), _refused(active, idle)]
    return [one for one in said if one]


def _rates(active: Stages) -> str:
    """Where the most stages were measured; of such N the largest."""
    at = _common(active, RATE)
    if not at:
        return ""
    rates = [f"{_name(one)} {wording.rate(one.median(RATE))}" for one in at]
    return f"With {at[0].connections:,} connections that all ask, requests/s: {', '.join(rates)}."


def _switches(active: Stages) -> str:
    at = _common(active, SWITCHES)
    if not at:
        return ""
    found = [f"{_name(one)} {wording.three_digits(one.median(SWITCHES))}" for one in at]
    return f"Context switches of the server for each of these requests: {', '.join(found)}."


def _memory(idle: Stages) -> str:
    at = _common(idle, "proportional_bytes_each")
    if not at:
        return ""
    found = [f"{_name(one)} {_size(one, 'proportional_bytes_each')}" for one in at]
    with_kernels = [one for one in at if one.median("group_bytes_each") is not None]
    more = [f"{_name(one)} {_size(one, 'group_bytes_each')}" for one in with_kernels]
    said = f"An idle connection takes of the servers’ programs: {', '.join(found)}"
    return (
        f"{said}; with the kernel’s part of the server: {', '.join(more)}." if more else f"{said}."
    )


def _left(idle: Stages) -> str:
    """What idle connections leave of the rate of those that ask."""
    at = _common([steps[1:] for steps in idle], RATE)
    first = {steps[0].cell: steps[0] for steps in idle}
    known = [(one, passes.ratio(one, first[one.cell], RATE)) for one in at]
    found = [f"{_name(one)} {wording.percent(ratio.median)}" for one, ratio in known if ratio]
    if not found:
        return ""
    return (
        f"Beside them, {at[0].connections:,} connections in all, those that ask keep of their "
        f"requests/s: {', '.join(found)}."
    )


def _refused(active: Stages, idle: Stages) -> str:
    """Points that have no valid run."""
    names = [
        f"{one.cell.stage} with {one.connections:,}"
        for steps in (*active, *idle)
        for one in steps
        if one.why_not
    ]
    return f"Not measured: {wording.few(names)}; the table says why." if names else ""


def _common(stages: Stages, name: str) -> list[Step]:
    """The steps that have this figure, at the N at which most stages have it, the largest of them;
    [] unless two have it there.
    """
    by_n: dict[int, list[Step]] = {}
    for steps in stages:
        for one in steps:
            if one.median(name) is not None:
                by_n.setdefault(one.connections, []).append(one)
    found = max(by_n.items(), key=lambda item: (len(item[1]), item[0]), default=(0, []))[1]
    return found if len(found) > 1 else []


def _name(one: Step) -> str:
    """models-thread-idle: thread."""
    return one.cell.stage.removesuffix("-idle").partition("-")[2]


def _size(one: Step, name: str) -> str:
    return wording.byte_size(one.median(name))
