"""`lab list`: what can be measured, the main paper first, and which files make an experiment."""

import sys
from collections.abc import Iterable
from inspect import cleandoc
from types import ModuleType

from rig.errors import WrongUsage

from .analysis import cells
from .plan import catalog, machines, papers, pinning, plan
from .plan.catalog import Experiment
from .procedures import campaign, measure, sweep
from .report import page
from .results import records
from .systems import known
from .systems.clients.known import CLIENTS

_NAME, _LONG_NAME, _PATH = 14, 22, 36  # columns of the names
_DATA = {  # the files of a paper
    "experiments.json": "its entry: stages, rows, views",
    "stages.json": "the flags of each stage",
    "method.json": "sizes of files, and how long and how often a point is measured",
    "numbers.json": "what the paper printed",
    "findings.json": "what the paper found, as claims",
}

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
        [(link.name, link.title) for link in machines.links().values()],
        _LONG_NAME,
    )


def why(name: str) -> None:
    """The files that make an experiment, from data to report. WrongUsage for none, and for many."""
    chosen = catalog.choose_experiments([name])
    if len(chosen) != 1:
        raise WrongUsage(f"'{name}' has {len(chosen)} experiments: name one of them")
    paper = chosen[0].paper
    data = [(name, says) for name, says in _DATA.items() if (papers.FOLDER / paper / name).exists()]
    rows = [(f"lab/papers/{paper}/{name}", says) for name, says in data]
    for module in dict.fromkeys(_modules_of(chosen[0])):
        path = f"{module.__name__.replace('.', '/')}{'/__init__' * hasattr(module, '__path__')}.py"
        rows.append((path, cleandoc(module.__doc__ or "").splitlines()[0]))
    _print(f"{name}: {chosen[0].title}", rows, _PATH)


def _modules_of(experiment: Experiment) -> list[ModuleType]:
    kind, stages = experiment.kind, [catalog.stages()[stage] for stage in experiment.stages]
    systems = [sys.modules[type(known.of(stage)).__module__] for stage in stages]
    procedure = kind.part("procedure") or sweep
    measuring = [kind.part("load"), campaign, procedure, measure]
    saying = [kind.part("analysis"), kind.part("findings")]
    own = sys.modules[f"{kind.__module__.rpartition('.')[0]}.{kind.name}"]
    views = [sys.modules[page.VIEWS[view].__module__] for view in experiment.views]
    measured = [plan, *systems, own, *measuring, records, cells, *saying] if stages else []
    return [module for module in (catalog, *measured, *views, page) if module]


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
