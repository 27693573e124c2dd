"""The views of downloads: rates and round trips over the number of channels."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...plan.catalog import Stage
from ...report import sheet
from ...report.charts.line_chart import Curve
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.tables import printed
from . import analysis as attempts
from . import words
from .analysis import FORETOLD, RATE, ROUND_TRIP, Attempts

_SIZE = (640.0, 200.0)
_COLOURS = ("stage1", "fileserver", "authserver", "store", "network", "disk", "user", "soft")
_CAPTION = (
    "Medians of the attempts that succeeded, with the interval of their mean below; * marks the "
    "lowest and highest of two."
)

_Found = list[tuple[Stage, list[Attempts]]]
_Curves = Callable[[str, str, Sequence[Attempts]], list[Curve]]  # by series and colour


def answers(scene: Scene) -> list[str]:
    return [
        said
        for row in scene.rows
        for stage, found in _measured(scene, row)
        if (said := words.sentence(stage, found))
    ]


def figures(scene: Scene) -> list[Block]:
    """Those of the first page: what the experiment is about."""
    is_of_trips = "download_round_trips" in scene.experiment.views[:1]
    return _figures(scene, *(_TRIPS if is_of_trips else _RATES))


def rates(scene: Scene) -> list[Block]:
    found = [_rate_table(scene, row) for row in scene.rows if _measured(scene, row)]
    best = [_best_table(scene, row) for row in scene.rows]
    return [*_figures(scene, *_RATES), *(one for one in best if one.rows), *found]


def round_trips(scene: Scene) -> list[Block]:
    found = [_trip_table(scene, row) for row in scene.rows if _measured(scene, row)]
    return [*_figures(scene, *_TRIPS), *found]


def restarts(scene: Scene) -> list[Block]:
    return [
        sheet.table(
            f"Killed and started again, files of {row}",
            "Over all attempts.",
            words.RESTARTS,
            _lines(scene, row),
            keeps_empty=True,
        )
        for row in scene.rows
        if _measured(scene, row)
    ]


def _measured(scene: Scene, row: str) -> _Found:
    """The stages of which there are attempts."""
    of_stages = ((stage, scene.analysis.attempts(stage.name, row)) for stage in scene.stages)
    return [(stage, found) for stage, found in of_stages if found]


def _series(scene: Scene, stage: Stage) -> str:
    return words.series(stage, scene.environment.options.link or "")


def _lines(scene: Scene, row: str) -> list[words.Line]:
    lines = []
    for stage, found in _measured(scene, row):
        best = attempts.best(found)
        alike = best.channels_alike if best and len(found) > 1 else []
        name = _series(scene, stage)
        lines += [words.Line(name, stage, one, one.channels in alike) for one in found]
    return lines


def _rate_table(scene: Scene, row: str) -> Table:
    return sheet.table(
        f"Rates, files of {row}",
        f"{_CAPTION} ✓ marks the number of channels with the highest rate, and those that "
        "cannot be told from it.",
        words.RATES,
        _lines(scene, row),
        keeps_empty=True,
    )


def _best_table(scene: Scene, row: str) -> Table:
    found = [words.best(_series(scene, stage), each) for stage, each in _measured(scene, row)]
    return Table(
        title=f"The best number of channels, files of {row}",
        caption="Of those that were tried. As good are all of which the 99% interval does not lie "
        "below 98% of the best. A client that tries numbers of channels, and keeps the fewest "
        f"that are as good, would find these. {_CAPTION}",
        header=[
            *("series", "tried", "channels", "Mbit/s", "as good"),
            *("channels", "Mbit/s", "Mbit/s"),
        ],
        groups=[
            *(("", 2), ("the best", 2), ("", 1)),
            *(("the fewest of them", 2), ("the first tried", 1)),
        ],
        rows=[one for one in found if one],
    )


def _trip_table(scene: Scene, row: str) -> Table:
    return sheet.table(
        f"Round trips beside the downloads, files of {row}",
        "In milliseconds. ≤ where the queue is too short for all windows, or where "
        f"segments were sent again, so that windows were smaller. {_CAPTION}",
        words.ROUND_TRIPS,
        _lines(scene, row),
        keeps_empty=True,
    )


def _figures(scene: Scene, name: str, title: str, caption: str, curves: _Curves) -> list[Block]:
    """None where nothing was fetched over two numbers of channels."""
    drawn: list[Block] = []
    about, unit = scene.experiment.title, title.rpartition(", ")[2]
    for row in scene.rows:
        found = _measured(scene, row)
        channels = {one.channels for _, each in found for one in each}
        coloured = [
            curve
            for at, (stage, each) in enumerate(found)
            for curve in curves(_series(scene, stage), _COLOURS[at % len(_COLOURS)], each)
        ]
        if len(channels) > 1 and coloured:
            drawn.append(
                Figure(
                    name=f"{name}-{scene.experiment.name}-{row}",
                    title=f"{about.partition(':')[0]}. {title}, files of {row}",
                    caption=caption,
                    canvases=[_chart(f"{about}, {unit}", coloured, channels)],
                )
            )
    return drawn


def _rate_curves(name: str, colour: str, found: Sequence[Attempts]) -> list[Curve]:
    curve = _curve(name, colour, found, RATE, words.MBIT)
    shown = zip(found, curve.points)
    hollow = [point for one, point in shown if point and not one.are_all_good]
    return [replace(curve, hollow=hollow)]


def _trip_curves(name: str, colour: str, found: Sequence[Attempts]) -> list[Curve]:
    foretold = replace(_curve("", colour, found, FORETOLD), style="dash")
    curves = [_curve(name, colour, found, ROUND_TRIP), foretold]
    return [curve for curve in curves if any(curve.points)]


def _curve(
    name: str, colour: str, found: Sequence[Attempts], figure: str, factor: float = 1.0
) -> Curve:
    of_channels = [(one.channels, one.figure(figure)) for one in found]
    return sheet.curve(name, colour, of_channels, factor=factor)


_RATES = (
    "rates",
    "Rate over the channels, Mbit/s",
    "A hollow dot is the median of those attempts that succeeded, where some failed.",
    _rate_curves,
)
_TRIPS = (
    "round-trips",
    "Round trip over the channels, ms",
    "The median of each download, and of these the median over the attempts. Dashed: what all "
    "windows together take on the link, where they can be whole.",
    _trip_curves,
)


def _chart(title: str, curves: Sequence[Curve], channels: set[int]) -> Canvas:
    ends = (min(channels), max(channels))
    return sheet.chart(
        title,
        curves,
        x_title="channels",
        x_ends=ends,
        x_base=2,
        size=_SIZE,
        is_wide=True,
    )


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "download_rates": lambda scene: [*rates(scene), *printed(scene)],
    "download_restarts": restarts,
    "download_round_trips": lambda scene: [*round_trips(scene), *printed(scene)],
}
TERMS = [
    "Channels: the connections over which one file is fetched at the same time. Seen: how many of "
    "them had data at once, at most, by the kernel of the server.",
    "Rate: the size of the file over the time from the start of the client program to its end. Its "
    "log-in and start-up count. It is a median of the attempts that succeeded; a hollow dot marks "
    "one of which some failed.",
    "Of the link: the rate as a share of the rate that the link is made for, and of what iperf3 "
    "carried over it in the same run. Headers of IP and TCP take 3.5% of the former. Findings take "
    "the former less these headers, as what spoils a download spoils iperf3, too.",
    "Window: the most bytes that a connection may have under way, as the kernel of the server "
    "says, and not as it was asked for. Kernel: the memory that this kernel holds for all of these "
    "connections, at most. Sent again: segments, as a share of all. Waited: bytes that came early, "
    "at most, as our load generator says.",
    "Round trip: ten datagrams a second go to the client’s place and back, beside the download. "
    "Foretold: what the packets of all windows together take on the link, but at least its delay. "
    "Where its queue overflows, or segments are sent again, windows are smaller, and what is "
    "foretold is a bound.",
    "Killed: with SIGKILL at random moments, and started again with what it takes to go on. True "
    "beginnings: of the files that it left then, those that are a beginning of the file. Fetched "
    "again: what the server sent beyond the size of the file, with what was under way.",
    "Best number of channels: that with the highest rate, of those with which four of five "
    "attempts succeed. Alike are those of which the 99% interval does not lie below 98% of it.",
    "Chance: three attempts or more have an interval of their own. Of two, it is that of all "
    "downloads by the same program over the same link together, and at least 1% either way.",
    "Self-checks: the link was late by at most 5 ms (p99). The parts that the server’s log names "
    "make up the file, or what the client wrote is the file. An attempt that failed is an answer.",
]
