"""What `make bench` and `make bench-scale` have in common: where they run, and how they fail."""

import argparse
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rig import files, namespace
from rig.errors import Failed
from rig.host import raise_descriptor_limit
from rig.lock import only_lab
from rig.servers import Programs

from .system import Bench

_TOP = Path(__file__).resolve().parents[1]


def add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--build",
        type=Path,
        default=_TOP / "build",
        help="folder of the built programs, and of results (default: build)",
    )


def work_in(build: Path) -> Path:
    """The lab's folder, where downloaded systems are kept between runs."""
    return build.resolve() / "lab"


def carry_out(name: str, run: Callable[[], int]) -> int:
    """Runs it in a network namespace of its own, beside no other run. Returns the exit status."""
    namespace.enter()
    raise_descriptor_limit()
    try:
        with only_lab():
            return run()
    except (Failed, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted; all programs are stopped", file=sys.stderr)
        return 130


@contextmanager
def open_bench(
    build: Path, sizes: Sequence[str], *, seconds: float, rounds: int
) -> Iterator[Bench]:
    """A bench with one file of each size, in a folder that is removed at the end.

    It is beside the programs and not in /tmp, which is often memory.
    """
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as name:
        bench = Bench(
            programs=Programs(build),
            folder=Path(name),
            root=Path(name) / "files",
            seconds=seconds,
            rounds=rounds,
            password=secrets.token_hex(8),
        )
        files.make(bench.root, sizes, count=1)
        yield bench
