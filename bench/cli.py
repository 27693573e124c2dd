"""Runs the promises of one store and prints the table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from lab.rig import files, namespace, stores
from lab.rig.errors import Failed
from lab.rig.host import raise_descriptor_limit
from lab.rig.lock import only_lab
from lab.rig.servers import Programs

from . import promises
from .system import Bench

_TOP = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    namespace.enter()
    raise_descriptor_limit()
    try:
        with only_lab():
            return _run(options)
    except (Failed, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted; all programs are stopped", file=sys.stderr)
        return 130


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Measures the project's promises about speed. Each is a ratio of two figures "
        "that are measured alternately in one run.",
    )
    parser.add_argument(
        "--store",
        choices=tuple(stores.KINDS),
        default="sqlite",
        help="measure the promises for this store (default: sqlite)",
    )
    parser.add_argument(
        "--seconds", type=float, default=3, help="duration of each measurement (default: 3)"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="how often the two sides are measured; their medians are compared (default: 5)",
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=_TOP / "build",
        help="folder of the built programs (default: build)",
    )
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    chosen = [promise for promise in promises.ALL if options.store in promise.stores]
    # Beside the programs and not in /tmp, which is often memory.
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as name:
        bench = Bench(
            programs=Programs(build),
            folder=Path(name),
            root=Path(name) / "files",
            seconds=options.seconds,
            rounds=options.rounds,
        )
        files.make(bench.root, ("1KB", "10MB"), count=1)
        where = "its own network namespace" if namespace.is_inside() else "the host's network"
        print(
            f"store {options.store}, {bench.rounds} rounds of {bench.seconds:g} s, {where}\n",
            flush=True,
        )
        kept = [_measure(promise, bench, options.store) for promise in chosen]
    print(f"\n{sum(kept)} of {len(chosen)} promises kept")
    return 0 if all(kept) else 1


def _measure(promise: promises.Promise, bench: Bench, kind: str) -> bool:
    store = stores.start(kind, bench.folder / "store")
    try:
        outcome = promise.measure(bench, store)
    finally:
        store.stop()
    is_kept = promise.is_kept(outcome)
    sign = "<=" if promise.at_most else ">="
    print(
        f"{'kept  ' if is_kept else 'BROKEN'} {promise.title}: "
        f"{outcome.ratio:.2f} ({sign} {promise.limit:g})\n"
        f"       {outcome.evidence}",
        flush=True,
    )
    return is_kept
