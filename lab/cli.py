"""The commands: list, run, report, compare, doctor, limits.

Exit status: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NoReturn

from . import doctor, limits, run
from .plan import catalog, machines, options, papers, pinning, plan
from .plan.plan import Options
from .plan.planned import BLOCKED, CYCLED, INTERLEAVED
from .report import compare, markdown, page
from .results.records import Folder
from .rig import lock, namespace
from .rig.errors import Failed, WrongUsage
from .rig.servers import Programs
from .rig.stores import KINDS
from .systems import known
from .workloads.crowd import ENGINES

_ROOT = Path(__file__).resolve().parent.parent
_ALL_OF_THE_HOST = "host"  # a machine without limits
_SEARCH = "001-servers"  # the experiment that searches users
_INTERRUPTED = 130  # the status that a shell gives for SIGINT


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message)


def main(arguments: list[str]) -> int:
    try:
        parsed = _parser().parse_args(arguments)
        status: int = parsed.command(parsed)
        return status
    except WrongUsage as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: stopped; repeat the command with the same --out to resume", file=sys.stderr)
        return _INTERRUPTED
    except OSError as error:
        print(f"lab: {error.filename or 'system'}: {error.strerror or error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lab",
        description="Measures the tables and figures of the paper on this machine.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser(
        "list", help="print the experiments, stages, sizes, machines and pinning plans"
    )
    listing.set_defaults(command=_list)
    run = commands.add_parser(
        "run", help="measure experiments and write a report", allow_abbrev=False
    )
    _add_plan_flags(run)
    _add_out(run)
    run.set_defaults(command=_run)
    _add_search(commands)
    report = commands.add_parser("report", help="write the report of a results folder again")
    report.add_argument("folder", type=Path)
    report.set_defaults(command=_report)
    compare = commands.add_parser(
        "compare", help="compare two results folders: cells, verdicts, gains"
    )
    compare.add_argument("a", type=Path)
    compare.add_argument("b", type=Path)
    compare.set_defaults(command=_compare)
    doctor = commands.add_parser(
        "doctor", help="check what this host lacks for an experiment", allow_abbrev=False
    )
    _add_plan_flags(doctor, names_needed=False)
    doctor.set_defaults(command=_doctor)
    limits = commands.add_parser(
        "limits", help="find by trying how many connections this host can bear"
    )
    limits.add_argument("--json", type=Path, metavar="FILE", help="write them to FILE too")
    limits.set_defaults(command=_limits)
    return parser


def _add_search(commands: argparse._SubParsersAction[_Parser]) -> None:
    search = commands.add_parser("search", help="search the most that systems can bear")
    searches = search.add_subparsers(required=True, metavar="WHAT")
    users = searches.add_parser(
        "users",
        help="the most slow users of a crowd that hold, by doubling, halving and confirming",
        allow_abbrev=False,
    )
    _add_plan_flags(users, names_needed=False)
    _add_out(users)
    users.add_argument("--targets", metavar="A,B", help="the same as --stages")
    users.add_argument(
        "--file", metavar="SIZE", help="the same as --sizes, for one (default: 10KB)"
    )
    users.set_defaults(command=_search_users)


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="results folder; an existing one is resumed (default: lab-results/…)",
    )


def _add_plan_flags(parser: argparse.ArgumentParser, names_needed: bool = True) -> None:
    parser.add_argument(
        "experiments",
        nargs="+" if names_needed else "*",
        metavar="EXPERIMENT",
        help="a name from `lab list`, the number of a paper, or all",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="short points and few repetitions; shows the shape in minutes",
    )
    parser.add_argument(
        "--stages", metavar="A,B", help="measure these stages instead of the experiment's own"
    )
    parser.add_argument("--sizes", metavar="A,B", help="measure only these rows: new, 1KB … 100MB")
    parser.add_argument(
        "--threads",
        metavar="N,N",
        help="measure exactly these numbers of threads, users or transfers; no stop rule",
    )
    parser.add_argument("--seconds", metavar="S", help="duration of a point")
    parser.add_argument(
        "--repeat", metavar="N", help="how often the points that decide are measured"
    )
    parser.add_argument(
        "--p99", metavar="MS", help="knee: search the highest rate that keeps p99 under MS"
    )
    parser.add_argument(
        "--rate", metavar="BYTES_S", help="crowds: what each user reads in a second"
    )
    parser.add_argument(
        "--engine", choices=ENGINES, help="crowds: how the load generator waits for bytes"
    )
    parser.add_argument(
        "--order",
        choices=(INTERLEAVED, CYCLED, BLOCKED),
        default=INTERLEAVED,
        help="of the repetitions; interleaved: passes over all cells, every second one backwards; "
        "cycled: all forwards; blocked: those of a burst in a row",
    )
    parser.add_argument("--gap", metavar="S", help="wait so long between two trials")
    parser.add_argument(
        "--discard", metavar="N", help="bursts: the first N repetitions are in no table"
    )
    parser.add_argument(
        "--hold",
        choices=("freeze",),
        help="bursts: freeze the processes of the program that serves files while all ask",
    )
    parser.add_argument(
        "--machine",
        metavar="NAME",
        help="a machine of `lab list` for the program that serves files, by a control group",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="the most memory of that program, in place of the machine's: 512M, 1G",
    )
    parser.add_argument(
        "--store", metavar="KIND", help=f"use this store for every stage: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--pin",
        default="auto",
        metavar="PLAN",
        help="a plan of `lab list`, or fileserver=0,loadgen=1-2 (default: auto)",
    )
    parser.add_argument(
        "--client",
        metavar="HOST",
        help="where the load generator runs: a host that ssh reaches without a password, or netns "
        "for a network namespace of its own on this machine (default: here, over loopback)",
    )
    parser.add_argument(
        "--link", metavar="RATE", help="the rate of the link to that namespace: 10mbit, 1gbit"
    )
    parser.add_argument(
        "--note",
        metavar="TEXT",
        help="what differed from the usual, and what that may do; the report prints it",
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=_ROOT / "build" / "lab",
        metavar="FOLDER",
        help="folder for test files and stores; must be on a disk (default: build/lab)",
    )
    parser.add_argument(
        "--programs",
        type=Path,
        default=_ROOT / "build",
        metavar="FOLDER",
        help="folder of the built programs (default: build)",
    )


def _list(_parsed: argparse.Namespace) -> int:
    print("experiments")
    for experiment in catalog.experiments().values():
        print(f"  {experiment.name:10} {experiment.title}")
    for paper in papers.names():
        print(f"  {paper:10} all experiments of the paper “{papers.numbers(paper).title}”")
    print(
        f"  {'all':10} the same as {catalog.MAIN_PAPER}; what several need is measured once\nstages"
    )
    for stage in catalog.stages().values():
        print(f"  {stage.name:20} {stage.title}{'; ' + stage.store if stage.store else ''}")
    print("servers")
    for name, asks_whom in known.asks_whom().items():
        print(f"  {name:20} asks {asks_whom}")
    print(f"rows\n  new, {', '.join(catalog.sizes())}\nmachines")
    for machine in machines.machines().values():
        print(f"  {machine.name:20} {machine.title}")
    print("pinning plans")
    for name, meaning in pinning.PLANS.items():
        print(f"  {name:10} {meaning}")
    return 0


def _run(parsed: argparse.Namespace) -> int:
    chosen = options.checked(parsed)
    if not namespace.is_inside():
        known.fetch(_systems_of(chosen), parsed.work.resolve())
    _enter_namespace(chosen)
    out = (
        parsed.out
        or Path("lab-results") / f"{'-'.join(parsed.experiments)}-{time.strftime('%Y%m%d-%H%M%S')}"
    )
    with lock.only_lab():
        run.run(
            chosen,
            run.Places(out.resolve(), parsed.work.resolve(), Programs(parsed.programs.resolve())),
            page.write,
        )
    return 0


def _search_users(parsed: argparse.Namespace) -> int:
    """One experiment of a paper, with other servers, another file or another rate.

    The servers have all of this host unless the command line says otherwise.
    """
    if parsed.experiments:
        raise WrongUsage(f"'{parsed.experiments[0]}': name the servers with --targets")
    parsed.experiments = [_SEARCH]
    parsed.machine = parsed.machine or _ALL_OF_THE_HOST
    parsed.stages = parsed.targets or parsed.stages
    parsed.sizes = parsed.file or parsed.sizes
    return _run(parsed)


def _systems_of(chosen: Options) -> list[str]:
    names = {name for experiment in plan.experiments_of(chosen) for name in experiment.stages}
    return [known.checked(stage) for name, stage in catalog.stages().items() if name in names]


def _enter_namespace(chosen: Options) -> None:
    """Another host could not reach us there."""
    if not chosen.has_remote_client:
        namespace.enter()


def _report(parsed: argparse.Namespace) -> int:
    page.write(Folder(parsed.folder))
    print(parsed.folder / "report.html")
    return 0


def _compare(parsed: argparse.Namespace) -> int:
    print(markdown.render(compare.document(Folder(parsed.a), Folder(parsed.b))), end="")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    parsed.experiments = parsed.experiments or ["all"]
    chosen = options.checked(parsed)
    _enter_namespace(chosen)
    return doctor.examine(chosen, parsed.programs.resolve(), parsed.work.resolve())


def _limits(parsed: argparse.Namespace) -> int:
    namespace.enter()  # where no port is in use
    return limits.show(parsed.json)
