"""Compares two results folders: the ratio of every cell, their verdicts, and what else differs."""

from dataclasses import asdict

from rig.errors import Failed

from ..analysis import findings, gains, passes
from ..analysis.cells import Analysis, CellResult
from ..analysis.findings import Judged
from ..analysis.gains import Gain
from ..plan import claims, papers
from ..plan.planned import Pair
from ..results.environment import Environment
from ..results.records import Folder, Run
from . import wording
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
    agreements = agreement(*analyses)
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
        caption="The ratio is B / A of the plateaus, by Welch over the passes, with its 99% "
        "confidence interval (* = minimum–maximum: fewer than three passes).",
        header=_COLUMNS,
        rows=[_row(a, b) for a, b in pairs],
    )


def _row(a: CellResult, b: CellResult) -> list[str]:
    found = gains.apart(a, b)
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


_SAME, _FLIPS = "the same", "flips"
_OVERLAP, _APART = "yes", "no"


def agreement(first: Analysis, second: Analysis) -> list[Block]:
    """[] when they have neither a finding nor a gain side by side in common."""
    return [*_of_verdicts(first, second), *_of_gains(first, second)]


def _of_verdicts(first: Analysis, second: Analysis) -> list[Block]:
    found = [
        (finding.text, one, other)
        for paper in papers.names()
        for finding in claims.claims(paper)
        for one, other in _in_both(findings.judge(finding, first), findings.judge(finding, second))
    ]
    if not found:
        return []
    relations = [_relation(one.verdict, other.verdict) for _, one, other in found]
    same, flips = relations.count(_SAME), relations.count(_FLIPS)
    table = Table(
        title="Findings",
        header=["finding", "request", "A", "B", ""],
        rows=[
            [text, one.row, one.verdict, other.verdict, relation]
            for (text, one, other), relation in zip(found, relations)
        ],
    )
    sentence = (
        f"Of {wording.plural(len(found), 'verdict')}, {same} are the same, {flips} flip between "
        f"“{passes.SEEN}” and “{passes.NOT_SEEN}”, and {len(found) - same - flips} can be told "
        "from one of the two only."
    )
    return [Heading(2, "The verdicts of both"), Paragraph(sentence), table]


def _in_both(first: list[Judged], second: list[Judged]) -> list[tuple[Judged, Judged]]:
    return [(one, other) for one in first for other in second if one.row == other.row]


def _relation(first: str, second: str) -> str:
    if first == second:
        return _SAME
    if passes.CANNOT_TELL not in (first, second):
        return _FLIPS
    return f"told from {'B' if first == passes.CANNOT_TELL else 'A'} only"


def _of_gains(first: Analysis, second: Analysis) -> list[Block]:
    """Of the stages that were measured side by side in both."""
    found = [
        (pair, one, other)
        for pair in _pairs(first)
        if pair in _pairs(second)
        for one, other in [(_gain(first, pair), _gain(second, pair))]
        if one and other
    ]
    if not found:
        return []
    relations = [_overlap(one, other) for _, one, other in found]
    overlapping, apart = relations.count(_OVERLAP), relations.count(_APART)
    table = Table(
        title="Gains",
        caption="Of the second stage over the first, side by side, with its 99% interval (* = "
        "minimum–maximum), at the N that the sweeps of the folder led to.",
        header=["stages", "request", "N A", "N B", "A", "B", "overlap"],
        rows=[
            [*_of_pair(pair, one, other), relation]
            for (pair, one, other), relation in zip(found, relations)
        ],
    )
    sentence = (
        f"Of {wording.plural(overlapping + apart, 'gain')} with an interval in both, "
        f"{overlapping} have intervals that overlap."
    )
    return [Heading(2, "The gains of both"), Paragraph(sentence), table]


def _of_pair(pair: Pair, one: Gain, other: Gain) -> list[str]:
    users = [wording.count(gain.threads) for gain in (one, other)]
    return [f"{pair.before} → {pair.after}", pair.row, *users, _text(one), _text(other)]


def _pairs(analysis: Analysis) -> list[Pair]:
    """In the order in which they were measured, the rows of two stages together."""
    pairs = list(dict.fromkeys(_pair(run) for run in analysis.runs if run.pair))
    stages = list(dict.fromkeys((pair.before, pair.after) for pair in pairs))
    return sorted(pairs, key=lambda pair: stages.index((pair.before, pair.after)))


def _pair(run: Run) -> Pair:
    before, after = run.pair.split(":")
    return Pair(before, after, run.cell.row)


def _gain(analysis: Analysis, pair: Pair) -> Gain | None:
    return gains.gain(analysis, pair.before, pair.after, pair.row)


def _overlap(one: Gain, other: Gain) -> str:
    """Nothing without an interval of each."""
    if any(gain.is_lower_bound or not gain.spread.is_interval for gain in (one, other)):
        return ""
    a, b = one.spread, other.spread
    return _OVERLAP if a.low <= b.high and b.low <= a.high else _APART


def _text(gain: Gain) -> str:
    return wording.gain(gain).replace("\n", " ")
