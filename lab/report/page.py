"""Writes the report of a results folder: report.html, summary.md and the figures."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from rig.errors import Failed

from ..analysis.cells import Analysis
from ..kinds import KINDS
from ..plan import catalog
from ..plan.catalog import Experiment, Stage
from ..results.environment import Environment
from ..results.records import Folder
from . import (
    appendix,
    figure_views,
    finding_views,
    host_views,
    method,
    overview,
    panel_views,
    scaling_views,
    series_views,
    sweep_grid,
    tables,
)
from .bottleneck_tables import bottlenecks
from .document import Block, Document, Figure, Heading, Paragraph, Pointer, Table
from .html import render as render_html
from .markdown import render as render_markdown
from .scene import Scene
from .tables import hardware

_OF_KINDS = [views for kind in KINDS.values() if (views := kind.part("views"))]
_OWN = {name: view for views in _OF_KINDS for name, view in views.VIEWS.items()}
VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "hardware": hardware,
    "maxima": tables.maxima,
    "before_after": tables.before_after,
    "bottlenecks": bottlenecks,
    "network_probe": tables.network_probe,
    "bars": figure_views.bars,
    "panels": panel_views.panels,
    "scaling": scaling_views.scaling,
    "profile": figure_views.profile,
    **_OWN,
}
WATCHED_S = 5  # between two reports of a run that goes on
_MOST_SAID = 2  # paragraphs of the first page, on the terminal
_MOST_NAMED = 4  # experiments in the subtitle
# The views whose tables are in summary.md too.
_SUMMED_UP = {"maxima", "before_after", "bottlenecks", "scaling", *_OWN}


def write(folder: Folder, again_s: int | None = None) -> str:
    """Returns what was found, in a line or two. Failed when the folder has nothing to report.

    again_s: the measurement goes on, and a browser loads the page again after so many seconds.
    """
    environment = folder.environment()
    report = Report(folder, environment)
    document = report.document()
    page = render_html(document, again_s)
    (folder.path / "report.html").write_text(page, encoding="utf-8")
    (folder.path / "summary.md").write_text(render_markdown(report.summary()), encoding="utf-8")
    figures = folder.path / "figures"
    figures.mkdir(exist_ok=True)
    for figure in document.figures:
        (figures / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    said = [block.text for block in document.overview if isinstance(block, Paragraph)]
    return "\n".join([document.title, *said[:_MOST_SAID]])


def watching(write_report: Callable[[Folder, int], object]) -> Callable[[Folder], None]:
    """What writes the report so far, unless it has just done so, or there is none yet."""
    next_s = 0.0

    def watch(folder: Folder) -> None:
        nonlocal next_s
        if time.monotonic() < next_s:
            return
        with suppress(Failed):
            write_report(folder, WATCHED_S)
        next_s = time.monotonic() + WATCHED_S

    return watch


class Report:
    """What a folder has to say, for the page and for its summary."""

    def __init__(self, folder: Folder, environment: Environment):
        self._folder = folder
        self._environment = environment
        self._analysis = Analysis(folder.runs(), environment, folder.evidence)
        self._scenes = [
            self._scene(experiment)
            for experiment in catalog.choose_experiments(environment.options.experiments)
        ]
        cells = {run.cell for run in self._analysis.runs}
        measured = {cell.stage for cell in cells}
        self._stages = [
            environment.stages[name]
            for name in catalog.in_order(list(environment.stages))
            if name in measured
        ]
        wanted = dict.fromkeys(row for scene in self._scenes for row in scene.rows)
        self._rows = [row for row in wanted if any(cell.row == row for cell in cells)]

    @property
    def _workloads(self) -> set[str]:
        return {scene.experiment.workload for scene in self._scenes}

    def document(self) -> Document:
        blocks = [
            *method.section(self._stages, self._analysis, self._environment),
            *finding_views.section(self._analysis),
        ]
        judged = len(blocks) if self._analysis.is_shared else None
        blocks += self._sweeps()
        for scene in self._scenes:
            found = [block for view in scene.experiment.views for block in VIEWS[view](scene)]
            blocks += [
                Heading(2, _titled(scene)),
                *(found or [Paragraph("Nothing was measured for this experiment.")]),
            ]
        blocks += [
            *series_views.section(self._folder, self._analysis, self._environment),
            *host_views.section(self._folder, self._analysis),
            *appendix.invalid(self._analysis, self._environment),
            *(appendix.definitions(self._workloads) if self._analysis.runs else []),
            *appendix.environment_section(self._folder, self._environment, self._analysis),
        ]
        return self._document(blocks, judged)

    def summary(self) -> Document:
        """The overview and the main tables."""
        blocks: list[Block] = []
        for scene in self._scenes:
            for view in scene.experiment.views:
                if view in _SUMMED_UP:
                    blocks += [one for one in VIEWS[view](scene) if _is_main(one)]
        return self._document(blocks)

    def _document(self, blocks: list[Block], judged: int | None = None) -> Document:
        """judged are the blocks in front, where what is behind them is not judged."""
        environment, host = self._environment, self._environment.host
        started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(environment.started_unix_s))
        first = overview.blocks(self._stages, self._rows, self._scenes, self._analysis)
        return Document(
            title=overview.title(self._stages, self._rows, self._scenes, self._analysis),
            subtitle=f"Turnstile lab: {_named(environment.options.experiments)} · {started} · "
            f"{host.hardware.get('Processor', 'unknown processor')} · {host.system}, "
            f"Linux {host.kernel}",
            overview=first,
            blocks=_without_repeats(blocks, [one for one in first if isinstance(one, Figure)]),
            grey_from=judged,
        )

    def _sweeps(self) -> list[Block]:
        drawn = sweep_grid.grids(self._stages, self._rows, self._analysis)
        return [Heading(2, "Sweeps over N"), *drawn] if drawn else []

    def _scene(self, experiment: Experiment) -> Scene:
        options = self._environment.options
        chosen = experiment.narrowed(options.stages, options.rows)
        recorded = self._environment.stages
        stages: list[Stage] = [
            recorded[name] for name in catalog.in_order(chosen.stages) if name in recorded
        ]
        return Scene(
            experiment, stages, list(chosen.rows), self._analysis, self._environment, self._folder
        )


def _titled(scene: Scene) -> str:
    """With the link of the command line, as the title may name the experiment's own."""
    link = scene.environment.options.link
    return scene.experiment.title + (f" (here the link is {link})" if link else "")


def _named(experiments: Sequence[str]) -> str:
    if len(experiments) > _MOST_NAMED:
        return f"{len(experiments)} experiments"
    return ", ".join(experiments)


def _is_main(block: Block) -> bool:
    """Of the tables of a stage, the summary has that of the bottlenecks."""
    return isinstance(block, Table) and not block.title.startswith(("Response", "What"))


def _without_repeats(blocks: list[Block], before: list[Figure]) -> list[Block]:
    """Replaces a figure of which all is drawn already by a line that says where."""
    drawn = {what: figure for figure in reversed(before) for what in figure.shows}
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Figure) and block.shows and block.shows <= drawn.keys():
            there = drawn[min(block.shows)]
            kept.append(Pointer(f"Drawn above: {block.title}.", there.name))
            continue
        if isinstance(block, Figure):
            drawn.update(dict.fromkeys(block.shows - drawn.keys(), block))
        kept.append(block)
    return kept
