"""The first page: what was found, in figures that a class can be shown, and how far to trust it."""

import statistics
from collections.abc import Sequence

from rig.cores import counted

from ..analysis.cells import Analysis, CellResult
from ..analysis.resources import component_title
from ..plan import catalog
from ..plan.catalog import Cell, Stage, row_title
from ..procedures import checks
from ..results.environment import Environment
from . import figure_views, finding_views, headline, wording
from .charts import stacked_bars
from .charts.palette import COMPONENTS, of_component
from .charts.stacked_bars import Bar, Part
from .document import Block, Bullets, Figure, Heading, Paragraph, Table
from .scene import SHORT_NAMES, Scene, Step

_MOST_SENTENCES = 6  # on the first page
_OF_SHARED = (
    "Other programs used this machine meanwhile (`--shared`). So verdicts are by the CPU time that "
    "the servers need for a request, and a gain is that of the stage before over that of this one. "
    "Throughput and times, which are grey below, say little about the servers."
)


def title(
    stages: Sequence[Stage], rows: Sequence[str], scenes: Sequence[Scene], analysis: Analysis
) -> str:
    environment = scenes[0].environment
    if not analysis.runs:
        return headline.without_points(environment)
    counts = f"{wording.plural(len(stages), 'stage')}, {counted(len(environment.cores))}"
    chosen = {scene.experiment.kind.heading for scene in scenes}
    what = chosen.pop() if len(chosen) == 1 else ""
    if not what:
        counts = f"{wording.plural(len(rows), 'request')}, {counts}"
        what = "Where the time goes"
    steps, answers = _steps(scenes), _answers(scenes)
    return headline.of_points(scenes, steps, analysis, answers, f"{what}: {counts}")


def blocks(
    stages: Sequence[Stage], rows: Sequence[str], scenes: Sequence[Scene], analysis: Analysis
) -> list[Block]:
    """stages and rows are those that were measured. scenes are the experiments of the report."""
    if not analysis.runs:
        return [Paragraph("No load was measured in this run.")]
    waiting = told(_answers(scenes))
    if not rows or not analysis.results():
        found = [*waiting, *(finding_views.checklist(analysis) if waiting else [])]
        found += [figure for scene in scenes for figure in scene.figures()]
        return found or [Paragraph("There is no valid point.")]
    steps = _steps(scenes)
    drawn = [
        None if analysis.is_shared else _largest_table(scenes),
        figure_views.gains(steps),
        demands(stages, rows, analysis),
    ]
    return [
        *([Paragraph(_OF_SHARED)] if analysis.is_shared else []),
        Paragraph(" ".join(_sentences(stages, rows, steps, analysis))),
        *(figure for figure in drawn if figure),
        *waiting,
        *finding_views.checklist(analysis),
        Heading(2, "How far to trust it"),
        Bullets(_trust(analysis, steps, scenes[0].environment)),
    ]


def _answers(scenes: Sequence[Scene]) -> list[str]:
    """Experiments may share a stage, so each is there once."""
    return list(dict.fromkeys(text for scene in scenes for text in scene.answers()))


def told(answers: Sequence[str]) -> list[Block]:
    """A few are sentences; many, which begin with what they are about, are a table."""
    parts = [one.partition(": ") for one in answers]
    if len(answers) <= _MOST_SENTENCES or not all(rest for _, _, rest in parts):
        return [Paragraph(text) for text in answers]
    rows = [[name, rest.removesuffix(".")] for name, _, rest in parts]
    return [Table(title="What was found", caption="", header=["of", "found"], rows=rows)]


def demands(stages: Sequence[Stage], rows: Sequence[str], analysis: Analysis) -> Figure | None:
    """CPU time per request by component, for every row and stage; the heart of the lab."""
    by_row = {row: _bars(row, stages, analysis) for row in rows}
    all_bars = [bar for bars in by_row.values() for bar in bars]
    if not all_bars:
        return None
    widths = stacked_bars.widths(all_bars)
    key = stacked_bars.key(
        [
            ("store", "store"),
            ("authserver", "authserver"),
            ("fileserver", "fileserver"),
            ("load generator", "loadgen"),
        ],
        ("busiest disk", "disk"),
    )
    return Figure(
        name="demands",
        title="CPU time of a request, by component",
        caption="At the maximum: what all programs used, divided by the requests. Behind the "
        "slash: of a lone request, N = 1. Every panel has its own scale; a bar with gaps is longer "
        "than drawn.",
        canvases=[
            key,
            *(
                stacked_bars.draw(row_title(row), bars, *widths, "CPU time of a request")
                for row, bars in by_row.items()
                if bars
            ),
        ],
    )


def _bars(row: str, stages: Sequence[Stage], analysis: Analysis) -> list[Bar]:
    return [
        _bar(stage, result)
        for stage in stages
        if (result := analysis.result(Cell(stage.name, row))) and result.cpu_s
    ]


def _bar(stage: Stage, result: CellResult) -> Bar:
    names = [name for name in COMPONENTS if name in result.cpu_s]
    names += [name for name in result.cpu_s if name not in names]
    parts = [
        Part(SHORT_NAMES.get(name, name), of_component(name), result.cpu_s[name]) for name in names
    ]
    total = sum(part.value for part in parts)
    note = wording.short_time(total)
    if result.lone_cpu_s is not None:
        note += f" / {wording.short_time(result.lone_cpu_s)}"
    return Bar(stage.name, parts, note, Part("disk", "disk", result.disk_s))


def _largest_table(scenes: Sequence[Scene]) -> Figure | None:
    """The dot plot of the experiment that has most cells with a number of the paper."""
    compared = [scene for scene in scenes if scene.measured and scene.has_papers_numbers]
    best = max(compared, key=lambda scene: scene.measured, default=None)
    return figure_views.maxima(best) if best else None


def _steps(scenes: Sequence[Scene]) -> list[tuple[Scene, Step]]:
    """Every step from one stage to the next, from the experiment with most rows.

    Another link is no change of the server. Steps of which the paper has no gain are left out, too,
    unless there are no others.
    """
    found: dict[tuple[str, str], tuple[Scene, Step]] = {}
    for scene in sorted(scenes, key=lambda scene: -len(scene.rows)):
        for step in scene.steps:
            if step[0].link == step[1].link:
                found.setdefault((step[0].name, step[1].name), (scene, step))
    known = [
        (scene, step)
        for scene, step in found.values()
        if any(scene.paper_gain(step, row) for row in scene.rows)
    ]
    order = catalog.in_order([before for before, _ in found])
    return sorted(known or list(found.values()), key=lambda one: order.index(one[1][0].name))


def _sentences(
    stages: Sequence[Stage],
    rows: Sequence[str],
    steps: Sequence[tuple[Scene, Step]],
    analysis: Analysis,
) -> list[str]:
    """Where the time of the smallest file goes, what a change of the store changed, what limits."""
    row = next((row for row in rows if row != catalog.NEW), rows[0])
    found = [
        (stage, result)
        for stage in stages
        if (result := analysis.result(Cell(stage.name, row))) and result.cpu_s
    ]
    if not found:
        return []
    ends = found[:1] + found[-1:] if len(found) > 1 else found
    sentences = [f"A {row_title(row)} takes {', and '.join(_share(*one) for one in ends)}."]
    sentences += [
        sentence
        for scene, step in steps
        if _store(scene, step[0], row) != _store(scene, step[1], row)
        for sentence in _change_of_store(scene, step, row)
    ]
    if analysis.is_shared:
        return sentences
    stage, result = found[-1]
    limit = result.verdict.sentence.partition(";")[0].removesuffix(".")
    return [*sentences, f"What limits it in {stage.name}: {wording.within_a_sentence(limit)}."]


def _share(stage: Stage, result: CellResult) -> str:
    """The whole CPU time, and the component that has most of it."""
    total = sum(result.cpu_s.values())
    most = max(result.cpu_s, key=lambda name: result.cpu_s[name])
    title = component_title(most, result.best.typical().store)
    share = result.cpu_s[most] / total if total > 0 else 0.0
    return (
        f"{wording.short_time(total)} of CPU in stage {stage.name} ({share:.0%} of it in {title})"
    )


def _store(scene: Scene, stage: Stage, row: str) -> str:
    """Which one was measured; "" if none was."""
    result = scene.result(stage, row)
    return result.best.typical().store if result else ""


def _change_of_store(scene: Scene, step: Step, row: str) -> list[str]:
    """Nothing for a row that was not measured in both."""
    gain = scene.gain(step, row)
    before, after = (scene.result(stage, row) for stage in step)
    if gain is None or before is None or after is None:
        return []
    times = [wording.short_time(one.cpu_s.get("store", 0.0)) for one in (before, after)]
    changed = (
        "the gain in the CPU time of a request is"
        if scene.analysis.is_shared
        else "throughput changes by"
    )
    return [
        f"From {step[0].name} to {step[1].name}, the store’s part goes from {times[0]} to "
        f"{times[1]}, and {changed} {wording.gain_in_a_line(gain.spread)}."
    ]


def _trust(
    analysis: Analysis, steps: Sequence[tuple[Scene, Step]], environment: Environment
) -> list[str]:
    host, invalid = environment.host, len(analysis.invalid)
    lost = f"{invalid} of {wording.plural(len(analysis.runs), 'point')} failed a check and"
    return [
        f"{host.hardware.get('Processor', 'Unknown processor')}, "
        f"{counted(len(environment.cores))}, {host.virtualisation or 'virtualisation unknown'}. "
        f"{environment.pinning.partition(':')[0].removesuffix('.')}.",
        f"{_passes(analysis)} {lost} {'is' if invalid == 1 else 'are'} in no table.",
        *_disturbed(analysis),
        *_sure_gains(steps),
    ]


def _disturbed(analysis: Analysis) -> list[str]:
    if not analysis.is_shared:
        return []
    disturbed = sum(checks.DISTURBED in run.notes for run in analysis.runs)
    return [
        f"Other programs disturbed {disturbed} of {wording.plural(len(analysis.runs), 'point')}; "
        "these count for the CPU time of a request."
    ]


def _sure_gains(steps: Sequence[tuple[Scene, Step]]) -> list[str]:
    """How many gains are told apart from no change."""
    known = [
        gain.spread
        for scene, step in steps
        for row in scene.rows
        if (gain := scene.gain(step, row)) and not gain.is_lower_bound
    ]
    if not known:
        return []
    sure = sum(spread.is_interval and spread.low > 1 for spread in known)
    return [f"{sure} of {wording.plural(len(known), 'gain')} are surely above 1: 99% intervals."]


def _passes(analysis: Analysis) -> str:
    """How often the deciding points were measured, and how much the passes differ."""
    repeated = [result.best for result in analysis.results() if len(result.best.runs) > 1]
    if not repeated:
        return "Each point was measured once, so no interval is known."
    passes = statistics.median(len(point.runs) for point in repeated)
    ranges = []
    for point in repeated:
        rates = [run.throughput_rps for run in point.runs]
        ranges.append((max(rates) - min(rates)) / point.throughput.median)
    return (
        f"Maxima were measured in {passes:g} passes, which differ by "
        f"{statistics.median(ranges):.0%} (median over the cells; at most {max(ranges):.0%})."
    )
