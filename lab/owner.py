"""What `sudo lab` writes belongs to the user who called sudo, and not to root."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rig.host import is_root


@dataclass(frozen=True)
class Caller:
    uid: int
    gid: int


def of_sudo() -> Caller | None:
    """None where nobody called sudo, or root did."""
    uid, gid = (os.environ.get(name, "") for name in ("SUDO_UID", "SUDO_GID"))
    if not is_root() or not uid.isdigit() or not gid.isdigit() or int(uid) == 0:
        return None
    return Caller(int(uid), int(gid))


@contextmanager
def gives_to_caller(*trees: Path) -> Iterator[None]:
    """Gives these folders with all that is in them when the block ends, however it ends.

    So are the folders above them that the block makes. What does not belong to root stays as it is,
    and so does a file that has another name elsewhere.
    """
    caller = of_sudo()
    new = [folder for tree in trees for folder in missing(tree)]
    try:
        yield
    finally:
        if caller:
            for folder in new:
                _give(folder, caller)
            for tree in trees:
                _give_tree(tree, caller)


def missing(folder: Path) -> list[Path]:
    """The folder and those above it, as far as they do not exist."""
    return [one for one in (folder, *folder.parents) if not one.exists()]


def _give_tree(tree: Path, caller: Caller) -> None:
    """Follows no links: a user who can write there must not choose what root gives away."""
    if not tree.is_dir():
        return
    for _, _, names, folder in os.fwalk(tree):
        _give(".", caller, folder)
        for name in names:
            _give(name, caller, folder)


def _give(name: str | Path, caller: Caller, folder: int | None = None) -> None:
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if found.st_uid != 0 or (stat.S_ISREG(found.st_mode) and found.st_nlink > 1):
            return
        os.chown(name, caller.uid, caller.gid, dir_fd=folder, follow_symlinks=False)
