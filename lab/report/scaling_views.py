"""The view of throughput over the number of the fileserver's cores: Figure 14."""

from ..analysis import usl
from ..analysis.cells import CellResult
from ..plan.catalog import Stage, row_title
from . import wording
from .charts import line_chart
from .charts.line_chart import Axes, Curve, Point
from .charts.svg import Canvas
from .document import Block, Bullets, Figure, Paragraph, Table
from .scene import Scene


def scaling(scene: Scene) -> list[Block]:
    """Figure 14: throughput against the fileserver's cores, and the law's fit."""
    blocks: list[Block] = []
    for stage in scene.stages:
        for row in scene.rows:
            results = sorted(
                (
                    result
                    for result in scene.analysis.results()
                    if (result.cell.stage, result.cell.row) == (stage.name, row)
                    and result.cell.fileserver_cores
                ),
                key=lambda result: result.cell,
            )
            if results:
                blocks += _scaling_of(scene, stage, row, results)
    return blocks


def _scaling_of(scene: Scene, stage: Stage, row: str, results: list[CellResult]) -> list[Block]:
    points = [
        Point(result.cell.fileserver_cores, spread.median, spread.low, spread.high)
        for result in results
        for spread in [result.best.throughput]
    ]
    law = usl.fit([(int(point.x), point.value) for point in points])
    title = f"{stage.name}, {row_title(row)}, over the fileserver’s cores"
    return [
        Figure(
            name=f"{scene.experiment.name}-scaling-{row}",
            title=title,
            caption="Maximum throughput with its 95% interval over the cores that taskset gives to "
            "the fileserver, and the fit of the universal scalability law if there is one. The "
            "efficiency in the table is the gain for each core that the whole system has more; "
            "there is none where the others used that core before.",
            canvases=[_scaling_chart(points, law)],
        ),
        _scaling_table(scene, title, results),
        Paragraph(f"Over cores, {_law_sentence('cores', law)}"),
        Bullets(
            [
                f"{result.cell}: {_pinning(scene, result)} Over N, "
                f"{_law_sentence('threads', _law_over_threads(result))}"
                for result in results
            ]
        ),
    ]


def _scaling_chart(points: list[Point], law: usl.ScalabilityLaw | None) -> Canvas:
    curves = [Curve(name="measured", colour="stage1", points=points)]
    most = points[-1].x
    if law:
        fitted = [
            line_chart.point(x / 10, law.throughput(x / 10)) for x in range(10, int(10 * most))
        ]
        curves.append(Curve(name="the law", colour="soft", points=fitted, style="dash"))
    axes = Axes(
        x_low=0.0,
        x_high=most,
        y_values=[point.high for point in points],
        x_title="cores",
        x_ticks=[point.x for point in points],
    )
    return line_chart.draw("Requests/s", curves, axes)


def _scaling_table(scene: Scene, title: str, results: list[CellResult]) -> Table:
    return Table(
        title="Scaling",
        header=["cores", "requests/s", "efficiency", "N*", "bottleneck"],
        rows=[
            [
                str(result.cell.fileserver_cores),
                wording.maximum(result.best.throughput, result.is_lower_bound),
                _efficiency(scene, results[0], result),
                wording.n_star(result),
                result.verdict.label,
            ]
            for result in results
        ],
    )


def _efficiency(scene: Scene, fewest: CellResult, result: CellResult) -> str:
    """Of the cores that any component may use. The cores of one component are not the system."""
    first, all_cores = (
        len(
            {
                core
                for cores in scene.environment.placement.of(one.cell).cores.values()
                for core in cores
            }
        )
        for one in (fewest, result)
    )
    if result is not fewest and all_cores == first:
        return wording.NOTHING
    gain = result.best.throughput.median / fewest.best.throughput.median
    return f"{gain * first / all_cores:.0%}"


def _pinning(scene: Scene, result: CellResult) -> str:
    stack = scene.environment.stack(result.cell)
    return stack.pinning if stack else "Its pinning was not recorded."


def _law_over_threads(result: CellResult) -> usl.ScalabilityLaw | None:
    return usl.fit([(point.threads, point.throughput.median) for point in result.points])


def _law_sentence(unit: str, law: usl.ScalabilityLaw | None) -> str:
    if law is None:
        return (
            f"the universal scalability law is not fitted: it needs {usl.FEWEST_POINTS} different "
            f"numbers of {unit}."
        )
    peak = f"its peak is at {law.peak_n:.0f} {unit}" if law.coherence > 0 else "it has no peak"
    return (
        f"the universal scalability law fits with contention {law.contention:.3f} and coherence "
        f"{law.coherence:.5f} (R² {law.r_squared:.3f}); {peak}."
    )
