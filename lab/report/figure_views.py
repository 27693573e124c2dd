"""The views that draw maxima, gains and the profile."""

from collections.abc import Sequence

from ..observe import call_graph
from ..plan.catalog import Stage, row_title
from . import wording
from .charts import dot_plot, flame_graph, stacked_bars
from .charts.dot_plot import Panel, Row
from .document import Block, Figure, Table
from .scene import Scene, Step, short_title

_IN_A_COLUMN = 8  # functions of the profile
_LEAST_SHARE = 0.01  # of what is drawn below its caller


def bars(scene: Scene) -> list[Block]:
    """Figures 4, 13 and 15: maximum throughput of all rows and stages, and the gains."""
    if not scene.measured:
        return []
    drawn = gains([(scene, step) for step in scene.steps])
    return [maxima(scene), *([drawn] if drawn else [])]


def maxima(scene: Scene) -> Figure:
    """Our maxima and the paper's, one dot plot for each stage."""
    panels = [
        Panel(stage.name, [_maximum_row(scene, stage, row) for row in scene.rows])
        for stage in scene.stages
    ]
    names = [stage.name for stage in scene.stages]
    return Figure(
        name=f"maxima-{'-'.join(names)}",
        title="Maxima, ours and the paper’s",
        caption="Requests/s. Dots are ours, with their intervals; grey bars are the paper’s. An "
        "arrow marks a lower bound.",
        canvases=dot_plot.draw(panels, "maximum throughput, requests/s"),
        shows=frozenset(
            f"{stage.name}, {row}: {scene.paper_rate(stage, row)}"
            for stage in scene.stages
            for row in scene.rows
        ),
    )


def gains(steps: Sequence[tuple[Scene, Step]]) -> Figure | None:
    """What each stage gained over the one before; None if no gain is known."""
    drawn = []
    for scene, step in steps:
        rows = [_gain_row(scene, step, row) for row in scene.rows]
        if any(row.value for row in rows):
            drawn.append((f"{step[0].name} → {step[1].name}", rows))
    if not drawn:
        return None
    names = [title for title, _ in drawn]
    of_cpu = steps[0][0].analysis.is_shared
    what = (
        "CPU time of the servers for each request: that of the stage before, over that of this one"
        if of_cpu
        else "Throughput over that of the stage before"
    )
    return Figure(
        name=f"gains-{'-'.join(names).replace(' → ', '-to-')}",
        title="Gains in CPU time" if of_cpu else "Gains, ours and the paper’s",
        caption=f"{what}; 1 is no change. Hollow: the paper’s "
        "gain is outside our interval. Pale: a maximum was not reached, so the gain is not known.",
        canvases=dot_plot.draw(
            [Panel(*one) for one in drawn], f"gain in {'CPU time' if of_cpu else 'throughput'}", 1.0
        ),
        shows=frozenset(
            f"{title}, {row.label}: {row.paper}" for title, rows in drawn for row in rows
        ),
    )


def profile(scene: Scene) -> list[Block]:
    """Figure 3: the fileserver's functions by their own instructions."""
    profiled = scene.environment.profile
    if not profiled:
        return []
    functions = [(entry.function, entry.share) for entry in profiled.functions]
    longest = max(share for _, share in functions)
    return [
        Figure(
            name="figure3-profile",
            title="The fileserver’s own instructions",
            caption=f"The functions with most of them in {profiled.requests} requests of "
            f"{row_title(profiled.row)} in stage {profiled.stage}, counted by callgrind in user "
            "space. The whole profile is `callgrind.out.fileserver` in this folder; open it with "
            "kcachegrind. In the paper, `upload_file`, which read the file and sent it, took "
            "most of the time.",
            canvases=[
                stacked_bars.draw_named(
                    "Share of the instructions",
                    [
                        (name, share, f"{share:.1%}")
                        for name, share in functions[first : first + _IN_A_COLUMN]
                    ],
                    longest,
                    "fileserver",
                )
                for first in range(0, len(functions), _IN_A_COLUMN)
            ],
        ),
        *_flames(scene),
        Table(
            title="The fileserver’s functions with all that they call",
            caption="As in the paper’s figure. Shares are of all instructions from start to end.",
            header=["function", "instructions"],
            rows=[[entry.function, f"{entry.share:.1%}"] for entry in profiled.with_callees],
        ),
    ]


def _flames(scene: Scene) -> list[Block]:
    tops = call_graph.stacks(scene.folder.callgrind(), _LEAST_SHARE)
    if not tops:
        return []
    return [
        Figure(
            name="figure3-calls",
            title="Who calls whom",
            caption="Each function stands below what calls it, as wide as its share of the "
            "instructions, with all that it calls. Grey: libraries, of which those that only pass "
            "on are left out. Where a function has several callers, its instructions are shared "
            "out in proportion to what it did for each.",
            canvases=[flame_graph.draw("Who calls whom", tops, "fileserver")],
        )
    ]


def _maximum_row(scene: Scene, stage: Stage, row: str) -> Row:
    result, paper = scene.result(stage, row), scene.paper_rate(stage, row)
    if not result:
        return Row(label=short_title(row), paper=paper)
    spread = result.best.throughput
    return Row(
        label=short_title(row),
        value=spread.median,
        low=spread.low,
        high=spread.high,
        paper=paper,
        note=wording.rate(spread.median),
        is_open=result.is_lower_bound,
    )


def _gain_row(scene: Scene, step: Step, row: str) -> Row:
    gain = scene.gain(step, row)
    paper = None if scene.analysis.is_shared else scene.paper_gain(step, row)
    if gain is None:
        return Row(label=short_title(row), paper=paper)
    return Row(
        label=short_title(row),
        value=gain.spread.median,
        low=gain.spread.low,
        high=gain.spread.high,
        paper=paper,
        note=wording.times(gain.spread.median),
        is_hollow=scene.paper_is_inside(step, row) is False,
        is_faint=gain.is_lower_bound,
    )
