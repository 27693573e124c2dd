"""On paper: what the demands of a run say of many hosts."""

from __future__ import annotations

from collections.abc import Callable

from ...report import sheet, wording
from ...report.document import Block, Table
from ...report.scene import Scene
from ...report.sheet import Column
from . import analysis as hosts
from .analysis import Paper, Station, steady
from .words import base, results

_COUNTS = (1, 2, 3, 10, 30, 100)
_MANY = 100


def on_paper(scene: Scene) -> list[Block]:
    """Two tables for each row whose demands are known."""
    found: list[Block] = []
    for row in scene.rows:
        source = base(steady(results(scene, row)))
        paper = hosts.on_paper(source) if source else None
        if source and paper:
            found += [_stations(row, source.stage.name, paper), _rates(row, paper)]
    return found


def _stations(row: str, stage: str, paper: Paper) -> Table:
    many_rps = _MANY * paper.core_rps
    host = f"{wording.microseconds(paper.host_demand_s)} µs"
    columns: list[Column[Station]] = [
        Column("station", lambda one: one.name),
        Column("D, µs", lambda one: wording.microseconds(one.demand_s)),
        Column("at most, requests/s", lambda one: wording.rate(one.most_rps)),
        Column("as measured", lambda one: str(one.full_at), "full at host"),
        Column("whole cores", lambda one: str(one.full_at_cores), "full at host"),
        Column("needed", lambda one: f"{one.needed(many_rps):,}"),
    ]
    return sheet.table(
        f"On paper: what is full first, files of {row}",
        f"Demands of {stage} by the utilisation law D = U / X. A request takes a host "
        f"{host}, so a host as it was measured answers {wording.rate(paper.host_rps)} in a second, "
        f"and one with a whole core {wording.rate(paper.core_rps)}. All requests pass the stations "
        "below, and one of each carries at most 1 / D. Full at: the number of hosts that bring so "
        f"much. Needed: how many of them {_MANY} hosts of a whole core need.",
        columns,
        paper.stations,
    )


def _rates(row: str, paper: Paper) -> Table:
    def most(has_whole_cores: bool) -> Callable[[int], str]:
        return lambda count: wording.rate(paper.at_most_rps(count, has_whole_cores=has_whole_cores))

    columns: list[Column[int]] = [
        Column("hosts", str),
        Column("as measured", most(False)),
        Column("hosts alone", lambda count: wording.rate(count * paper.host_rps)),
        Column("of a whole core", most(True)),
        Column("hosts alone", lambda count: wording.rate(count * paper.core_rps)),
    ]
    return sheet.table(
        f"On paper: the most that n hosts answer, files of {row}",
        "The asymptote min(n / D of a host, 1 / D of the first full station), in "
        "requests/s, with one proxy of one core, one link of it and one authserver. Hosts alone: "
        "with as many of these as are needed.",
        columns,
        _COUNTS,
    )
