"""The commands: list, run, ab, search, report, watch, compare, doctor, limits.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 nothing that was measured counts.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from pathlib import Path
from typing import NoReturn

from rig import lock, namespace, remote
from rig.errors import Failed, NotValid, WrongUsage
from rig.servers import Programs

from . import ab, doctor, flags, limits, listing, owner, run
from .analysis import consistency
from .plan import catalog, options, plan
from .plan.plan import Options
from .report import compare, markdown, page
from .results.records import Folder
from .systems import known
from .systems.clients import known as clients

_ALL_OF_THE_HOST = "host"  # a machine without limits
_SEARCH = "001-servers"  # the experiment that searches users
_NOT_VALID = 3
_LEAST_NICE = 19
_INTERRUPTED = 130  # the status that a shell gives for SIGINT
_READER_GONE = 141  # the status that a shell gives for SIGPIPE
_RESULTS = "TURNSTILE_LAB_RESULTS"  # the folder of all results, in place of lab-results


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message)


def main(arguments: list[str]) -> int:
    try:
        parsed = _parser().parse_args(flags.with_flags_of_servers(arguments))
        status: int = parsed.command(parsed)
        sys.stdout.flush()
        return status
    except WrongUsage as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except NotValid as error:
        print(f"lab: {error}", file=sys.stderr)
        return _NOT_VALID
    except KeyboardInterrupt:
        print("lab: stopped; repeat the command with the same --out to resume", file=sys.stderr)
        return _INTERRUPTED
    except OSError as error:
        if _reader_has_gone():
            return _READER_GONE
        print(f"lab: {error.filename or 'system'}: {error.strerror or error}", file=sys.stderr)
        return 1


def _reader_has_gone() -> bool:
    """Whether nobody reads the output any more, as behind `| head`. What is left is dropped."""
    try:
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        if not output.poll(0):
            return False
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # no output, or one of a test that has no descriptor
        return False
    return True


_Commands = argparse._SubParsersAction  # generic for mypy only


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lab",
        description="Measures the tables and figures of the papers on this machine.",
        epilog="Begin with `lab doctor prefetch --quick`. `lab COMMAND --help` has examples.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_list(commands)
    _add_run(commands)
    _add_ab(commands)
    _add_search(commands)
    _add_results(commands)
    _add_host(commands)
    return parser


def _add_list(commands: _Commands[_Parser]) -> None:
    listed = commands.add_parser(
        "list", help="print the experiments, stages, rows and pinning plans"
    )
    listed.add_argument(
        "--all", action="store_true", help="the stages, servers and machines of all papers, too"
    )
    listed.add_argument(
        "--why",
        metavar="NAME",
        help="the files that make this experiment, from its data to its report",
    )
    listed.set_defaults(command=_list)


def _add_run(commands: _Commands[_Parser]) -> None:
    measuring = _with_examples(
        commands,
        "run",
        "EXPERIMENT... [FLAGS]",
        f"{flags.STATUSES}\n{flags.RUN_EXAMPLES}",
        "measure experiments and write a report",
    )
    flags.add_experiments(measuring, are_needed=True)
    flags.add_plan(measuring)
    flags.add_measuring(measuring)
    measuring.set_defaults(command=_run)


def _add_ab(commands: _Commands[_Parser]) -> None:
    compared = _with_examples(
        commands,
        "ab",
        "STAGE [FLAGS]",
        f"{flags.AB_STATUSES}\n{flags.AB_EXAMPLES}",
        "compare two variants of a stage side by side, and say in one sentence how they differ",
    )
    compared.add_argument("stage", metavar="STAGE", help="a stage of `lab list`")
    flags.add_ab(compared)
    compared.set_defaults(command=_ab)


def _add_search(commands: _Commands[_Parser]) -> None:
    search = commands.add_parser("search", help="search the most that systems can bear")
    searches = search.add_subparsers(required=True, metavar="WHAT")
    users = _with_examples(
        searches,
        "users",
        "[FLAGS]",
        f"{flags.STATUSES}\n{flags.SEARCH_EXAMPLES}",
        "the most slow users of a crowd that hold, by doubling, halving and confirming",
    )
    flags.add_users(users)
    flags.add_experiments(users, are_needed=False)
    flags.add_plan(users)
    flags.add_measuring(users)
    users.set_defaults(command=_search_users)


def _add_results(commands: _Commands[_Parser]) -> None:
    report = commands.add_parser("report", help="write the report of a results folder again")
    report.add_argument("folder", type=Path)
    report.add_argument(
        "--pack",
        action="store_true",
        help="then move all that was recorded into one archive, recorded.zip; it is read as well",
    )
    report.set_defaults(command=_report)
    watched = commands.add_parser(
        "watch", help="write the report of a folder whose run goes on, until the run has ended"
    )
    watched.add_argument("folder", type=Path)
    watched.set_defaults(command=_watch)
    compared = commands.add_parser(
        "compare", help="compare two results folders: cells, verdicts, gains"
    )
    compared.add_argument("a", type=Path)
    compared.add_argument("b", type=Path)
    compared.set_defaults(command=_compare)


def _add_host(commands: _Commands[_Parser]) -> None:
    examined = _with_examples(
        commands,
        "doctor",
        "[EXPERIMENT...] [FLAGS]",
        flags.DOCTOR_EXAMPLES,
        "check what this host lacks for an experiment",
    )
    flags.add_experiments(examined, are_needed=False)
    flags.add_plan(examined)
    examined.set_defaults(command=_doctor)
    tried = commands.add_parser(
        "limits", help="find by trying how many connections this host can bear"
    )
    tried.add_argument("--json", type=Path, metavar="FILE", help="write them to FILE too")
    tried.set_defaults(command=_limits)


def _with_examples(
    commands: _Commands[_Parser], name: str, usage: str, examples: str, purpose: str
) -> _Parser:
    """A command with so many flags that its usage does not list them."""
    return commands.add_parser(
        name,
        help=purpose,
        usage=f"%(prog)s {usage}",
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _list(parsed: argparse.Namespace) -> int:
    if parsed.why:
        listing.why(parsed.why)
    else:
        listing.show(is_all=parsed.all)
    return 0


def _run(parsed: argparse.Namespace) -> int:
    chosen = options.checked(parsed)
    _reach_client(chosen)
    out, work = _out(parsed).resolve(), parsed.work.resolve()
    with owner.gives_to_caller(work / "files", work / "stores"):
        if not namespace.is_inside():
            known.fetch(_systems_of(chosen), work)
            clients.fetch(_clients_of(chosen), work)
    _enter_namespace(chosen)
    programs = Programs(parsed.programs.resolve())
    with (
        lock.only_lab(waits=parsed.wait),
        owner.gives_to_caller(*_ours(out), work / "files", work / "stores"),
    ):
        doctor.before_a_run(chosen, programs.folder, work, is_anyway=parsed.anyway)
        places = run.Places(out, work, programs)
        watch = page.watching(page.write) if parsed.watch else None
        run.run(chosen, places, page.write, is_anyway=parsed.anyway, watch=watch)
    return 0


def _ab(parsed: argparse.Namespace) -> int:
    experiment, row = ab.row_of(parsed)
    threads = ab.number("--threads", parsed.threads, most=10_000)
    blocks = ab.number("--blocks", parsed.blocks, most=1_000)
    words = ["run", experiment, "--quick", "--stages", parsed.stage, "--sizes", row]
    words += ["--threads", str(threads), "--seconds", parsed.seconds, "--pin", parsed.pin]
    words += ["--store", parsed.store] if parsed.store else []
    chosen = options.checked(_parser().parse_args(words))
    parsed.experiments = ["ab", parsed.stage]
    out, work = _out(parsed).resolve(), parsed.work.resolve()
    _enter_namespace(chosen)
    ours = (*_ours(out), work / "files", work / "stores", work / "commits")
    with lock.only_lab(waits=parsed.wait), owner.gives_to_caller(*ours):
        asked = ab.Asked(parsed.stage, row, threads, blocks, ab.variants(parsed, work))
        places = run.Places(out, work, Programs(parsed.programs.resolve()))
        return ab.measure(asked, chosen, places)


def _out(parsed: argparse.Namespace) -> Path:
    if parsed.out:
        return Path(parsed.out)
    name = f"{'-'.join(parsed.experiments)}-{time.strftime('%Y%m%d-%H%M%S')}"
    return Path(os.environ.get(_RESULTS) or "lab-results") / name


def _ours(folder: Path) -> list[Path]:
    """The results folder, unless it is one that has something else in it."""
    is_new = not folder.exists() or not any(folder.iterdir())
    return [folder] if is_new or Folder(folder).find_environment() else []


def _reach_client(chosen: Options) -> None:
    """Before anything is prepared. Failed if ssh does not get there."""
    if chosen.has_remote_client and not chosen.hosts and not namespace.is_inside():
        try:
            remote.ask(chosen.client, "true")
        except Failed as error:
            hint = f"`ssh {chosen.client}` must work without a password"
            raise Failed(f"{error}; {hint}") from error


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


def _clients_of(chosen: Options) -> list[str]:
    stages = [catalog.stages()[name] for one in plan.experiments_of(chosen) for name in one.stages]
    found = [stage.download.client for stage in stages if stage.download]
    for name in found:
        clients.checked(name)  # WrongUsage if there is none
    return found


def _enter_namespace(chosen: Options) -> None:
    """Another host could not reach us there."""
    if not chosen.has_remote_client:
        namespace.enter()


def _report(parsed: argparse.Namespace) -> int:
    with owner.gives_to_caller(*_ours(parsed.folder)):
        folder = Folder(parsed.folder)
        folder.environment()  # Failed without one
        if found := consistency.contradictions(folder.runs()):
            more = f" (and {len(found) - 1} more)" if found[1:] else ""
            raise Failed(
                f"{folder.path} contradicts itself, so it gets no report: {found[0]}{more}"
            )
        page.write(folder)
        if parsed.pack:
            folder.pack()
    print(parsed.folder / "report.html")
    return 0


def _watch(parsed: argparse.Namespace) -> int:
    """Another process measures, so this one is the last to get a core."""
    os.nice(_LEAST_NICE)
    folder, watch = Folder(parsed.folder), page.watching(page.write)
    folder.environment()  # Failed without one
    print(parsed.folder / "report.html", flush=True)
    with owner.gives_to_caller(*_ours(parsed.folder)):
        while not folder.environment().is_complete:
            watch(folder)
            time.sleep(page.WATCHED_S)
        print(page.write(folder))
    return 0


def _compare(parsed: argparse.Namespace) -> int:
    print(markdown.render(compare.document(Folder(parsed.a), Folder(parsed.b))), end="")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    parsed.experiments = parsed.experiments or ["all"]
    chosen = options.checked(parsed)
    _enter_namespace(chosen)
    work = parsed.work.resolve()
    with owner.gives_to_caller(work / "files"):
        return doctor.examine(chosen, parsed.programs.resolve(), work)


def _limits(parsed: argparse.Namespace) -> int:
    namespace.enter()  # where no port is in use
    return limits.show(parsed.json)
