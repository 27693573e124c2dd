"""The view that says for one stage after the other where its limit is and where its time goes."""

from collections import Counter

from ..analysis.cells import CellResult
from ..analysis.resources import component_title
from ..plan.catalog import Stage, row_title
from ..results.records import Run
from . import wording
from .charts.palette import COMPONENTS
from .document import Block, Heading, Listing, Table, without_empty_columns
from .scene import SHORT_NAMES, Scene
from .tables import maximum

Found = list[tuple[str, CellResult]]


def bottlenecks(scene: Scene) -> list[Block]:
    """Table 2 for each stage: N*, maxima and bottlenecks; response times; demands and bytes."""
    blocks: list[Block] = []
    for stage in scene.stages:
        if found := scene.results(stage):
            blocks += [
                Heading(3, f"{stage.name}: {stage.title}"),
                _limits(scene, stage, found),
                _evidence(stage, found),
                _response_times(scene, stage, found),
                _demands(stage, found),
            ]
    return blocks


def _limits(scene: Scene, stage: Stage, found: Found) -> Table:
    """N*, maximum throughput and bottleneck of each row of a stage."""
    table = Table(
        title=f"Bottlenecks of {stage.name}",
        caption=f"Throughput in requests/s. {_lengths(found)}",
        header=[
            *("", "paper", "ours", "predicted", "crossing"),
            *("at N*", "paper", "maximum", "failed clients", "paper", "ours"),
        ],
        rows=[_limits_row(scene, stage, row, result) for row, result in found],
        groups=[("", 1), ("N*", 4), ("throughput", 3), ("", 1), ("bottleneck", 2)],
    )
    return without_empty_columns(table)


def _limits_row(scene: Scene, stage: Stage, row: str, result: CellResult) -> list[str]:
    peak = scene.peak(stage, row)
    return [
        row_title(row),
        wording.count(peak.n_star if peak else None),
        wording.n_star(result),
        _one_decimal(result.predicted),
        _one_decimal(result.crossing),
        wording.rate(result.at_n_star.throughput.median),
        wording.rate(peak.throughput_rps if peak else None),
        maximum(result),
        _failed_clients(result),
        peak.bottleneck if peak else wording.NOTHING,
        result.verdict.label,
    ]


def _failed_clients(result: CellResult) -> str:
    """The failed requests of all runs of the cell, by their cause; 0 if there are none."""
    counts: Counter[str] = Counter()
    for run in [*(run for point in result.points for run in point.runs), *result.invalid]:
        for entry in filter(None, run.errors.split(", ")):
            cause, _, number = entry.rpartition(" ")
            counts[cause] += int(number)
    return ", ".join(f"{cause} {number:,}" for cause, number in counts.items()) or "0"


def _lengths(found: Found) -> str:
    """How long its points really were."""
    lengths = [
        run.elapsed_s for _, result in found for point in result.points for run in point.runs
    ]
    shortest, longest = min(lengths), max(lengths)
    if longest - shortest < 0.1:
        return f"Its points lasted {longest:.1f} s."
    return f"Its points lasted {shortest:.1f} to {longest:.1f} s."


def _evidence(stage: Stage, found: Found) -> Listing:
    sentences = [
        f"{row_title(row)}, N = {result.at_saturation.threads}: {result.verdict.sentence}"
        for row, result in found
    ]
    return Listing(f"Why: the evidence for each bottleneck of {stage.name}", "\n".join(sentences))


def _response_times(scene: Scene, stage: Stage, found: Found) -> Table:
    table = Table(
        title=f"Response times of {stage.name}",
        caption="In ms, from before the client connects until it has the last byte.",
        header=[
            *("", "connect", "first byte", "mean"),
            *("paper", "mean", "p50", "p90", "p99", "max"),
        ],
        rows=[_response_row(scene, stage, row, result) for row, result in found],
        groups=[("", 1), ("at N = 1", 3), ("at N*", 6)],
    )
    return without_empty_columns(table)


def _response_row(scene: Scene, stage: Stage, row: str, result: CellResult) -> list[str]:
    peak, there = scene.peak(stage, row), result.at_n_star
    run = there.typical()
    paper_ms = 1000 * peak.response_s if peak and peak.response_s else None
    shares = (run.p50_ms, run.p90_ms, run.p99_ms, run.max_ms)
    return [
        row_title(row),
        *_phases(scene, result),
        wording.milliseconds(paper_ms),
        wording.milliseconds(1000 * there.response_s.median),
        *map(wording.milliseconds, shares),
    ]


def _phases(scene: Scene, result: CellResult) -> list[str]:
    """Until it is connected, until the first byte, and the mean at N = 1."""
    if result.alone is None:
        return [wording.NOTHING] * 3
    run = result.alone.typical()
    phases_ms = (scene.folder.evidence(run) or {}).get("loadgen", {}).get("phases_ms", {})
    return [
        *(wording.milliseconds(phases_ms.get(name)) for name in ("connect", "first_byte")),
        wording.milliseconds(run.mean_ms),
    ]


def _demands(stage: Stage, found: Found) -> Table:
    """What a request needs of each component, and what this one reads and writes."""
    components = [name for name in COMPONENTS if any(name in one.cpu_s for _, one in found)]
    servers = [name for name in components if name != "loadgen"]
    store = found[0][1].best.typical().store
    titles = [component_title(name, store) for name in components]
    named = [SHORT_NAMES.get(name, name) for name in servers]
    table = Table(
        title=f"What a request of {stage.name} needs",
        caption="Demands at the maximum, in µs of CPU or of the busiest disk. Of a lone request, "
        "N = 1: the CPU of all programs, the mean response time R, and ΣD / R, how many resources "
        "work for it at a time. Bytes of the disk are in kB per request, at the maximum.",
        header=["", *titles, "disk", "CPU", "R", "ΣD / R", *named, *named],
        rows=[
            [
                row_title(row),
                *(wording.microseconds(result.cpu_s.get(name)) for name in components),
                wording.microseconds(result.disk_s),
                wording.microseconds(result.lone_cpu_s),
                wording.microseconds(result.alone.response_s.median if result.alone else None),
                wording.NOTHING if result.parallelism is None else f"{result.parallelism:.2f}",
                *_traffic(result.best.typical(), servers),
            ]
            for row, result in found
        ],
        groups=[
            ("", 1),
            ("demand, µs", len(components) + 1),
            ("N = 1", 3),
            ("read, kB", len(servers)),
            ("written, kB", len(servers)),
        ],
    )
    return without_empty_columns(table)


def _traffic(run: Run, servers: list[str]) -> list[str]:
    used = [run.usage.components.get(name) for name in servers]
    rates = [one.read_bytes_per_s if one else None for one in used]
    rates += [one.write_bytes_per_s if one else None for one in used]
    return [wording.kilobytes(run.for_each_request(rate)) for rate in rates]


def _one_decimal(value: float | None) -> str:
    return wording.NOTHING if value is None else f"{value:.1f}"
