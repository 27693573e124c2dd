"""Runs the promises of one store and prints the table."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.systems import known
from lab.systems.peers.packages import LeftOut
from rig import namespace, stores
from rig.errors import Failed, WrongUsage

from . import before, promises
from .command import add_build, carry_out, open_bench, work_in
from .promise import Outcome, Promise
from .system import Bench

_SIZES = ("1KB", "100KB", "1MB", "10MB")
_QUICK = {"seconds": 1.0, "rounds": 3}
_USUAL = {"seconds": 3.0, "rounds": 5}


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    try:
        rows = before.promises(options.before) if options.before else ()
        chosen = choose(rows or promises.OF_STORE[options.store], options.name)
    except (WrongUsage, Failed) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if not namespace.is_inside():
        known.fetch(
            (name for promise in chosen for name in promise.fetched), work_in(options.build)
        )
    return carry_out("bench", lambda: _run(options, chosen))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Measures the project's promises about speed. Each is a ratio of two figures "
        "that are measured alternately in one run. The exit status is 1 if one is not kept.",
    )
    parser.add_argument("name", nargs="*", help="measure only these promises (default: all)")
    parser.add_argument(
        "--store",
        choices=tuple(promises.OF_STORE),
        default="sqlite",
        help="measure the promises for this store (default: sqlite)",
    )
    parser.add_argument("--seconds", type=float, help="duration of each measurement (default: 3)")
    parser.add_argument(
        "--rounds",
        type=int,
        help="how often the two sides are measured; their medians are compared (default: 5)",
    )
    parser.add_argument("--quick", action="store_true", help="the same as --seconds 1 --rounds 3")
    parser.add_argument(
        "--before",
        type=Path,
        metavar="BUILD",
        help="measure the programs of this build beside those of that folder, each row as now / "
        "before, in place of the promises",
    )
    add_build(parser)
    options = parser.parse_args(arguments)
    for name, value in (_QUICK if options.quick else _USUAL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def choose(all_of_store: Sequence[Promise], names: Sequence[str]) -> list[Promise]:
    """The promises with these names, or all without names. WrongUsage for an unknown one."""
    known = [promise.name for promise in all_of_store]
    for name in names:
        if name not in known:
            raise WrongUsage(f"no promise is called '{name}'; there are {', '.join(known)}")
    return [promise for promise in all_of_store if not names or promise.name in names]


def _run(options: argparse.Namespace, chosen: Sequence[Promise]) -> int:
    build = options.build.resolve()
    with open_bench(build, _SIZES, seconds=options.seconds, rounds=options.rounds) as bench:
        print(
            f"store {options.store}, {bench.rounds} rounds of {bench.seconds:g} s, {_network()}\n",
            flush=True,
        )
        rows = [
            (promise, outcome)
            for promise in chosen
            if (outcome := _measure(promise, bench, options.store))
        ]
    print(f"\n{table(rows)}\n")
    kept = sum(promise.is_kept(outcome) for promise, outcome in rows)
    skipped = len(chosen) - len(rows)
    print("\n".join(["What the gates take (docs/checks.md):", *gates(), ""]))
    print(f"{kept} of {len(rows)} promises kept" + (f", {skipped} skipped" if skipped else ""))
    return 0 if kept == len(rows) else 1


def gates() -> list[str]:
    """The rows of the table in docs/checks.md into which each gate writes what it took."""
    page = Path(__file__).resolve().parents[1] / "docs" / "checks.md"
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d.–]+) \| ([\d.–]+) \|", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    return [f"  {name:<6} {clock:>5} min, {cpu:>5} min of CPU" for name, clock, cpu in rows]


def _network() -> str:
    """Where this runs. All systems of a run have the same congestion control."""
    control = namespace.settings()["net.ipv4.tcp_congestion_control"]
    if namespace.is_inside():
        return f"its own network namespace, {control}"
    tracked = namespace.tracked_connections()
    warning = f", which tracks {tracked:,} connections: rates suffer" if tracked else ""
    return f"the host's network, {control}{warning}"


def _measure(promise: Promise, bench: Bench, kind: str) -> Outcome | None:
    """Nothing if a peer is not installed."""
    if missing := promise.missing():
        print(f"skipped {promise.name}: {', '.join(missing)} missing: scripts/setup bench")
        return None
    print(f"{promise.name}: ", end="", flush=True)
    store = stores.start(kind, bench.folder / "store")
    try:
        outcome = promise.measure(bench, store)
    except LeftOut as reason:
        print(f"skipped: {reason}", flush=True)
        return None
    finally:
        store.stop()
    print(f"{outcome.ratio:.2f}, {outcome.evidence}", flush=True)
    return outcome


def table(rows: Sequence[tuple[Promise, Outcome]]) -> str:
    """One line for each promise, its columns under their titles."""
    cells = [("", "name", "promised", "measured", "ratio of")]
    for promise, outcome in rows:
        verdict = "kept" if promise.is_kept(outcome) else "BROKEN"
        measured = f"{outcome.ratio:.2f}"
        cells.append((verdict, promise.name, promise.limit_text(), measured, promise.title))
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells
    )
