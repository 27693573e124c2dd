"""Measures how cost grows, and writes the table and the drawing."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rig.cores import usable_cores

from . import growth, scaling
from .command import add_build, carry_out, open_bench
from .growth import Curve
from .system import Bench

_QUICK_MOST = 10_000


@dataclass(frozen=True)
class Axis:
    """What grows, up to which number, and by which factor."""

    measure: Callable[[Bench, Sequence[int]], list[Curve]]
    most: int
    factor: int = 10

    def steps(self, most: int | None) -> list[int]:
        """From 1 to the largest number, both of them included."""
        end = self.most if most is None else min(self.most, most)
        steps = [1]
        while steps[-1] * self.factor < end:
            steps.append(steps[-1] * self.factor)
        return steps if steps[-1] == end else [*steps, end]


AXES = {
    "cores": Axis(scaling.cores, len(usable_cores()), factor=2),
    "connections": Axis(scaling.connections, 10_000),
    "files": Axis(scaling.file_counts, 100_000),
    "accounts-sqlite": Axis(scaling.accounts_in_sqlite, 1_000_000),
    "accounts-redis": Axis(scaling.accounts_in_redis, 1_000_000),
}


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    return carry_out("bench-scale", lambda: _run(options))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench-scale",
        description="Measures how cost grows with cores, connections, files and accounts. Prints a "
        "table and a sentence for each figure, and draws them.",
    )
    parser.add_argument(
        "axis", nargs="*", help=f"let only these grow: {', '.join(AXES)} (default: all)"
    )
    parser.add_argument("--most", type=int, help="stop at this number (default: up to 1,000,000)")
    parser.add_argument("--seconds", type=float, help="duration of each measurement (default: 3)")
    parser.add_argument(
        "--quick", action="store_true", help=f"the same as --most {_QUICK_MOST} --seconds 1"
    )
    add_build(parser)
    options = parser.parse_args(arguments)
    if unknown := [axis for axis in options.axis if axis not in AXES]:
        parser.error(f"unknown axis: {', '.join(unknown)}")
    if options.most is not None and options.most < 1:
        parser.error("--most must be at least 1")
    if options.quick and options.most is None:
        options.most = _QUICK_MOST
    if options.seconds is None:
        options.seconds = 1.0 if options.quick else 3.0
    return options


def _run(options: argparse.Namespace) -> int:
    build = options.build.resolve()
    curves: list[Curve] = []
    with open_bench(build, ("1KB",), seconds=options.seconds, rounds=1) as bench:
        for name, axis in AXES.items():
            if not options.axis or name in options.axis:
                steps = axis.steps(options.most)
                print(f"{name}: {', '.join(f'{step:,}' for step in steps)}", flush=True)
                curves += axis.measure(bench, steps)
    text = f"{growth.table(curves)}\n\n" + "\n".join(curve.sentence() for curve in curves)
    print(f"\n{text}\n")
    for suffix, content in ((".txt", f"{text}\n"), (".svg", growth.drawing(curves))):
        (build / f"scale{suffix}").write_text(content, encoding="utf-8")
    print(f"written: {build / 'scale.txt'}, {build / 'scale.svg'}")
    return 0
