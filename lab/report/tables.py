"""The views that are tables: maxima, before and after, the network probe.

An experiment in papers/*/experiments.json names its views. To add a view, write a function that
takes a Scene, and give it a line in VIEWS in page.py.
"""

from ..analysis.cells import CellResult
from ..plan.catalog import Stage, row_title
from ..results.environment import Environment
from . import wording
from .document import Block, Paragraph, Table, without_empty_columns
from .scene import Scene


def maxima(scene: Scene) -> list[Block]:
    """Table 4: maximum throughput per row and stage, and each stage's gain over the previous."""
    header, groups = [""], [("", 1)]
    for index, stage in enumerate(scene.stages):
        names = ["paper", "ours"] + (["paper’s gain", "our gain"] if index else [])
        header += names
        groups.append((stage.name, len(names)))
    table = Table(
        title=f"Maximum throughput: {_listed(scene)}",
        caption="Requests/s. A gain is that over the stage to its left"
        + (", in CPU time. " if scene.analysis.is_shared else ". ")
        + "Gains can be compared between machines, throughputs cannot.",
        header=header,
        rows=[_maxima_row(scene, row) for row in scene.rows],
        groups=groups,
    )
    return [without_empty_columns(table)]


def before_after(scene: Scene) -> list[Block]:
    """N* and maximum throughput, stage beside stage (Table 3)."""
    header, groups = [""], [("", 1)]
    for stage in scene.stages:
        header += ["N* paper", "N* ours", "paper", "ours"]
        groups.append((stage.name, 4))
    if scene.steps:
        header += ["paper", "ours"]
        groups.append(("gain", 2))
    table = Table(
        title=f"N* and maximum throughput: {_listed(scene)}",
        caption="Throughput in requests/s. The gain is that of the last stage over the previous "
        "one.",
        header=header,
        rows=[_before_after_row(scene, row) for row in scene.rows],
        groups=groups,
    )
    return [without_empty_columns(table)]


def network_probe(scene: Scene) -> list[Block]:
    """Section 4.2: what the network alone carried, and what the load generator received."""
    rows = [
        [
            f"{theirs.test} (paper)",
            f"{theirs.interval_s:.1f}",
            f"{theirs.gigabytes:.2f}",
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
        for row, result in scene.results(stage):
            run = result.best.typical()
            name = f"load generator, {stage.name}, {row_title(row)}"
            rows.append(_probe_row(name, run.elapsed_s, run.bytes))
    table = Table(
        title="Network or CPU?",
        caption="What one iperf3 connection carries between load generator and servers, and what "
        "the load generator received at its maximum.",
        header=["test", "seconds", "GB", "Mbit/s", "MB/s"],
        rows=rows,
    )
    missing = Paragraph("The network was not measured alone, because iperf3 was not installed.")
    return [table] if probed else [table, missing]


def maximum(result: CellResult | None) -> str:
    if result is None:
        return wording.NOTHING
    return wording.maximum(result.best.throughput, result.is_lower_bound)


def _listed(scene: Scene) -> str:
    return ", ".join(stage.name for stage in scene.stages)


def _maxima_row(scene: Scene, row: str) -> list[str]:
    cells = [row_title(row)]
    for index, stage in enumerate(scene.stages):
        cells += [wording.rate(scene.paper_rate(stage, row)), maximum(scene.result(stage, row))]
        if index:
            cells += _gain_cells(scene, scene.steps[index - 1], row)
    return cells


def _before_after_row(scene: Scene, row: str) -> list[str]:
    cells = [row_title(row)]
    for stage in scene.stages:
        peak, result = scene.peak(stage, row), scene.result(stage, row)
        cells += [
            wording.count(peak.n_star if peak else None),
            wording.n_star(result) if result else wording.NOTHING,
            wording.rate(scene.paper_rate(stage, row)),
            maximum(result),
        ]
    return cells + (_gain_cells(scene, scene.steps[-1], row) if scene.steps else [])


def _gain_cells(scene: Scene, step: tuple[Stage, Stage], row: str) -> list[str]:
    return [wording.times(scene.paper_gain(step, row)), wording.gain(scene.gain(step, row))]


def _probe_row(name: str, interval_s: float, transferred: float) -> list[str]:
    rate = transferred / interval_s
    return [
        name,
        f"{interval_s:.1f}",
        f"{transferred / 1e9:.2f}",
        f"{rate * 8 / 1e6:,.0f}",
        f"{rate / 1e6:,.1f}",
    ]


def printed(scene: Scene) -> list[Block]:
    """[] if the paper has no such table for this experiment."""
    found = scene.printed.printed.get(scene.experiment.numbers)
    if not found:
        return []
    return [
        Table(
            title="What the paper printed",
            caption="About its own servers and machines; only the shape can be compared.",
            header=list(found.header),
            rows=[list(row) for row in found.rows],
        )
    ]


def hardware(scene: Scene) -> list[Block]:
    """Of this host, memory, disks and the measured servers too."""
    environment, nothing = scene.environment, wording.NOTHING
    clients = environment.clients
    printed = scene.printed.hardware
    ours = _of_this_host(environment)
    rows = [
        [
            row,
            ours.get(row, nothing),
            *(hardware.get(row, nothing) for hardware in clients.values()),
            *of_paper,
        ]
        for row, of_paper in printed.items()
    ]
    unknown = [nothing] * (len(clients) + 2)
    rows += [[row, text, *unknown] for row, text in _more_of_this_host(environment, printed)]
    own = "servers and store, and the load generator where no other host is named"
    papers = "The paper had two machines. " if all(map(all, printed.values())) else ""
    return [
        without_empty_columns(
            Table(
                title="Hardware",
                caption=f"This host ran {own}. {papers}Read with lscpu, which may give the total "
                "of all cores for a cache.",
                header=["", "this host", *clients, "paper: load generator", "paper: servers"],
                rows=rows,
            )
        )
    ]


def _of_this_host(environment: Environment) -> dict[str, str]:
    """The link is the one that the load came over; if none is known, those of the host."""
    found = {
        **environment.host.hardware,
        "Memory": wording.byte_size(environment.host.memory_bytes),
        "Server": ", ".join(_servers(environment)),
    }
    stacks = environment.stacks.values()
    links = dict.fromkeys(one.link for one in stacks if one.link)
    sizes = dict.fromkeys(str(one.mtu) for one in stacks if one.link and one.mtu)
    if links:
        found["Link"], found["MTU"] = ", ".join(links), ", ".join(sizes)
    return found


def _servers(environment: Environment) -> list[str]:
    """With their versions: those that were measured, or ours before anything was."""
    stacks = environment.stacks.values()
    ours = " ".join(environment.host.versions.get("fileserver", "").split()[:2])
    found = [
        f"{one.store_settings['server']} {one.store_settings['version']}"
        if "server" in one.store_settings
        else ours
        for one in stacks
    ]
    return [name for name in dict.fromkeys(found or [ours]) if name]


def _more_of_this_host(
    environment: Environment, printed: dict[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """What the paper does not tell of its own."""
    host = environment.host
    memory = [] if "Memory" in printed else [("Memory", wording.byte_size(host.memory_bytes))]
    return [*memory, *((f"Disk {name}", text) for name, text in host.disks.items())]
