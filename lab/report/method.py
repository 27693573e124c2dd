"""How the points were measured, said once for all figures and tables."""

import statistics
from collections.abc import Sequence

from rig.cores import counted
from rig.place import HERE

from ..analysis.cells import Analysis
from ..kinds import BURST, CROWD, FAILOVER
from ..plan.catalog import Stage
from ..results.environment import Environment
from . import wording
from .document import Block, Bullets, Heading, Paragraph


def section(stages: Sequence[Stage], analysis: Analysis, environment: Environment) -> list[Block]:
    """[] when there is nothing to say."""
    blocks: list[Block] = []
    if analysis.runs:
        blocks.append(Bullets(_configuration(stages, analysis, environment)))
    if environment.options.note:
        blocks.append(Paragraph(f"Note of whoever ran it: {environment.options.note}"))
    if analysis.runs and environment.mode.name == "quick":
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
    return [Heading(2, "How it was measured"), *blocks] if blocks else []


def _configuration(
    stages: Sequence[Stage], analysis: Analysis, environment: Environment
) -> list[str]:
    """What all figures and tables have in common."""
    found = [
        _trials(analysis, environment),
        _network(environment),
        *_full_disk(analysis),
        f"{counted(len(environment.cores)).capitalize()}. {environment.pinning}",
        *dict.fromkeys(stack.durability for stack in environment.stacks.values()),
    ]
    if environment.options.is_held:
        found.append("The program that serves files was frozen while all transfers were asked for.")
    if cold := [stage.name for stage in stages if stage.cold]:
        found.append(
            f"Files from the disk: caches dropped before each get of {', '.join(cold)}, and no "
            "warm-up. Such a point may end early, when its files have all been fetched once."
        )
    kept: dict[str, list[str]] = {}
    for stage in stages:
        kept.setdefault(stage.passwords, []).append(stage.name)
    schemes = "; ".join(f"{scheme} in {', '.join(names)}" for scheme, names in kept.items())
    return [*found, f"Passwords: {schemes}. Rates of `new` compare within one scheme only."]


def _trials(analysis: Analysis, environment: Environment) -> str:
    """How long each took, and how often it was repeated."""
    mode = environment.mode
    lengths = [run.elapsed_s for run in analysis.runs if run.is_valid]
    kinds = {run.cell.kind.name for run in analysis.runs}
    repeated = "each once" if mode.repeat == 1 else f"{mode.repeat} times"
    if kinds == {BURST.name}:
        how = f"each burst {repeated}" if mode.repeat > 1 else f"bursts, {repeated}"
    elif kinds == {CROWD.name} and mode.crowd:
        how = f"a crowd until the number of users is the same for {mode.crowd.stable_s:g} s"
    elif kinds == {FAILOVER.name}:
        how = f"an open loop in which a server was killed and started again, {repeated}"
    else:
        deciding = f"deciding points {repeated}" if mode.repeat > 1 else repeated
        how = f"points of {mode.seconds:g} s after {mode.warmup_s:g} s of warm-up, {deciding}"
    return f"A {mode.name} run: {how}. {_lengths(lengths)}"


def _network(environment: Environment) -> str:
    """Where the load generator ran; with the cells, if that differs between them."""
    cells: dict[str, list[str]] = {}
    for slug, stack in environment.stacks.items():
        cells.setdefault(stack.topology, []).append(slug)
    named = [
        title if len(cells) == 1 else f"{title} ({wording.few(slugs)})"
        for title, slugs in cells.items()
    ]
    return f"Topology: {'; '.join(named) or HERE.title}. " + (
        "The lab had a network namespace of its own."
        if environment.host.own_network_namespace
        else "It was in the host's network namespace, with its connection tracking."
    )


def _full_disk(analysis: Analysis) -> list[str]:
    """What counts as all that the disk can do, the highest figures first."""
    figures = [
        f"{one.read_bytes_per_s / 1e6:,.0f} MB/s read or {one.write_bytes_per_s / 1e6:,.0f} "
        f"written, or a second {one.reads_per_s:,.0f} reads or {one.writes_per_s:,.0f} writes "
        "of 4 KiB"
        for one in reversed(analysis.disks)
    ]
    if not figures:
        return []
    return [f"A full disk ({analysis.disks[0].disk}): {'; by the lowest figures '.join(figures)}."]


def _lengths(lengths: Sequence[float]) -> str:
    """How long the points really were."""
    if not lengths:
        return ""
    return (
        f"They lasted {statistics.median(lengths):.1f} s (median), {min(lengths):.1f} to "
        f"{max(lengths):.1f} s; {wording.plural(len(lengths), 'valid point')}."
    )
