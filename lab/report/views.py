"""The views of an experiment. Each turns the analysed cells into blocks of the report.

An experiment in data/experiments.json names its views. To add a view, write a function here or in
figure_views.py and add a line to VIEWS in report.py.
"""

from __future__ import annotations

from ..analysis.cells import CellResult, ThreadCount
from ..analysis.resources import component_title
from ..plan.catalog import COMPONENTS, Stage, row_title
from . import wording
from .document import Block, Bullets, Heading, Paragraph, Table
from .scene import Scene, configuration, durability, stage_durability

_SPREAD_NOTE = (
    "“ours” is the median of the runs, with the 95% confidence interval of the mean "
    "(* = minimum–maximum: fewer than three runs). Without an interval, there was one run. "
    "≥ marks a lower bound: throughput still rose at the last N, or a higher point failed its "
    "checks. A gain is the ratio of both plateaus within each pass."
)


def hardware(scene: Scene) -> list[Block]:
    """Table 1: this host in the paper's rows, with memory and disks."""
    host = scene.environment.host
    rows = [
        [row, host.hardware.get(row, wording.NOTHING), client, server]
        for row, (client, server) in scene.printed.hardware.items()
    ]
    rows.append(["Memory", wording.byte_size(host.memory_bytes), wording.NOTHING, wording.NOTHING])
    rows += [
        [f"Disk {name}", text, wording.NOTHING, wording.NOTHING]
        for name, text in host.disks.items()
    ]
    return [
        Table(
            "Hardware of this host, which runs load generator, servers and store, and of the "
            "paper's two machines. Read with lscpu, which may give the total of all cores for a "
            "cache.",
            ["", "this host", "paper: load generator", "paper: servers"],
            rows,
        )
    ]


def maxima(scene: Scene) -> list[Block]:
    """Table 4: maximum throughput per row and stage, and each stage's gain over the previous."""
    header, groups = [""], [("", 1)]
    for index, stage in enumerate(scene.stages):
        names = ["paper", "ours"] + (["paper's gain", "our gain"] if index else [])
        header += names
        groups.append((stage.name, len(names)))
    return [
        Table(
            "Maximum throughput, requests/s. A gain is that over the stage to its left. Gains can "
            f"be compared between machines, throughputs cannot. {_SPREAD_NOTE} "
            f"{durability(scene)} {scene.configuration}",
            header,
            [_maxima_row(scene, row) for row in scene.rows],
            groups,
        )
    ]


def before_after(scene: Scene) -> list[Block]:
    """N* and maximum throughput, stage beside stage (Table 3)."""
    header, groups = [""], [("", 1)]
    for stage in scene.stages:
        header += ["N* paper", "N* ours", "paper", "ours"]
        groups.append((stage.name, 4))
    rows = []
    for row in scene.rows:
        cells = [row_title(row)]
        for stage in scene.stages:
            peak, result = scene.peak(stage, row), scene.result(stage, row)
            cells += [
                wording.count(peak.n_star if peak else None),
                wording.count(result.n_star if result else None),
                wording.rate(scene.paper_rate(stage, row)),
                _maximum(result),
            ]
        gains = (
            [
                wording.times(scene.paper_gain(scene.stages[-2], scene.stages[-1], row)),
                wording.gain(scene.gain(scene.stages[-2], scene.stages[-1], row)),
            ]
            if len(scene.stages) > 1
            else []
        )
        rows.append(cells + gains)
    if len(scene.stages) > 1:
        header += ["paper's", "ours"]
        groups.append(("gain", 2))
    return [
        Table(
            "N* (the smallest N within 5% of the maximum) and maximum throughput, requests/s. The "
            f"gain is that of the last stage over the previous one. {_SPREAD_NOTE} "
            f"{durability(scene)} {scene.configuration}",
            header,
            rows,
            groups,
        )
    ]


def bottlenecks(scene: Scene) -> list[Block]:
    """N* with response time and throughput, maximum throughput, and the bottleneck (Table 2)."""
    blocks: list[Block] = []
    for stage in scene.stages:
        found = [(row, result) for row in scene.rows if (result := scene.result(stage, row))]
        if not found:
            continue
        blocks.append(Heading(3, f"Bottlenecks: {stage.name}"))
        blocks.append(
            Table(
                f"{stage.name}: {stage.title}. N* is the median of the passes, with their range. "
                "The predicted N* is where exact mean value analysis reaches 95% of its "
                "asymptote. Response time is from before connect to after the "
                f"last byte. X·R/N must be 1 in a closed loop. {_SPREAD_NOTE} "
                f"{stage_durability(scene, stage)} {configuration(scene.environment, [stage])}",
                [
                    "",
                    "paper",
                    "ours",
                    "predicted",
                    "paper",
                    "ours",
                    "throughput",
                    "X·R/N",
                    "paper",
                    "ours",
                    "paper",
                    "ours",
                ],
                [_bottleneck_row(scene, stage, row, result) for row, result in found],
                [
                    ("", 1),
                    ("N*", 3),
                    ("response time at N*", 2),
                    ("at N*", 2),
                    ("maximum throughput", 2),
                    ("bottleneck", 2),
                ],
            )
        )
        blocks.append(
            Bullets(
                [
                    f"{row_title(row)}, N = {result.at_saturation.threads}: "
                    f"{result.verdict.sentence}"
                    for row, result in found
                ]
            )
        )
        blocks.append(_demands(scene, stage, found))
    return blocks


def network_probe(scene: Scene) -> list[Block]:
    """Section 4.2: what the network alone carried, and what the load generator received."""
    rows = [
        [
            f"{theirs.test} (paper)",
            f"{theirs.interval_s:.1f} s",
            f"{theirs.gigabytes:.2f} GB",
            f"{theirs.megabits_per_s:,.0f}",
            f"{theirs.megabytes_per_s:,.1f}",
        ]
        for theirs in scene.printed.network_probe
    ]
    probed = scene.environment.network_probe
    if probed:
        rows.append(_probe_row("iperf3 (ours, loopback)", probed.interval_s, probed.bytes))
    rows += [
        _probe_row(f"iperf3 (ours, {place})", carried.interval_s, carried.bytes)
        for place, carried in scene.environment.link_probes.items()
    ]
    for stage in scene.stages:
        for row in scene.rows:
            if result := scene.result(stage, row):
                run = result.best.typical()
                rows.append(
                    _probe_row(
                        f"load generator, {stage.name}, {row_title(row)}", run.elapsed_s, run.bytes
                    )
                )
    blocks: list[Block] = [
        Heading(3, "Network or CPU?"),
        Table(
            "What one iperf3 connection carries between load generator and servers, and what the "
            f"load generator received at its maximum. {scene.configuration}",
            ["test", "interval", "transferred", "Mbit/s", "MB/s"],
            rows,
        ),
    ]
    if not probed:
        blocks.append(
            Paragraph("The network was not measured alone, because iperf3 was not installed.")
        )
    return blocks


def _maximum(result: CellResult | None) -> str:
    return (
        wording.maximum(result.best.throughput, result.is_lower_bound)
        if result
        else wording.NOTHING
    )


def _maxima_row(scene: Scene, row: str) -> list[str]:
    cells = [row_title(row)]
    for index, stage in enumerate(scene.stages):
        result = scene.result(stage, row)
        cells += [wording.rate(scene.paper_rate(stage, row)), _maximum(result)]
        if index:
            cells += [
                wording.times(scene.paper_gain(scene.stages[index - 1], stage, row)),
                wording.gain(scene.gain(scene.stages[index - 1], stage, row)),
            ]
    return cells


def _bottleneck_row(scene: Scene, stage: Stage, row: str, result: CellResult) -> list[str]:
    peak = scene.peak(stage, row)
    there = result.at_n_star
    predicted = wording.NOTHING if result.predicted is None else f"{result.predicted:.1f}"
    return [
        row_title(row),
        wording.count(peak.n_star if peak else None),
        wording.n_star(result),
        predicted,
        wording.milliseconds(peak.response_s if peak else None),
        wording.milliseconds_with_spread(there.response_s),
        wording.rate(there.throughput.median),
        f"{there.typical().n_check:.3f}",
        wording.rate(peak.throughput_rps if peak else None),
        _maximum(result),
        (peak.bottleneck if peak else "") or wording.NOTHING,
        result.verdict.label,
    ]


def _demands(scene: Scene, stage: Stage, found: list[tuple[str, CellResult]]) -> Table:
    """Where a request's time goes. The predictions use it."""
    components = [
        name
        for name in COMPONENTS
        if any(name in result.best.typical().usage.components for _, result in found)
    ]
    titles = [component_title(name, found[0][1].best.typical().store) for name in components]
    rows = [
        [
            row_title(row),
            *_phase_cells(scene, result),
            *(wording.microseconds(result.cpu_s.get(name, 0.0)) for name in components),
            wording.microseconds(result.disk_s),
            wording.NOTHING if result.parallelism is None else f"{result.parallelism:.2f}",
            *_traffic_cells(result.best),
        ]
        for row, result in found
    ]
    return Table(
        f"{stage.name}: where a request's time goes. At N = 1, in µs: until it is connected, "
        "until the first byte of the last reply, and until the last byte. Service demands D are in "
        "µs of CPU or disk per request, by the utilisation law over the whole sweep. ΣD/R(1) is "
        "how many of them work for a lone request at a time. Bytes are those that the servers read "
        "from and wrote to the disk per request. "
        f"{configuration(scene.environment, [stage])}",
        [
            "",
            "connect",
            "first byte",
            "all",
            *titles,
            "disk",
            "ΣD/R(1)",
            "read",
            "written",
        ],
        rows,
        [
            ("", 1),
            ("at N = 1", 3),
            ("service demand D", len(titles) + 1),
            ("", 1),
            ("bytes", 2),
        ],
    )


def _phase_cells(scene: Scene, result: CellResult) -> list[str]:
    if result.alone is None:
        return [wording.NOTHING] * 3
    run = result.alone.typical()
    phases_ms = (scene.folder.evidence(run) or {}).get("loadgen", {}).get("phases_ms", {})
    return [
        wording.microseconds(phases_ms[name] / 1000) if name in phases_ms else wording.NOTHING
        for name in ("connect", "first_byte")
    ] + [wording.microseconds(run.mean_ms / 1000)]


def _traffic_cells(point: ThreadCount) -> list[str]:
    run = point.typical()
    servers = [used for name, used in run.usage.components.items() if name != "loadgen"]
    return [
        wording.byte_size(run.for_each_request(_total(rates)))
        for rates in (
            [one.read_bytes_per_s for one in servers],
            [one.write_bytes_per_s for one in servers],
        )
    ]


def _total(rates: list[float | None]) -> float | None:
    """None if one of them was not measured."""
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def _probe_row(name: str, interval_s: float, transferred: float) -> list[str]:
    rate = transferred / interval_s
    return [
        name,
        f"{interval_s:.1f} s",
        f"{transferred / 1e9:.2f} GB",
        f"{rate * 8 / 1e6:,.0f}",
        f"{rate / 1e6:,.1f}",
    ]
