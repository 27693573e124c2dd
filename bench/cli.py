"""Runs the promises of one store and prints the table."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path

from lab import namespace, stores
from lab.errors import Failed
from lab.lock import only_lab
from lab.processes import run_tool

from . import promises
from .system import Bench

_TOP = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    namespace.enter()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard), hard))
    try:
        with only_lab():
            return _run(options)
    except (Failed, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted, everything is stopped", file=sys.stderr)
        return 130


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench", description="Measures what is promised about speed, as ratios."
    )
    parser.add_argument(
        "--store", choices=stores.KINDS, default="sqlite", help="promises of this store"
    )
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default: 3)")
    parser.add_argument(
        "--rounds", type=int, default=5, help="in turns, medians compared (default: 5)"
    )
    parser.add_argument("--build", type=Path, default=_TOP / "build", help="folder of the programs")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    chosen = [promise for promise in promises.ALL if options.store in promise.stores]
    kept = 0
    # Beside the programs and not in /tmp, which is often memory.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.build.resolve()) as name:
        folder = Path(name)
        root = folder / "files"
        run_tool(
            [
                str(_TOP / "scripts/make-files"),
                "--size=1KB",
                "--size=10MB",
                "--count=1",
                f"--dir={root}",
            ],
            "make-files",
        )
        print(
            f"store {options.store}, {options.rounds} rounds of {options.seconds:g} s, "
            f"{'a network namespace of its own' if namespace.is_inside() else 'the host network'}\n",
            flush=True,
        )
        for promise in chosen:
            kept += _measure(
                promise,
                Bench(options.build.resolve(), folder, root, options.seconds, options.rounds),
                options.store,
            )
    print(f"\n{kept} of {len(chosen)} promises kept")
    return 0 if kept == len(chosen) else 1


def _measure(promise: promises.Promise, bench: Bench, kind: str) -> bool:
    store = stores.start(kind, bench.folder / "store", bench.cores)
    try:
        outcome = promise.measure(bench, store)
    finally:
        store.stop()
    is_kept = promise.is_kept(outcome)
    sign = "<=" if promise.at_most else ">="
    print(
        f"{'kept  ' if is_kept else 'BROKEN'} {promise.title}: {outcome.ratio:.2f} ({sign} {promise.limit:g})\n"
        f"       {outcome.evidence}",
        flush=True,
    )
    return is_kept
