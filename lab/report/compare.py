"""Compares two results folders: the ratio of every cell, their verdicts, and what else differs."""

from __future__ import annotations

from dataclasses import asdict

from rig.errors import Failed

from ..analysis import gains
from ..analysis.cells import Analysis, CellResult
from ..results.environment import Environment
from ..results.records import Folder
from . import agreement, wording
from .document import Block, Bullets, Document, Heading, Paragraph, Table

_SAME_MACHINE = ("hardware", "memory_bytes", "machine_id")


def document(first: Folder, second: Folder) -> Document:
    """Failed when one is not a results folder, or when they have neither a maximum throughput nor a
    judged finding in common.
    """
    environments = [folder.environment() for folder in (first, second)]
    analyses = [
        Analysis(folder.runs(), environment)
        for folder, environment in zip((first, second), environments)
    ]
    pairs = [
        (result, other)
        for result in analyses[0].results()
        if (other := analyses[1].result(result.cell))
    ]
    agreements = agreement.blocks(*analyses)
    if not pairs and not agreements:
        raise Failed(f"{first.path} and {second.path} have no cell and no finding in common")
    blocks: list[Block] = [
        Paragraph(f"A is {first.path}, B is {second.path}. {_machines(environments)}"),
        *([_table(pairs)] if pairs else []),
        *agreements,
        Heading(2, "What differs"),
    ]
    differences = _differences(*environments)
    if differences:
        blocks.append(Bullets(differences))
    else:
        blocks.append(Paragraph("Nothing in the recorded environment."))
    title = "Turnstile lab: comparison"
    subtitle = "maximum throughput of every cell that both have, and their verdicts"
    return Document(title=title, subtitle=subtitle, blocks=blocks)


_COLUMNS = [
    "cell",
    "A",
    "B",
    "ratio",
    "interval",
    "",
    "N* A",
    "N* B",
    "bottleneck A",
    "bottleneck B",
]


def _table(pairs: list[tuple[CellResult, CellResult]]) -> Table:
    return Table(
        title="Maximum throughput, requests/s",
        caption="The ratio is B / A of the plateaus, pass by pass, with its 99% confidence "
        "interval (* = minimum–maximum: fewer than three passes).",
        header=_COLUMNS,
        rows=[_row(a, b) for a, b in pairs],
    )


def _row(a: CellResult, b: CellResult) -> list[str]:
    found = gains.between(a, b)
    change = found.spread
    return [
        str(a.cell),
        wording.rate(a.best.throughput.median),
        wording.rate(b.best.throughput.median),
        wording.times(change.median),
        f"{change.low:.2f}–{change.high:.2f}{'' if change.is_interval else '*'}",
        _judged(found),
        wording.n_star(a),
        wording.n_star(b),
        a.verdict.label,
        b.verdict.label,
    ]


def _judged(found: gains.Gain) -> str:
    change = found.spread
    if found.is_lower_bound:
        return "a maximum was not reached"
    if not change.is_interval:
        return "too few passes to tell"
    return (
        "no difference shown"
        if change.low <= 1 <= change.high
        else "faster"
        if change.median > 1
        else "slower"
    )


def _machines(environments: list[Environment]) -> str:
    first, second = (environment.host for environment in environments)
    is_same = all(getattr(first, name) == getattr(second, name) for name in _SAME_MACHINE)
    return (
        "Both were measured on the same machine."
        if is_same
        else ("They were measured on different machines, so only gains can be compared.")
    )


def _differences(first: Environment, second: Environment) -> list[str]:
    a, b = _flat(_fixed(first)), _flat(_fixed(second))
    return [
        f"`{name}`: {a.get(name, 'not there')} → {b.get(name, 'not there')}"
        for name in sorted({**a, **b})
        if a.get(name) != b.get(name)
    ]


def _fixed(environment: Environment) -> dict[str, object]:
    """The environment without times, loads and ports, which differ between any two runs."""
    record = asdict(environment)
    kept = {
        name: record[name]
        for name in ("options", "mode", "cores", "file_counts", "open_files", "stages")
    }
    kept["host"] = {name: value for name, value in record["host"].items() if name != "load_before"}
    kept["store_settings"] = {
        stack.store: stack.store_settings for stack in environment.stacks.values()
    }
    return kept


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix: str(value)}
    return {
        name: text
        for key, inner in value.items()
        for name, text in _flat(inner, f"{prefix}.{key}" if prefix else str(key)).items()
    }
