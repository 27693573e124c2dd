"""The views that draw: sweeps, bars, panels, scaling, profile."""

from __future__ import annotations

from ..analysis import usl
from ..analysis.cells import CellResult
from ..analysis.intervals import Spread
from ..analysis.resources import component_title
from ..analysis.verdict import listed
from ..plan.catalog import COMPONENTS, Stage, row_title
from ..rig.cores import counted
from . import panel_plot, plots, wording
from .document import Block, Bullets, Figure, Heading, Paragraph, Table
from .plots import BarGroup, Curve
from .scene import Scene, configuration, durability

_HOW_TO_READ_SWEEPS = (
    "Solid lines are measured; bars are the intervals of the tables. A diamond is N*. A hollow "
    "circle is a point that failed its checks. Dashed lines are the asymptotes min(1/Dmax, "
    "N/R(1)), dotted lines are exact mean value analysis. Both use the response time at N = 1 and "
    "the service demands by the utilisation law over the whole sweep. A curve below them loses "
    "time to something that is not a measured resource."
)


def sweeps(scene: Scene) -> list[Block]:
    """Throughput and response time against N: a figure for each row, with all stages."""
    blocks: list[Block] = [Heading(3, "Sweeps over N"), Paragraph(_HOW_TO_READ_SWEEPS)]
    for row in scene.rows:
        curves = [curve for stage in scene.stages for curve in _curves(scene, stage, row)]
        if curves:
            blocks.append(
                Figure(
                    f"{scene.experiment.name}-sweep-{row}",
                    f"{row_title(row)}. {scene.configuration}",
                    plots.sweep(curves, row_title(row)),
                )
            )
    return blocks if len(blocks) > 2 else []


def bars(scene: Scene) -> list[Block]:
    """Maximum throughput of all rows and stages, ours and the paper's, and the gains."""
    ours = [
        BarGroup(
            stage.name,
            stage.colour,
            [scene.ours(stage, row) for row in scene.rows],
            [_error(scene.result(stage, row)) for row in scene.rows],
        )
        for stage in scene.stages
    ]
    if not any(value for group in ours for value in group.values):
        return []
    papers = [
        BarGroup(stage.name, stage.colour, values, [None] * len(values))
        for stage in scene.stages
        if any(values := [scene.paper_rate(stage, row) for row in scene.rows])
    ]
    titles = [row_title(row).replace("get ", "") for row in scene.rows]
    blocks: list[Block] = [
        Figure(
            f"{scene.experiment.name}-bars",
            "Maximum throughput for each row, on one logarithmic scale. "
            f"{durability(scene)} {scene.configuration}",
            plots.bars(ours, papers, titles),
        )
    ]
    pairs = list(zip(scene.stages, scene.stages[1:]))
    if pairs and papers:
        steps = [
            (
                after.name,
                after.colour,
                [_gain(scene, before, after, row) for row in scene.rows],
                [scene.paper_gain(before, after, row) for row in scene.rows],
            )
            for before, after in pairs
        ]
        blocks.append(
            Figure(
                f"{scene.experiment.name}-gains",
                "What each stage gained over the previous one. Dots are ours, dashes the paper's; "
                "1 is no change.",
                plots.gains(steps, titles),
            )
        )
    return blocks


def panels(scene: Scene) -> list[Block]:
    """Where the time goes at the maximum: cores, processes, disk, network, memory."""
    blocks: list[Block] = []
    for stage in scene.stages:
        for row in scene.rows:
            result = scene.result(stage, row)
            evidence = scene.folder.evidence(result.best.typical()) if result else None
            if not result:
                continue
            if not evidence:
                blocks.append(
                    Paragraph(
                        f"{result.cell} is not drawn, because its samples are not in this folder."
                    )
                )
                continue
            run = result.best.typical()
            components = {
                name: component_title(name, run.store)
                for name in COMPONENTS
                if name in run.usage.components
            }
            blocks.append(
                Figure(
                    f"panel-{result.cell.slug}",
                    f"{result.cell}, N = {run.threads}, {wording.rate(run.throughput_rps)} "
                    f"requests/s. Bottleneck, at N = {result.at_saturation.threads}: "
                    f"{result.verdict.sentence} {configuration(scene.environment, [stage])}",
                    panel_plot.panel(
                        evidence["samples"],
                        list(run.usage.cores),
                        components,
                        f"{stage.name}, {row_title(row)}",
                    ),
                )
            )
            blocks.append(_process_table(result, components))
    return blocks


def scaling(scene: Scene) -> list[Block]:
    """Figure 14: throughput and efficiency against the fileserver's cores, and the law's fit."""
    blocks: list[Block] = []
    for stage in scene.stages:
        for row in scene.rows:
            if results := _results(scene, stage, row):
                blocks += _scaling_of(scene, stage, row, results)
    return blocks


def profile(scene: Scene) -> list[Block]:
    """Figure 3: the fileserver's functions by their own instructions."""
    profiled = scene.environment.profile
    if not profiled:
        return []
    functions = [(entry.function, entry.share) for entry in profiled.functions]
    callers = [[entry.function, f"{entry.share:.1%}"] for entry in profiled.with_callees]
    return [
        Figure(
            "figure3-profile",
            f"The functions with the most own instructions in {profiled.requests} requests of "
            f"{row_title(profiled.row)} in stage {profiled.stage}, counted by callgrind. It "
            "counts user space only, without the kernel's work for read and send. The whole "
            "profile is `callgrind.out.fileserver` beside this report; open it with kcachegrind. "
            "In the paper, `upload_file`, which read the file and sent it, took most of the time.",
            plots.profile(functions),
        ),
        Table(
            "The fileserver's own functions with all that they call, as in the paper's figure. "
            "Shares are of all instructions from start to end.",
            ["function, callees included", "instructions"],
            callers,
        ),
    ]


def _results(scene: Scene, stage: Stage, row: str) -> list[CellResult]:
    """One result, or one for each number of cores if the experiment varies it."""
    found = [
        result
        for result in scene.analysis.results()
        if (result.cell.stage, result.cell.row) == (stage.name, row)
        and bool(result.cell.fileserver_cores) == scene.experiment.each_core_count
    ]
    return sorted(found, key=lambda result: result.cell)


def _curves(scene: Scene, stage: Stage, row: str) -> list[Curve]:
    """The curves of a stage. Without a valid point, the invalid ones are drawn alone."""
    results = _results(scene, stage, row)
    failed = [
        (run.threads, run.throughput_rps)
        for run in scene.analysis.invalid
        if (run.cell.stage, run.cell.row) == (stage.name, row)
        and bool(run.cell.fileserver_cores) == scene.experiment.each_core_count
    ]
    if not results and failed:
        return [Curve(f"{stage.name}: no valid point", stage.colour, [], [], failed, 0, [], [])]
    return [_curve(stage, result) for result in results]


def _curve(stage: Stage, result: CellResult) -> Curve:
    cores = result.cell.fileserver_cores
    most = max(point.threads for point in result.points)
    bound, predicted = [], []
    if result.model:
        bound = [(n, result.model.bound(n)) for n in range(1, most + 1)]
        predicted = [
            (one.threads, one.throughput_rps, 1000 * one.threads / one.throughput_rps)
            for one in result.model.predictions(most)
        ]
    return Curve(
        f"{stage.name}, {counted(cores)}" if cores else stage.name,
        _shade(stage.colour, cores),
        [_point(point.threads, point.throughput) for point in result.points],
        [_point(point.threads, point.response_s, 1000) for point in result.points],
        [(run.threads, run.throughput_rps) for run in result.invalid],
        result.n_star,
        bound,
        predicted,
    )


def _point(threads: int, spread: Spread, factor: float = 1) -> tuple[int, float, float, float]:
    return threads, spread.median * factor, spread.low * factor, spread.high * factor


def _shade(colour: str, cores: int) -> str:
    """The colour of a curve: the more cores, the darker."""
    if cores < 2:
        return colour
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{int(part * 0.7 ** (cores - 1)):02x}" for part in parts)


def _gain(scene: Scene, before: Stage, after: Stage, row: str) -> float | None:
    found = scene.gain(before, after, row)
    return found.spread.median if found else None


def _error(result: CellResult | None) -> tuple[float, float] | None:
    return (result.best.throughput.low, result.best.throughput.high) if result else None


def _process_table(result: CellResult, components: dict[str, str]) -> Table:
    run = result.best.typical()
    rows = []
    for name, title in components.items():
        used = run.usage.components[name]
        rows.append(
            [
                title,
                f"{100 * used.cpu_cores:.1f}",
                f"{1e6 * used.cpu_cores / run.throughput_rps:,.1f}",
                wording.byte_size(used.resident_bytes),
                wording.number(used.threads),
                wording.number(used.minor_faults_per_s),
                wording.number(run.for_each_request(used.read_bytes_per_s)),
                wording.number(run.for_each_request(used.write_bytes_per_s)),
            ]
        )
    accepts = run.for_each_request(run.usage.accepts_per_s)
    disks = listed([f"{name} {disk.busy:.0%}" for name, disk in run.usage.disks.items()])
    return Table(
        f"{result.cell}, N = {run.threads}, as a process monitor shows it. Disks busy: "
        f"{disks or 'none seen'}. All listeners of this network namespace together accepted "
        f"{wording.NOTHING if accepts is None else f'{accepts:.2f}'} connections per request.",
        [
            "process",
            "% of a core",
            "CPU µs per request",
            "resident",
            "threads",
            "minor faults/s",
            "disk bytes read per request",
            "written",
        ],
        rows,
    )


def _pinning(scene: Scene, result: CellResult) -> str:
    stack = scene.environment.stack(result.cell)
    return stack.pinning if stack else "Its pinning was not recorded."


def _scaling_of(scene: Scene, stage: Stage, row: str, results: list[CellResult]) -> list[Block]:
    points = [_point(result.cell.fileserver_cores, result.best.throughput) for result in results]
    law = usl.fit([(cores, value) for cores, value, _, _ in points])
    drawn = (
        [(cores / 10, law.throughput(cores / 10)) for cores in range(10, 10 * points[-1][0] + 1)]
        if law
        else []
    )
    table = Table(
        f"{stage.name}, {row_title(row)}: maximum throughput for each number of the fileserver's "
        "cores, which taskset sets. The efficiency is the gain for each core that the whole system "
        f"has more; there is none where the others used that core before. {scene.configuration}",
        ["cores", "requests/s", "efficiency per core", "N*", "bottleneck"],
        [
            [
                str(result.cell.fileserver_cores),
                wording.rate_with_spread(result.best.throughput),
                _efficiency(scene, results[0], result),
                str(result.n_star),
                result.verdict.label,
            ]
            for result in results
        ],
    )
    remarks = [
        f"{result.cell}: {_pinning(scene, result)} Over N, "
        f"{_law_sentence('threads', _law_over_threads(result))}"
        for result in results
    ]
    return [
        Figure(
            f"{scene.experiment.name}-scaling-{row}",
            f"{stage.name}, {row_title(row)}. {scene.configuration}",
            plots.scaling(points, drawn, stage.colour),
        ),
        table,
        Paragraph(f"Over cores, {_law_sentence('cores', law)}"),
        Bullets(remarks),
    ]


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
