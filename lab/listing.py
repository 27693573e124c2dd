"""`lab list`: what can be measured, the main paper first."""

from __future__ import annotations

from collections.abc import Iterable

from .plan import catalog, links, machines, papers, pinning
from .systems import known
from .systems.clients.known import CLIENTS

_NAME, _LONG_NAME = 14, 22  # columns of the names

Row = tuple[str, str]  # a name, and what it means


def show(*, is_all: bool) -> None:
    """The rest is that of the other papers: their stages, servers and machines."""
    main, *others = sorted(papers.names(), key=lambda paper: paper != catalog.MAIN_PAPER)
    _print(_title(main), _experiments_of(main))
    _print("its stages, for --stages", _stages_of([main]), _LONG_NAME)
    print(f"rows, for --sizes\n  new, {', '.join(_sizes_of(main))}")
    _print("pinning plans, for --pin", pinning.PLANS.items())
    for paper in others:
        _print(_title(paper), _experiments_of(paper))
    if not is_all:
        print("`lab list --all` has their stages, and all servers, clients, machines and links.")
        return
    _print("their stages, for --stages", _stages_of(others), _LONG_NAME)
    sizes = [size for paper in others for size in _sizes_of(paper)]
    print(f"their rows, for --sizes\n  {', '.join(sizes)}")
    servers = [(name, f"asks {whom}") for name, whom in known.asks_whom().items()]
    _print("servers", servers, _LONG_NAME)
    programs = [(name, f"package {one.package}") for name, one in CLIENTS.items()]
    _print("clients that fetch a file", programs, _LONG_NAME)
    entries = [(machine.name, machine.title) for machine in machines.machines().values()]
    _print("machines, for --machine", entries, _LONG_NAME)
    _print(
        "links with a delay, for --link",
        [(link.name, link.title) for link in links.links().values()],
        _LONG_NAME,
    )


def _title(paper: str) -> str:
    return f"experiments of the paper “{papers.numbers(paper).title}”"


def _experiments_of(paper: str) -> list[Row]:
    rows = [(one.name, one.title) for one in catalog.experiments().values() if one.paper == paper]
    also = [("all", "the same")] if paper == catalog.MAIN_PAPER else []
    return [*rows, (paper, "all of these"), *also]


def _stages_of(chosen: list[str]) -> list[Row]:
    stages = catalog.stages()
    names = [name for paper, name, _ in papers.entries("stages.json") if paper in chosen]
    return [
        (name, f"{stages[name].title}{'; ' + stages[name].store if stages[name].store else ''}")
        for name in names
    ]


def _sizes_of(paper: str) -> list[str]:
    return list(papers.read(paper, "method.json")["sizes"])


def _print(title: str, rows: Iterable[Row], width: int = _NAME) -> None:
    print(title)
    for name, meaning in rows:
        print(f"  {name:{width}} {meaning}")
