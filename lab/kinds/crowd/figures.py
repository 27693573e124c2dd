"""The figures of crowds: the users that each server bears, and what they cost the generator."""

from __future__ import annotations

from ...plan.catalog import Stage
from ...report import sheet
from ...report.charts import line_chart, named_bars
from ...report.charts.line_chart import Curve
from ...report.document import Block, Figure
from ...report.scene import Scene
from .analysis import CrowdResult
from .found import measured, users_held


def figures(scene: Scene) -> list[Block]:
    """The users that each server bears, and what users cost the generator."""
    found: list[Block] = []
    for row in scene.rows:
        shown = measured(scene, row)
        if shown and "crowd_engines" in scene.experiment.views:
            found.append(_engines_figure(row, shown))
        if shown and "crowd_maxima" in scene.experiment.views:
            found.append(_maxima_figure(row, shown))
    return found


def _engines_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    curves = [
        Curve(
            name=stage.crowd.engine if stage.crowd else stage.name,
            colour=sheet.COLOURS[index % len(sheet.COLOURS)],
            points=[
                line_chart.point(step.users, step.used_cores("loadgen") or 0.0)
                for step in one.steps
            ],
        )
        for index, (stage, one) in enumerate(found)
    ]
    chart = sheet.chart(
        "Cores of the load generator",
        curves,
        x_title="users",
        x_ends=(0.0, float(max(step.users for _, one in found for step in one.steps))),
        size=(300.0, 170.0),
    )
    return Figure(
        name=f"engines-{row}",
        title=f"What the users cost the load generator, {row}",
        caption="By how it waits for bytes; the users and the server are the same.",
        canvases=[chart],
    )


def _maxima_figure(row: str, found: list[tuple[Stage, CrowdResult]]) -> Figure:
    most = [one.at_most.users if one.at_most else 0 for _, one in found]
    bars = [(stage.name, float(users), users_held(one)) for (stage, one), users in zip(found, most)]
    return Figure(
        name=f"most-users-{row}",
        title=f"The most users that hold, {row}",
        caption="≥: the host could try no more, or the search did not end.",
        canvases=[named_bars.draw("users", bars, max(1.0, *map(float, most)), "stage1")],
    )
