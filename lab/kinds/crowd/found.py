"""The crowds that a report is about, and the most users of each."""

from __future__ import annotations

from ...plan.catalog import Cell, Stage
from ...report.scene import Scene
from . import KIND
from .analysis import CrowdResult


def tried(scene: Scene, row: str) -> list[tuple[Stage, CrowdResult]]:
    """Also those of which no trial is valid, so that the report says so."""
    return [
        (stage, found)
        for stage in scene.stages
        if (found := scene.analysis.crowd(Cell(stage.name, row, workload=KIND.name)))
    ]


def measured(scene: Scene, row: str) -> list[tuple[Stage, CrowdResult]]:
    return [(stage, found) for stage, found in tried(scene, row) if found.steps]


def users_held(found: CrowdResult) -> str:
    """A sign says when the host could try no more, or when the search did not end."""
    most = found.at_most.users if found.at_most else 0
    if not found.steps:
        return f"no valid trial of {found.spoiled}"
    if found.answer is None:
        spoiled = f", trials not valid: {found.spoiled}" if found.spoiled else ""
        return f"≥ {most:,}, not ended{spoiled}"
    return f"{found.answer.holds:,}" if found.answer.fails else f"≥ {found.answer.holds:,}"
