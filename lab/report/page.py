"""Writes the report of a results folder: report.html, summary.md and the figures."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..analysis.cells import Analysis
from ..plan import catalog
from ..plan.catalog import Experiment
from ..results.environment import Environment
from ..results.records import Folder
from . import figure_views, finding_views, offered_load_views, views, wording
from .document import Block, Bullets, Document, Figure, Heading, Listing, Paragraph, Table
from .html import render as render_html
from .markdown import render as render_markdown
from .scene import Scene, method

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "hardware": views.hardware,
    "maxima": views.maxima,
    "before_after": views.before_after,
    "bottlenecks": views.bottlenecks,
    "network_probe": views.network_probe,
    "sweeps": figure_views.sweeps,
    "bars": figure_views.bars,
    "panels": figure_views.panels,
    "scaling": figure_views.scaling,
    "profile": figure_views.profile,
    "offered_load": offered_load_views.offered_loads,
}

_MOST_IN_TITLE = 4

_DEFINITIONS = [
    "Response time R: from before the client connects until it has the last byte of the reply.",
    "Throughput X: completed requests per second of the measured window. A request counts only if "
    "every reply to it was right.",
    "Utilisation U: the share of the measured window in which a resource was busy, or how many "
    "cores. Service demand D: how long a request keeps the resource busy. It is the slope of U "
    "over X of all runs of the sweep (utilisation law); the intercept is the part that does not "
    "grow with the throughput. Components that share cores are one resource, and no core is "
    "counted twice.",
    "N*: the smallest N within 5% of the highest throughput. It is found within each pass; the "
    "median and the range of the passes are shown. The predicted one is where exact mean value "
    "analysis reaches 95% of its asymptote, from the demands and the response time at N = 1. "
    "ΣD/R(1): how many resources work for a lone request at a time.",
    "Gain: the ratio of the plateaus (all N with 95% of the maximum) within each pass, with a 99% "
    "interval over the passes. A report has dozens of gains, so at 95% one or two would be wrong "
    "by chance. A maximum is the highest of several medians, so it is a little too high.",
    "Bottleneck: the first of these rules that holds decides, over all runs from N* to the highest "
    "N that still has 95% of the maximum. (1) The load generator, if it says so in most runs. (2) "
    "The busiest resource, if it was busy for 90% of the window or more; if the load generator "
    "used over half of that CPU, the servers were not the limit. (3) Not saturated, if throughput "
    "still rose at the last N. (4) The busiest resource, called close, if it was busy for 70% or "
    "more. (5) None. A resource is named alone only if it leads by five points in every pass; "
    "otherwise those that are alike are listed. A shared CPU is named after a component only if "
    "that used over half of it in every pass and five points more than any other, load generator "
    "included. Loopback counts only if nothing else is at 70%.",
    "Self-checks: X·R is within 3% of N. Bytes = requests × size. At most 1% of the requests "
    "failed. The servers counted as many connections and requests as the client. Neither had more "
    "than 3N + 64 threads, and their number did not rise steadily. Other programs used at most 5% "
    "of the cores. A point that fails is drawn hollow and listed below; it is in "
    "no table.",
    "Sizes are decimal: 1KB is 1,000 bytes, 1MB a million.",
]


def write(folder: Folder) -> None:
    """Failed when the folder has nothing to report."""
    environment = folder.environment()
    document = _document(folder, environment)
    (folder.path / "report.html").write_text(render_html(document), encoding="utf-8")
    (folder.path / "summary.md").write_text(render_markdown(document), encoding="utf-8")
    figures = folder.path / "figures"
    figures.mkdir(exist_ok=True)
    for block in document.blocks:
        if isinstance(block, Figure):
            (figures / f"{block.name}.svg").write_text(block.svg, encoding="utf-8")


def _document(folder: Folder, environment: Environment) -> Document:
    analysis = Analysis(folder.runs(), environment)
    blocks = _opening(environment, analysis) + finding_views.section(analysis)
    names = environment.options.experiments
    for experiment in catalog.choose_experiments(names):
        blocks += _experiment(experiment, folder, environment, analysis)
    blocks += _invalid(analysis, environment)
    blocks += [Heading(2, "Definitions and rules"), Bullets(_DEFINITIONS)]
    blocks = _without_repeats(blocks + _environment(environment, _load_commands(folder, analysis)))
    started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(environment.started_unix_s))
    title = ", ".join(names) if len(names) <= _MOST_IN_TITLE else f"{len(names)} experiments"
    host = environment.host
    return Document(
        f"Turnstile lab: {title}",
        f"{started} · {host.hardware.get('Processor', 'unknown processor')}, "
        f"{host.hardware.get('CPU(s)', '?')} cores · {host.system}, Linux {host.kernel}",
        blocks,
    )


def _without_repeats(blocks: list[Block]) -> list[Block]:
    """Keeps an explanation that several experiments need at the first of them only."""
    seen: set[str] = set()
    kept = []
    for block in blocks:
        if not isinstance(block, Paragraph) or block.text not in seen:
            kept.append(block)
        if isinstance(block, Paragraph):
            seen.add(block.text)
    return kept


def _opening(environment: Environment, analysis: Analysis) -> list[Block]:
    mode, points = environment.mode, len(analysis.runs)
    text = (
        f"{points} runs of the load generator, {len(analysis.invalid)} of them invalid; "
        f"{method(environment)}. Load generator, servers and store ran on one machine and "
        "communicated over loopback"
        + (
            ", in their own network namespace."
            if environment.host.own_network_namespace
            else ", in the host's network namespace, with its connection tracking."
        )
    )
    blocks: list[Block] = [Paragraph(text), Paragraph(environment.pinning)] if points else []
    if points and mode.name == "quick":
        blocks.append(
            Paragraph(
                "This is a quick run with short points, few repetitions and few different files. "
                "It shows the shape. For numbers to quote, run the lab without `--quick`."
            )
        )
    if not environment.is_complete:
        blocks.append(
            Paragraph(
                "The run was stopped early. The points below are complete, others are missing. "
                "Repeat the command to resume the run."
            )
        )
    return blocks


def _experiment(
    experiment: Experiment, folder: Folder, environment: Environment, analysis: Analysis
) -> list[Block]:
    options = environment.options
    chosen = experiment.narrowed(options.stages, options.rows)
    stages = [
        environment.stages[name]
        for name in catalog.in_order(chosen.stages)
        if name in environment.stages
    ]
    scene = Scene(experiment, stages, list(chosen.rows), analysis, environment, folder)
    blocks = [block for view in experiment.views for block in VIEWS[view](scene)]
    return [
        Heading(2, experiment.title),
        *(blocks or [Paragraph("Nothing was measured for this experiment.")]),
    ]


def _invalid(analysis: Analysis, environment: Environment) -> list[Block]:
    blocks: list[Block] = [Heading(2, "Invalid points, and remarks")]
    if analysis.invalid:
        blocks.append(
            Table(
                "Points that failed their checks. They are in no other table.",
                ["point", "throughput", "why"],
                [
                    [
                        f"{run.cell}, N = {run.threads}, run {run.repeat}",
                        wording.rate(run.throughput_rps),
                        run.failures,
                    ]
                    for run in analysis.invalid
                ],
            )
        )
    else:
        blocks.append(Paragraph("Every point passed every check."))
    remarks = [
        [f"{run.cell}, N = {run.threads}, run {run.repeat}", run.notes]
        for run in analysis.runs
        if run.is_valid and run.notes
    ]
    if remarks:
        blocks.append(Table("Remarks on points that are valid.", ["point", "remark"], remarks))
    problems = environment.problems
    if problems:
        blocks.append(Bullets([f"Not measured: {cell}: {why}" for cell, why in problems.items()]))
    return blocks


def _load_commands(folder: Folder, analysis: Analysis) -> dict[str, list[str]]:
    """The load generator's command line for one point of each cell.

    Those of other points differ in --threads, --unique and --seconds.
    """
    evidence = {
        result.cell.slug: folder.evidence(result.points[0].typical())
        for result in analysis.results()
    }
    return {slug: [found["command"]] for slug, found in evidence.items() if found}


def _environment(environment: Environment, load_commands: dict[str, list[str]]) -> list[Block]:
    host = environment.host
    facts = {
        "kernel": host.kernel,
        "system": host.system,
        "virtualisation": host.virtualisation,
        "governor": host.governor,
        "open files": environment.open_files,
        **host.network,
        **host.versions,
    }
    blocks: list[Block] = [
        Heading(2, "Environment"),
        Table(
            "Settings and versions during the run.",
            ["", ""],
            [[name, str(value)] for name, value in facts.items()],
        ),
        Table(
            "Number of different files of each size. The paper had 2,000 per thread. A cold point "
            "ends when a thread has fetched all of its files, because no file may be fetched "
            "twice.",
            ["size", "files"],
            [[name, wording.count(number)] for name, number in environment.file_counts.items()],
        ),
    ]
    durability = dict.fromkeys(stack.durability for stack in environment.stacks.values())
    blocks.append(Bullets(list(durability)))
    if environment.profile:
        blocks.append(
            Listing("Command line of the profiled fileserver", environment.profile.command)
        )
    for slug, stack in environment.stacks.items():
        lines = (
            list(stack.commands.values())
            + load_commands.get(slug, [])
            + [f"{name} = {value}" for name, value in stack.store_settings.items()]
        )
        blocks.append(Listing(f"Command lines and store settings: {slug}", "\n".join(lines)))
    return blocks
