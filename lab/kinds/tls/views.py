"""The view of TLS: what it adds to a kept request, and what a handshake costs."""

from collections.abc import Callable, Sequence

from ...analysis import passes
from ...analysis.intervals import Spread
from ...analysis.passes import RATE
from ...plan.catalog import sizes
from ...report import sheet, wording
from ...report.charts.svg import Canvas
from ...report.document import Block, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column
from . import KEPT, PROXY, SERVER
from . import analysis as tls
from .analysis import CPU, OF_ALL, RATE_OF_A_CORE, Others, TlsResult

_MICRO = 1e6
Other = Callable[[TlsResult, Others], TlsResult | None]


def answers(scene: Scene) -> list[str]:
    found = []
    for row in scene.rows:
        said = sentences(_results(scene, row))
        found += [" ".join([f"Files of {row}.", *said])] if said else []
    return found


def figures(scene: Scene) -> list[Block]:
    """Of kept connections over the size. None where one size was measured."""
    measured = [(row, _of(_results(scene, row), is_kept=True)) for row in scene.rows]
    measured = [(row, found) for row, found in measured if found]
    return [_over_sizes(measured)] if len(measured) > 1 else []


def tables(scene: Scene) -> list[Block]:
    found: list[Block] = []
    for row in scene.rows:
        results = _results(scene, row)
        kept, new = (_of(results, is_kept=is_kept) for is_kept in (True, False))
        found += [_of_kept(row, kept)] if kept else []
        found += [_of_new(row, new)] if new else []
    return found


def _results(scene: Scene, row: str) -> list[TlsResult]:
    return tls.of_stages(scene.analysis.runs, scene.stages, row)


def _of(results: Sequence[TlsResult], *, is_kept: bool) -> list[TlsResult]:
    return [one for one in results if (one.how.connections == KEPT) == is_kept]


def _against(other: Other, results: Others) -> Callable[[TlsResult], str]:
    """Times the CPU time of the other one; "" where there is none, or of itself."""

    def text(one: TlsResult) -> str:
        found = other(one, results)
        return sheet.times(passes.ratio(one, found, CPU) if found and found != one else None)

    return text


def _alike(results: Others) -> list[Column[TlsResult]]:
    """The columns of both tables."""
    return [
        Column("stage", lambda one: one.stage.name),
        sheet.interval("requests/s", RATE),
        sheet.interval("all servers", OF_ALL, "CPU, µs", _MICRO),
        sheet.interval("of the file", CPU, "CPU, µs", _MICRO),
        Column("of in clear", _against(tls.in_clear, results), "CPU"),
        Column("of nginx’s", _against(tls.other_servers, results), "CPU"),
    ]


def _of_kept(row: str, results: Others) -> Table:
    behind = Column("of its own TLS", _against(_own_of_a_proxy, results), "CPU")
    return sheet.table(
        f"Kept connections, files of {row}",
        "CPU time for a request: of all servers, and of those that the file passes, which are the "
        "fileserver or nginx, and nginx in front. The latter is held against the same server "
        "in clear, against nginx that does the same and asks nobody, and, behind nginx, against "
        "the same fileserver that encrypts by itself. Medians of the passes, with their interval.",
        [*_alike(results), behind],
        results,
    )


def _own_of_a_proxy(one: TlsResult, results: Others) -> TlsResult | None:
    return tls.its_own(one, results) if one.how.by == PROXY else None


def _of_new(row: str, results: Others) -> Table:
    def of_handshake(one: TlsResult) -> str:
        return sheet.with_interval(_handshake(one, results), _MICRO)

    return sheet.table(
        f"A connection for each request, files of {row}",
        "As above. A handshake: what it adds to the CPU time of a new connection in clear. Of a "
        "core: how many such connections and requests one core of the server bears in a second. "
        "Resumed, and the time of a handshake, are as the load generator saw them.",
        [
            *_alike(results),
            Column("a handshake", of_handshake, "CPU, µs"),
            sheet.interval("of a core", RATE_OF_A_CORE, "requests/s"),
            sheet.median("resumed", "resumed_share", wording.percent),
            sheet.interval("a handshake, ms", "handshake_mean_ms"),
        ],
        results,
    )


def _handshake(one: TlsResult, results: Others) -> Spread | None:
    clear = tls.in_clear(one, results)
    return tls.added(one, clear) if clear and one.how.by else None


def _over_sizes(measured: Sequence[tuple[str, Others]]) -> Figure:
    return Figure(
        name="tls-sizes",
        title="Kept connections: CPU time of a request over the size of the file",
        caption="Of the servers that the file passes, in µs. Both axes are logarithmic. Medians of "
        "the passes with their interval.",
        canvases=[
            _drawn("In clear", measured, ""),
            _drawn("In TLS", measured, SERVER),
            _drawn("In TLS behind nginx", measured, PROXY),
        ],
    )


def _drawn(title: str, measured: Sequence[tuple[str, Others]], by: str) -> Canvas:
    points: dict[str, list[tuple[float, Spread | None]]] = {}
    for row, results in measured:
        for one in results:
            if one.how.by == by:
                at = (sizes()[row].size_bytes, one.figure(CPU))
                points.setdefault(_short(one), []).append(at)
    curves = [
        sheet.curve(name, colour, own, factor=_MICRO)
        for (name, own), colour in zip(points.items(), sheet.COLOURS)
    ]
    return sheet.chart(
        title,
        curves,
        x_title="bytes",
        x_base=10,
        has_ticks=True,
        is_logarithmic=True,
        right=70.0,
    )


def _short(one: TlsResult) -> str:
    """tls-thread-clear, tls-proxy-thread: thread."""
    return one.stage.name.removeprefix("tls-").removeprefix("proxy-").removesuffix("-clear")


def sentences(results: Others) -> list[str]:
    """Those of which something was measured."""
    kept, new = (_of(results, is_kept=is_kept) for is_kept in (True, False))
    encrypted = [one for one in kept if one.how.by == SERVER]
    behind = [one for one in kept if one.how.by == PROXY]
    full = [one for one in new if one.how.by]
    said = [
        _times(
            "CPU time of a kept request in TLS, against clear text", encrypted, tls.in_clear, kept
        ),
        _times("Against nginx in TLS", encrypted, tls.other_servers, kept),
        _times("Behind nginx, against TLS of its own", behind, tls.its_own, kept),
        _handshakes(full, new),
    ]
    return [one for one in said if one]


def _times(words: str, of: Others, other: Other, results: Others) -> str:
    found = []
    for one in of:
        against = other(one, results)
        ratio = passes.ratio(one, against, CPU) if against else None
        found += [f"{_short(one)} {wording.times(ratio.median)}"] if ratio else []
    return f"{words}: {', '.join(found)}." if found else ""


def _handshakes(of: Others, results: Others) -> str:
    known = [(one, _handshake(one, results)) for one in of]
    found = [
        f"{_short(one)} {wording.microseconds(spread.median)} µs" for one, spread in known if spread
    ]
    return f"CPU time of a handshake: {', '.join(found)}." if found else ""


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "tls": lambda scene: [*figures(scene), *tables(scene)]
}
TERMS = [
    "TLS: the fileserver, or nginx, encrypts by itself, or nginx does in front of the fileserver "
    "as docs/tls/nginx.conf says. The load generator believes any certificate, so that checking "
    "it is not part of a handshake. Its threads are N, and their CPU time is in no figure of a "
    "server.",
    "CPU time of a request: of the fileserver and of nginx in front of it, or of nginx alone; of "
    "all servers, that of the authserver is in it too. nginx alone asks nobody who the user is.",
    "A handshake: within each pass, the CPU time of a request with a connection of its own in TLS, "
    "less that of one in clear. Closing in TLS is in it. Full: the client offers no ticket. "
    "Resumed: it offers that of its connection before.",
    "Self-checks: as those of any closed loop. Kept connections make no more handshakes than there "
    "are users; where each request has a full one, none is resumed; where they are to resume, nine "
    "tenths are. With --shared, points that other programs disturbed count for the CPU time, and "
    "their requests/s tell nothing.",
]
