"""The figure of bursts: our rates beside the paper's, each on an axis of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.catalog import Stage
from ...report.charts import line_chart
from ...report.charts.line_chart import Axes, Curve, Point
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure
from ...report.scene import Scene
from .analysis import BurstStep

_SIZE = (330.0, 150.0)
_OURS = ("stage0", "stage1", "stage2", "ink", "soft")


def figures(scene: Scene) -> list[Block]:
    """Over the number of transfers or, if that is always the same, over the size of the files."""
    found = {stage.name: _by_name(scene, stage) for stage in scene.stages}
    names = list(dict.fromkeys(name for steps in found.values() for name in steps))
    if len(names) < 2:
        return []
    names.sort(key=_as_number)
    ours = [_curve(stage, found[stage.name], names, at) for at, stage in enumerate(scene.stages)]
    charts = [_chart("Here, KB/s", ours, names)]
    if printed := _printed(scene, names):
        charts.append(_chart("In the paper, KB/s", printed, names))
    return [
        Figure(
            name=f"bursts-{scene.experiment.name}",
            title=f"{scene.experiment.title}: the rates",
            caption="With intervals. Compare the shapes, not the heights.",
            canvases=charts,
        )
    ]


def _by_name(scene: Scene, stage: Stage) -> dict[str, BurstStep]:
    """By the number of transfers, or by the size where there are several sizes."""
    steps = {row: scene.analysis.bursts(stage.name, row) for row in scene.rows}
    if len(scene.rows) > 1:
        return {row: found[0] for row, found in steps.items() if found}
    return {str(step.transfers): step for found in steps.values() for step in found}


def _curve(stage: Stage, steps: dict[str, BurstStep], names: Sequence[str], at: int) -> Curve:
    points = [
        Point(float(place), *(value / 1024 for value in (rate.median, rate.low, rate.high)))
        for place, name in enumerate(names)
        if name in steps
        for rate in [steps[name].rate]
    ]
    return Curve(name=stage.name, colour=_OURS[at % len(_OURS)], points=points)


def _printed(scene: Scene, names: Sequence[str]) -> list[Curve]:
    """The columns of the paper's table; [] if it has none for this experiment."""
    table = scene.printed.printed.get(scene.experiment.numbers)
    if not table:
        return []
    place = {name.replace("i", ""): float(at) for at, name in enumerate(names)}
    curves = []
    for column, title in enumerate(table.header[1:], start=1):
        known = [(row[0], row[column]) for row in table.rows if row[column] and row[0] in place]
        points = [line_chart.point(place[name], float(value)) for name, value in known]
        style = "" if column == 1 else "dash"
        curves.append(Curve(name=title.split(",")[0], colour="paper", points=points, style=style))
    return curves


def _chart(title: str, curves: Sequence[Curve], names: Sequence[str]) -> Canvas:
    points = [point for curve in curves for point in curve.points if point]
    axes = Axes(
        x_low=0.0,
        x_high=float(len(names) - 1),
        y_values=[0.0, *(value for point in points for value in (point.value, point.high))],
        x_ticks=[float(at) for at in range(len(names))],
        x_names=names,
    )
    return line_chart.draw(title, curves, axes, size=_SIZE)


def _as_number(name: str) -> float:
    """1 … 24, or 256KiB … 16MiB, in rising order."""
    units = {"KiB": 2.0**10, "MiB": 2.0**20}
    digits = name.rstrip("KMiB")
    return float(digits) * units.get(name[len(digits) :], 1.0)
