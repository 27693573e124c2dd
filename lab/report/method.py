"""How the points were measured, said once for all figures and tables, and what the terms mean."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ..analysis.cells import Analysis
from ..plan.catalog import Stage
from ..results.environment import Environment
from ..rig.cores import counted
from ..rig.place import HERE
from . import wording
from .document import Block, Bullets, Heading, Paragraph

_DEFINITIONS = [
    "Response time R: from before the client connects until it has the last byte of the reply.",
    "Throughput X: completed requests per second of the measured window. A request counts only if "
    "every reply to it was right.",
    "Maximum: the highest median over the passes, with the 95% interval of the mean (* = minimum "
    "and maximum: fewer than three runs). Without an interval there was one run. ≥ marks a lower "
    "bound: the maximum was not reached, or a higher point failed its checks. The highest of "
    "several medians is a little too high.",
    "Utilisation U: the share of the measured window in which a resource was busy, or how many "
    "cores. Service demand D: how long a request keeps the resource busy. It is the slope of U "
    "over X of all runs of the sweep (utilisation law). Components that share cores are one "
    "resource, and no core is counted twice. A disk's utilisation is its bytes or its requests per "
    "second, as a share of what it did in a probe before the run.",
    "N*: the smallest N within 5% of the highest throughput. It is found within each pass; the "
    "median and the range of the passes are shown. The predicted one is where exact mean value "
    "analysis reaches 95% of its asymptote, from the demands and the response time at N = 1. The "
    "crossing is that of the asymptotes.",
    "Gain: the ratio of two stages, with a 99% interval. A report has dozens of gains, so at 95% "
    "one or two would be wrong by chance. It is measured with both systems up, in blocks A B B A "
    "of trials seconds apart at the larger of their N*. Where there are no three such blocks, it "
    "is that of the plateaus (all N with 95% of the maximum) within each pass. † marks a gain of "
    "which one maximum was not reached: it tells nothing.",
    "Bottleneck: the first of these rules that holds decides, over all runs from N* to the highest "
    "N that still has 95% of the maximum. (1) The load generator, if it says so in most runs. (2) "
    "The busiest resource, if it was busy for 90% of the window or more; if the load generator "
    "used over half of that CPU, the servers were not the limit. (3) Not saturated, if throughput "
    "still rose at the last N. (4) The busiest resource, called close, if it was busy for 70% or "
    "more. (5) None. A resource is named alone only if it leads by five points in every pass (in "
    "every run if there are fewer than three); otherwise those that are alike are listed. A "
    "shared CPU is named after a component only if that used over half of it in every pass and "
    "five points more than any other, load generator included. Loopback counts only if nothing "
    "else is at 70%.",
    "Self-checks: X·R is within 3% of N. Bytes = requests × size. At most 1% of the requests "
    "failed. The servers counted as many connections and requests as the client. Neither had more "
    "than 3N + 64 threads, and their number did not rise steadily. At most 12N + 1,000 ends of "
    "connections were open. Other programs used at most 10% of the cores. A point that fails is "
    "drawn hollow and listed below; it is in no table.",
    "Finding: a gain is seen here if its interval is above 1 and it is over 3%, and not seen if "
    "the interval is below 1.03. With two passes, both must show ×1.3. “Comparable” is seen if "
    "the whole interval is within 15%. A bottleneck is held against the resource that the rule "
    "names; it cannot be told if the rule names none or several. A maximum that was not reached "
    "tells nothing.",
    "Sizes are decimal: 1KB is 1,000 bytes, 1MB a million.",
]


def section(stages: Sequence[Stage], analysis: Analysis, environment: Environment) -> list[Block]:
    blocks: list[Block] = [Heading(2, "How it was measured")]
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
    return blocks


def definitions() -> list[Block]:
    return [Heading(2, "Definitions and rules"), Bullets(_DEFINITIONS)]


def _configuration(
    stages: Sequence[Stage], analysis: Analysis, environment: Environment
) -> list[str]:
    """What all figures and tables have in common."""
    mode = environment.mode
    repeated = "each once" if mode.repeat == 1 else f"deciding points {mode.repeat} times"
    lengths = [run.elapsed_s for run in analysis.runs if run.is_valid]
    found = [
        f"A {mode.name} run: points of {mode.seconds:g} s after {mode.warmup_s:g} s of warm-up, "
        f"{repeated}. {_lengths(lengths)}",
        _network(environment),
        f"{counted(len(environment.cores)).capitalize()}. {environment.pinning}",
        *dict.fromkeys(stack.durability for stack in environment.stacks.values()),
    ]
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


def _lengths(lengths: Sequence[float]) -> str:
    """How long the points really were."""
    if not lengths:
        return ""
    return (
        f"They lasted {statistics.median(lengths):.1f} s (median), {min(lengths):.1f} to "
        f"{max(lengths):.1f} s; {wording.plural(len(lengths), 'valid point')}."
    )
