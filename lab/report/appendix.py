"""The end of a report: invalid points, remarks, and the environment with its command lines."""

import re
from collections.abc import Collection

from ..analysis.cells import Analysis
from ..kinds import KINDS
from ..observe.machine_probe import MachineProbe
from ..results.environment import Environment
from ..results.records import Folder, Run
from . import wording
from .document import Block, Bullets, Heading, Listing, Paragraph, Table


def invalid(analysis: Analysis, environment: Environment) -> list[Block]:
    """[] without points, unless the reason for that is known."""
    if not analysis.runs and not environment.problems:
        return []
    blocks: list[Block] = [Heading(2, "Invalid points, and remarks")]
    if analysis.invalid:
        each = "\n".join(f"{_name(run)}: {run.failures}" for run in analysis.invalid)
        blocks += [_failures(analysis.invalid), Listing("Each point that failed", each)]
    elif analysis.runs:
        blocks.append(Paragraph("Every point passed every check."))
    remarks = [run for run in analysis.runs if run.is_valid and run.notes]
    if remarks:
        each = "\n".join(f"{_name(run)}: {run.notes}" for run in remarks)
        blocks += [_remarks(remarks), Listing("Each remark", each)]
    if problems := environment.problems:
        blocks.append(Bullets([f"Not measured: {cell}: {why}" for cell, why in problems.items()]))
    return blocks


def _failures(runs: list[Run]) -> Table:
    """The first sentence of each check that failed says which check it was."""
    return Table(
        title="Points that failed their checks",
        caption="They are in no other table. A point may have failed several.",
        header=["check", "points", "of"],
        rows=_counted(
            [(why.partition(". ")[0], run) for run in runs for why in _list(run.failures)]
        ),
    )


def _remarks(runs: list[Run]) -> Table:
    """What stands before the colon of a remark says what kind it is."""
    return Table(
        title="Remarks on valid points",
        header=["remark", "points", "of"],
        rows=_counted([(note.partition(":")[0], run) for run in runs for note in _list(run.notes)]),
    )


def _list(text: str) -> list[str]:
    return text.split("; ")


def _counted(said: list[tuple[str, Run]]) -> list[list[str]]:
    """Each text without its numbers, of how many points it was said, and of which cells."""
    cells: dict[str, list[str]] = {}
    for text, run in said:
        cells.setdefault(re.sub(r"\d[\d.,]*", "…", text), []).append(run.cell.slug)
    return [
        [text, f"{len(names):,}", wording.few(list(dict.fromkeys(names)))]
        for text, names in cells.items()
    ]


def _name(run: Run) -> str:
    return f"{run.cell}, {run.setting}, run {run.repeat}"


def environment_section(
    folder: Folder, environment: Environment, analysis: Analysis
) -> list[Block]:
    return [
        Heading(2, "Environment"),
        _settings(environment),
        *_files(environment),
        *_machines(environment),
        *_commands(folder, environment, analysis),
    ]


def _settings(environment: Environment) -> Table:
    host = environment.host
    facts = {
        "kernel": host.kernel,
        "system": host.system,
        "virtualisation": host.virtualisation,
        "governor": host.governor,
        "open files": environment.open_files,
        **host.file_system,
        **host.network,
        **host.versions,
    }
    return Table(
        title="Settings and versions during the run",
        header=["", ""],
        rows=[[name, str(value)] for name, value in facts.items()],
    )


def _commands(folder: Folder, environment: Environment, analysis: Analysis) -> list[Block]:
    blocks: list[Block] = []
    if profile := environment.profile:
        blocks.append(Listing("Command line of the profiled fileserver", profile.command))
    load_commands = _load_commands(folder, analysis)
    for slug, stack in environment.stacks.items():
        settings = [f"{name} = {value}" for name, value in stack.store_settings.items()]
        lines = [*stack.commands.values(), *load_commands.get(slug, []), *settings]
        blocks.append(Listing(f"Command lines and store settings: {slug}", "\n".join(lines)))
    return blocks


def _files(environment: Environment) -> list[Block]:
    table = Table(
        title="Different files of each size",
        caption="The paper had 2,000 per thread.",
        header=["size", "files", "on the disk"],
        rows=[
            [name, wording.count(number), environment.extents.get(name, "")]
            for name, number in environment.file_counts.items()
        ],
    )
    return [table] if table.rows else []


def _machines(environment: Environment) -> list[Block]:
    """The machines of the papers that programs had, and what a probe found of each limit."""
    machines = {
        stage.machine.name: stage.machine for stage in environment.stages.values() if stage.machine
    }
    rows = []
    for name, machine in machines.items():
        probe = environment.machine_probes.get(name, MachineProbe())
        rows.append(
            [
                name,
                wording.byte_size(machine.cache_bytes or machine.memory_bytes),
                wording.byte_size(probe.cached_bytes),
                wording.megabytes(machine.read_bytes_per_s),
                wording.megabytes(probe.read_bytes_per_s),
                wording.three_digits(machine.cores),
                wording.three_digits(probe.cores),
            ]
        )
    table = Table(
        title="Machines of the papers: their limits, and what a probe found",
        caption="Of the program that serves files. Memory is page cache beside what the idle "
        "server uses, where the machine is so described; found is what stayed in the page cache "
        "of a larger file. CPU found: how far a loop counted, as a part of one core without a "
        "limit.",
        header=["machine", *(title for _ in range(3) for title in ("limit", "found"))],
        rows=rows,
        groups=[("", 1), ("memory", 2), ("disk, MB/s", 2), ("CPU, cores", 2)],
    )
    return [table] if rows else []


def _load_commands(folder: Folder, analysis: Analysis) -> dict[str, list[str]]:
    """The load generator's command line for one point of each cell.

    Those of other points differ in --threads, --unique and --seconds.
    """
    evidence = {
        result.cell.slug: folder.evidence(result.points[0].typical())
        for result in analysis.results()
    }
    return {slug: [found["command"]] for slug, found in evidence.items() if found}


_OF_SWEEPS = [
    "Response time R: from before the client connects until it has the last byte of the reply.",
    "Throughput X: completed requests per second of the measured window. A request counts only if "
    "every reply to it was right.",
    "Maximum: the highest median over the passes, with the 95% interval of the mean (* = minimum "
    "and maximum: fewer than three runs). Without an interval there was one run. ≥ marks a lower "
    "bound: the maximum was not reached, or a higher point failed its checks. The highest of "
    "several medians is a little too high.",
    "Utilisation U: the share of the measured window in which a resource was busy, or how many "
    "cores. Service demand D: how long a request keeps the resource busy. It is U "
    "/ X at the maximum (utilisation law): all that a program used, divided by all requests. "
    "Nothing is subtracted for a background. Components that share cores are one resource, and no "
    "core is counted twice. A disk's utilisation is its bytes or its requests per "
    "second, as a share of what it did in a probe before the run.",
    "N*: the smallest N with 95% of the most throughput, by a curve through all points of the "
    "cell, with its 95% interval. ? marks a cell whose points no such curve describes. The "
    "predicted one is where exact mean value "
    "analysis reaches 95% of its asymptote, from the demands and the response time at N = 1. The "
    "crossing is that of the asymptotes.",
    "Gain: the ratio of two stages, with a 99% interval. A report has dozens of gains, so at 95% "
    "one or two would be wrong by chance. It is measured with both systems up, in blocks A B B A "
    "of trials seconds apart at the larger of their N*. Where there are no three such blocks, it "
    "is that of the plateaus (all N with 95% of the maximum) within each pass. † marks a gain of "
    "which one maximum was not reached: it tells nothing.",
    "Bottleneck: the first of these rules that holds decides, over all runs from the lowest to "
    "the highest N with 95% of the maximum. (1) The load generator, if it says so in most runs. "
    "(2) The busiest resource, if it was busy for 90% of the window or more; if the load generator "
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
    "the interval is below 1.03. With two passes, both must show ×1.4. “Comparable” is seen if "
    "the whole interval is within 15%. A bottleneck is held against the resource that the rule "
    "names; it cannot be told if the rule names none or several. A maximum that was not reached "
    "tells nothing.",
]
_SIZES = "Sizes are decimal: 1KB is 1,000 bytes, 1MB a million; 1KiB is 1,024, 1MiB 1,048,576."


def definitions(workloads: Collection[str]) -> list[Block]:
    """Of the sweeps, and of workloads that have terms of their own."""
    found = []
    if not workloads or any(KINDS[name].is_swept for name in workloads):
        found += _OF_SWEEPS
    own = [kind.part("views") for name, kind in KINDS.items() if name in workloads]
    found += [term for views in own if views for term in views.TERMS]
    return [Heading(2, "Definitions and rules"), Bullets([*found, _SIZES])]
