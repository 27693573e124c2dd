"""The view of mixes: hits and response times over the memory, with writers and without."""

from collections.abc import Callable, Sequence

from ...analysis.passes import RATE
from ...report import sheet, wording
from ...report.charts import line_chart
from ...report.charts.line_chart import Curve
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure
from ...report.scene import Scene
from ...report.sheet import Column
from . import analysis as mixes
from .analysis import Held, MixResult


def answers(scene: Scene) -> list[str]:
    found = []
    for row in scene.rows:
        said = sentences(_results(scene, row), row, _files(scene, row))
        found += [" ".join([f"Files of {row}.", *said])] if said else []
    return found


def figures(scene: Scene) -> list[Block]:
    """Of the most users. None where nothing was measured with two sizes of the memory."""
    found: list[Block] = []
    for row in scene.rows:
        results = _results(scene, row)
        most = max((one.threads for one in results), default=0)
        drawn = [one for one in results if one.threads == most]
        if len({one.mix.in_memory for one in drawn}) > 1:
            found.append(_figure(row, drawn, _files(scene, row)))
    return found


def table(scene: Scene) -> list[Block]:
    return [
        sheet.table(
            f"Mixes, files of {row}",
            "In memory: the share of the files for which there is memory. Hits: of the "
            "files that were sent, those from it. By name: what is expected of the files that come "
            "first by name; best: of the most popular ones. "
            "Response times in ms. Medians of the passes, with their interval below; * marks the "
            "lowest and highest of two.",
            _columns(row, _files(scene, row)),
            results,
            keeps_empty=True,
        )
        for row in scene.rows
        if (results := _results(scene, row))
    ]


def _results(scene: Scene, row: str) -> list[MixResult]:
    return mixes.of_stages(scene.analysis.runs, scene.stages, row)


def _files(scene: Scene, row: str) -> int:
    return scene.environment.file_counts.get(row, 1)


def _columns(row: str, files: int) -> list[Column[MixResult]]:
    def held(one: MixResult) -> Held:
        return mixes.expected(row, files, one.mix)

    return [
        Column("stage", lambda one: one.stage.name),
        Column("users", lambda one: str(one.threads)),
        Column("in memory", lambda one: wording.percent(one.mix.in_memory)),
        Column("hits", lambda one: wording.percent(one.median("hit_share"), 1)),
        Column("by name", lambda one: wording.percent(held(one).by_name, 1)),
        Column("best", lambda one: wording.percent(held(one).best, 1)),
        sheet.interval("requests/s", RATE),
        *(_time(kind, which) for kind in ("get", "put", "new") for which in ("p50", "p99")),
    ]


def _time(kind: str, which: str) -> Column[MixResult]:
    def text(one: MixResult) -> str:
        found = one.figure(f"{kind}_{which}_ms")
        return wording.milliseconds_with_range(found) if found else wording.NOTHING

    return Column(which, text, f"{kind}, ms")


def _figure(row: str, results: Sequence[MixResult], files: int) -> Figure:
    parts = [
        ("readers only", "stage0", [one for one in results if not one.has_writers]),
        ("with writers", "stage1", [one for one in results if one.has_writers]),
    ]
    parts = [part for part in parts if part[2]]
    return Figure(
        name=f"mix-{row}",
        title=f"Readers, writers and memory: files of {row}",
        caption="Over the share of the files for which there is memory; at 0 the files are read "
        "from disk. Medians of the passes with their range. Dashed: the hits if the most popular "
        "files were in memory.",
        canvases=[
            _hits(parts, results, row, files),
            _over_memory("Gets in a second", parts, "get_rps"),
            _over_memory("p99 of a get, ms", parts, "get_p99_ms", is_logarithmic=True),
        ],
    )


_Part = tuple[str, str, list[MixResult]]  # name, colour, and what is drawn


def _hits(parts: Sequence[_Part], results: Sequence[MixResult], row: str, files: int) -> Canvas:
    best = {one.mix.in_memory: mixes.expected(row, files, one.mix).best for one in results}
    ends = [line_chart.point(100 * x, 100 * share) for x, share in sorted(best.items())]
    ideal = Curve(name="best", colour="ink", points=ends, style="dash")
    curves = [*(_curve(part, "hit_share", 100) for part in parts), ideal]
    return _drawn("Hits, % of the files that were sent", curves)


def _over_memory(
    title: str, parts: Sequence[_Part], figure: str, *, is_logarithmic: bool = False
) -> Canvas:
    curves = [_curve(part, figure) for part in parts]
    return _drawn(title, curves, is_logarithmic=is_logarithmic)


def _curve(part: _Part, figure: str, factor: float = 1) -> Curve:
    name, colour, results = part
    at = sorted(results, key=lambda one: one.mix.in_memory)
    found = [(100 * one.mix.in_memory, one.figure(figure)) for one in at]
    return sheet.curve(name, colour, [(x, one) for x, one in found if one], factor=factor)


def _drawn(title: str, curves: Sequence[Curve], *, is_logarithmic: bool = False) -> Canvas:
    return sheet.chart(
        title,
        curves,
        x_title="% in memory",
        x_ends=(0.0, 100.0),
        is_logarithmic=is_logarithmic,
        right=80.0,
    )


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "mix": lambda scene: [*figures(scene), *table(scene)]
}
TERMS = [
    "Mix: a closed loop in which the kind of each request is drawn (get, put, new), and for a get "
    "its file. File k is asked for as often as 1/k^S says. All files have one size. A put writes "
    "a file under a new name, which nobody asks for; a new makes an account.",
    "Memory for a share of the files: the `--memory-limit` of the fileserver has room for these, "
    "with their names. It reads files in the order of their names until no "
    "further one fits, and with `--evict off` drops none for another one.",
    "Hits: of the files that were sent, those from the fileserver’s memory, by its telemetry, "
    "with those of the warm-up. The page cache of the system may have had the others. By name: "
    "the share of the requests for the files that come first by name, by how popular they are. "
    "Best: the same of the most popular files.",
    "Self-checks: X·R is within 3% of N. Bytes = gets and puts × size. At most 1% of the requests "
    "failed, and each kind succeeded at least once. Other programs used at most 10% of the cores. "
    "A run that fails one is in no table.",
]


_USUAL_SHARE = 0.25  # the memory of which a sentence tells; else one that is near


def sentences(found: Sequence[MixResult], row: str, files: int) -> list[str]:
    """Each compares two settings that differ in one thing; those that were measured."""
    readers = [one for one in found if not one.has_writers]
    writers = [one for one in found if one.has_writers]
    said = [
        _hits_said(readers or writers, row, files),
        _memory(readers or writers),
        _writers(readers, writers),
        _written(writers),
        _taken(writers),
    ]
    return [sentence for sentence in said if sentence]


def _hits_said(found: Sequence[MixResult], row: str, files: int) -> str:
    part = [one for one in found if 0 < one.mix.in_memory < 1 and one.figure("hit_share")]
    if not part:
        return ""
    one = min(part, key=lambda one: abs(one.mix.in_memory - _USUAL_SHARE))
    held = mixes.expected(row, files, one.mix)
    return (
        f"With memory for {wording.percent(one.mix.in_memory)} of {files:,} files, "
        f"{wording.percent(one.median('hit_share'))} of those that were sent came from it; "
        f"{wording.percent(held.by_name)} are expected, because it has the files that come first "
        f"by name. With the most popular ones it would be {wording.percent(held.best)}."
    )


def _memory(found: Sequence[MixResult]) -> str:
    """The least against the most memory, all else alike."""
    if len({one.mix.in_memory for one in found}) < 2:
        return ""
    least = min(found, key=lambda one: one.mix.in_memory)
    most = max(found, key=lambda one: one.mix.in_memory)
    who = "readers and writers" if most.has_writers else "readers alone"
    return (
        f"For {who}, {_change(least, most)} with {_share(most)} in memory instead of "
        f"{_share(least)}."
    )


def _writers(readers: Sequence[MixResult], writers: Sequence[MixResult]) -> str:
    """With as much memory as both have at most."""
    pairs = [
        (one, other)
        for one in readers
        for other in writers
        if (one.mix.in_memory, one.threads) == (other.mix.in_memory, other.threads)
    ]
    if not pairs:
        return ""
    alone, beside = max(pairs, key=lambda pair: pair[0].mix.in_memory)
    return f"With writers beside them ({_share(beside)} in memory), {_change(alone, beside)}."


def _written(writers: Sequence[MixResult]) -> str:
    if not writers:
        return ""
    most = max(writers, key=lambda one: one.mix.in_memory)
    times = [
        f"{name} {wording.milliseconds(p50)} ms"
        for name, kind in (("a get takes", "get"), ("a put", "put"), ("a new account", "new"))
        if (p50 := most.median(f"{kind}_p50_ms")) is not None
    ]
    return f"In that mix {', '.join(times)} (medians)." if times else ""


def _taken(writers: Sequence[MixResult]) -> str:
    taken = max((one.median("files_written_to_memory") or 0.0 for one in writers), default=0.0)
    if taken < 1:
        return ""
    return f"Up to {taken:,.0f} files that were written took memory, and nobody asked for them."


def _share(one: MixResult) -> str:
    share = one.mix.in_memory
    return "all files" if share == 1 else "none" if not share else wording.percent(share)


def _change(before: MixResult, after: MixResult) -> str:
    """Of the gets."""
    rates = [one.median("get_rps") for one in (before, after)]
    times = [one.median("get_p99_ms") for one in (before, after)]
    parts = []
    if rates[0] and rates[1]:
        parts.append(
            f"{wording.rate(rates[0])} gets/s become {wording.rate(rates[1])} "
            f"({wording.times(rates[1] / rates[0])})"
        )
    if times[0] and times[1]:
        parts.append(
            f"their p99 goes from {wording.milliseconds(times[0])} to "
            f"{wording.milliseconds(times[1])} ms"
        )
    return " and ".join(parts) or "nothing is known of the gets"
