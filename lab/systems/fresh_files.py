"""Files that are made anew for each burst, as the thesis about bursts did to keep them uncached.

Whoever has just written a file has it in the cache, so there are two ways: `created` leaves it as
it was written, `dropped` throws it out of the cache.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rig.control_group import ControlGroup
from rig.errors import Failed
from rig.processes import run_tool

CREATED, DROPPED = "created", "dropped"

# Needs almost no memory, which counts where the group has little.
_WRITE = """
size=$1; shift
for file; do rm -f "$file" && head -c "$size" /dev/urandom >"$file" && sync "$file" || exit 1; done
"""


@contextmanager
def folder(work: Path) -> Iterator[Path]:
    """An empty one, which is removed with its files when the block is left."""
    made = work / "fresh"
    shutil.rmtree(made, ignore_errors=True)  # of a lab that was killed
    made.mkdir(parents=True)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def make(files: Sequence[Path], size_bytes: int, group: ControlGroup | None) -> None:
    """Writes them one after the other, and onto the disk.

    It is done in the group of the server, whose page cache they then take, as on a machine of its
    own. Failed when one cannot be written.
    """
    prefix = group.prefix if group else []
    names = [str(file) for file in files]
    run_tool([*prefix, "sh", "-c", _WRITE, "sh", str(size_bytes), *names], "making fresh files")
    wrong = [file.name for file in files if file.stat().st_size != size_bytes]
    if wrong:
        raise Failed(f"{wrong[0]} has not {size_bytes} bytes")
