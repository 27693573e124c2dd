"""The view of mixes: hits and response times over the memory, with writers and without."""

from __future__ import annotations

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
from . import words
from .analysis import Held, MixResult


def answers(scene: Scene) -> list[str]:
    found = []
    for row in scene.rows:
        said = words.sentences(_results(scene, row), row, _files(scene, row))
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
    "further one fits, and drops none for another one.",
    "Hits: of the files that were sent, those from the fileserver’s memory, by its telemetry, "
    "with those of the warm-up. The page cache of the system may have had the others. By name: "
    "the share of the requests for the files that come first by name, by how popular they are. "
    "Best: the same of the most popular files.",
    "Self-checks: X·R is within 3% of N. Bytes = gets and puts × size. At most 1% of the requests "
    "failed, and each kind succeeded at least once. Other programs used at most 10% of the cores. "
    "A run that fails one is in no table.",
]
