"""File systems for the served folder."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from programs import BUILD

KINDS = ("here", "tmpfs", "coarse")
_SHM = Path("/dev/shm")
_IMAGE_BYTES = 256 << 20


class NoSuchDisk(Exception):
    """It cannot be had here. The text says why."""


@contextlib.contextmanager
def mounted(kind: str) -> Iterator[Path]:
    """An empty folder: beside the programs, in memory, or on a disk that keeps whole seconds."""
    if kind == "tmpfs" and not (_SHM.is_dir() and os.access(_SHM, os.W_OK)):
        raise NoSuchDisk(f"{_SHM} cannot be written")
    folder = Path(tempfile.mkdtemp(prefix="model-", dir=_SHM if kind == "tmpfs" else BUILD))
    try:
        if kind == "coarse":
            with _coarse(folder) as disk:
                yield disk
        else:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _coarse(folder: Path) -> Iterator[Path]:
    image, disk = folder / "image", folder / "disk"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    _run("mkfs.ext4", "-q", "-I", "128", str(image))
    _run("mount", "-o", "loop", str(image), str(disk))
    try:
        yield disk
    finally:
        _run("umount", "--lazy", str(disk))


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NoSuchDisk(f"not installed: {command[0]} (package e2fsprogs or mount)") from error
    except subprocess.CalledProcessError as error:
        raise NoSuchDisk(f"{command[0]}: {error.stderr.strip()}") from error
