"""The view of what happened on the host while the maximum was measured: Figures 5 to 12."""

from itertools import pairwise

from ..analysis.cells import CellResult
from ..analysis.resources import component_title
from ..observe.usage import ComponentUsage
from ..plan.catalog import Stage, row_title
from ..results.records import Run
from . import host_views, wording
from .charts import line_chart, stacked_bars
from .charts.line_chart import Axes, Curve, Point
from .charts.palette import COMPONENTS, of_component
from .charts.stacked_bars import Bar, Part
from .charts.svg import Canvas
from .document import Block, Figure, Paragraph, Table, without_empty_columns
from .scene import Scene

_CORE_PARTS = ("user", "system", "wait", "stolen")
_SIZE = (300.0, 100.0)
Samples = list[dict[str, float]]


def panels(scene: Scene) -> list[Block]:
    """Where the time goes at the maximum: cores, processes, disk and network."""
    blocks: list[Block] = []
    for stage in scene.stages:
        for row, result in scene.results(stage):
            run = result.best.typical()
            evidence = scene.folder.evidence(run)
            if evidence:
                blocks.append(_panel(stage, row, result, evidence["samples"]))
            else:
                text = f"{result.cell} is not drawn, because its samples are not in this folder."
                blocks.append(Paragraph(text))
            blocks.append(_processes(result, run))
    return blocks


def _panel(stage: Stage, row: str, result: CellResult, samples: Samples) -> Figure:
    run = result.best.typical()
    components = {
        name: component_title(name, run.store) for name in COMPONENTS if name in result.cpu_s
    }
    return Figure(
        name=f"panel-{result.cell.slug}",
        title=f"{stage.name}, {row_title(row)}, N = {run.threads}",
        caption=f"{wording.rate(run.throughput_rps)} requests/s over {run.elapsed_s:.1f} s. "
        f"Bottleneck, at N = {result.at_saturation.threads}: {result.verdict.sentence}",
        canvases=[
            _cores(run),
            _over_time("CPU, % of a core", _processor_curves(samples, components), samples),
            _over_time("Disk and network, MB/s", _traffic_curves(samples), samples),
            *(host_views.canvases(samples) if run.usage.has_limited_server else []),
        ],
    )


def _cores(run: Run) -> Canvas:
    made = [
        Bar(
            f"core {name}",
            [
                *(Part(part, part, getattr(core, part)) for part in _CORE_PARTS),
                Part("idle", "line", core.idle),
            ],
            f"{core.busy:.0%}",
        )
        for name, core in run.usage.cores.items()
    ]
    return stacked_bars.draw("Cores", made, *stacked_bars.widths(made), "how the window was spent")


def _processor_curves(samples: Samples, components: dict[str, str]) -> list[Curve]:
    return [
        Curve(
            name=title,
            colour=of_component(name),
            points=_rates(samples, [f"{name}.cpu_s"], 100),
            style="plain",
        )
        for name, title in components.items()
    ]


def _traffic_curves(samples: Samples) -> list[Curve]:
    """What stays at zero is left out."""
    made = [
        Curve(
            name=name,
            colour=colour,
            points=_rates(samples, [key for key in samples[0] if _is_of(key, kind)], 1e-6),
            style=style,
        )
        for name, colour, style, kind in (
            ("disk, read", "disk", "plain", ("disk.", ".read_bytes")),
            ("disk, written", "disk", "dash", ("disk.", ".write_bytes")),
            ("loopback", "network", "plain", ("loopback.", "bytes")),
        )
    ]
    return [one for one in made if any(point and point.value >= 0.05 for point in one.points)]


def _is_of(key: str, kind: tuple[str, str]) -> bool:
    return key.startswith(kind[0]) and key.endswith(kind[1])


def _over_time(title: str, curves: list[Curve], samples: Samples) -> Canvas:
    values = [point.value for curve in curves for point in curve.points if point]
    start = samples[0]["time_s"]
    axes = Axes(x_low=0.0, x_high=samples[-1]["time_s"] - start, y_values=values, x_title="s")
    return line_chart.draw(title, curves, axes, size=_SIZE)


def _rates(samples: Samples, keys: list[str], factor: float) -> list[Point | None]:
    """The sum of these counters per second between any two samples, at the middle of both."""
    start = samples[0]["time_s"]
    return [
        line_chart.point(
            (a["time_s"] + b["time_s"]) / 2 - start,
            factor * max(0.0, sum(b[key] - a[key] for key in keys) / (b["time_s"] - a["time_s"])),
        )
        if all(key in a and key in b for key in keys)
        else None
        for a, b in pairwise(samples)
    ]


def _process(name: str, used: ComponentUsage, run: Run) -> list[str]:
    memory = (used.resident_bytes, used.virtual_bytes, used.text_bytes, used.data_bytes)
    disk = (used.read_bytes_per_s, used.write_bytes_per_s)
    return [
        component_title(name, run.store),
        f"{100 * used.cpu_cores:.1f}",
        wording.microseconds(used.cpu_cores / run.throughput_rps),
        wording.number(used.threads),
        *map(wording.megabytes, memory),
        *map(wording.number, (used.minor_faults_per_s, used.major_faults_per_s)),
        *(wording.kilobytes(run.for_each_request(rate)) for rate in disk),
    ]


def _processes(result: CellResult, run: Run) -> Table:
    accepts = run.for_each_request(run.usage.accepts_per_s)
    disks = ", ".join(f"{name} {disk.busy:.0%}" for name, disk in run.usage.disks.items())
    return without_empty_columns(
        Table(
            title="Processes",
            caption=f"Disks busy: {disks or 'none seen'}."
            + ("" if accepts is None else f" {accepts:.2f} connections accepted per request."),
            header=[
                *("process", "% of a core", "CPU µs", "threads"),
                *("resident", "virtual", "text", "data", "minor", "major", "read", "written"),
            ],
            rows=[_process(name, used, run) for name, used in run.usage.components.items()],
            groups=[
                ("", 2),
                ("a request", 1),
                ("", 1),
                ("memory, MB", 4),
                ("faults/s", 2),
                ("disk, kB per request", 2),
            ],
        )
    )
