"""A share that people mount: rights of many lines, and many small files by WebDAV.

Passwords are in plain text on both sides: no figure here is about them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.rig.stores import Store

from .peers import dufs, rclone
from .promise import Outcome, in_turns
from .system import PLAIN, Bench, System, running

_FRONT = ("--http-listen", "127.0.0.1:0")
_LINES = 1_000
_THREADS = 8
_FILES = 10_000
_FILE_BYTES = 1_000


def _rights(folder: Path) -> str:
    """A file whose last line lets everybody read. The others are about other folders."""
    path = folder / "rights"
    people = [f"user{n} /folder{n}/part read write\n" for n in range(1, _LINES)]
    path.write_text("".join([*people, "* / read\n"]), encoding="utf-8")
    return str(path)


def rights(bench: Bench, store: Store) -> Outcome:
    """On kept connections, where a request costs least, so that looking up shows most."""

    def rate(system: System) -> float:
        flags = ("--protocol", "http", "--connection", "keep-alive")
        return bench.get_rate(system.http_address, "1KB", _THREADS, *flags)

    with_rights = (*_FRONT, "--rights", _rights(bench.folder))
    with (
        running(bench, store, PLAIN, with_rights) as ruled,
        running(bench, store, PLAIN, _FRONT) as plain,
    ):
        for system in (ruled, plain):
            rate(system)  # opens the connections to the authserver
        ours, without, ratio = in_turns(bench, lambda: rate(ruled), lambda: rate(plain))
    return Outcome(
        ratio, f"{ours:,.0f}/s with {_LINES:,} lines of rights, {without:,.0f}/s without"
    )


def missing_for_webdav() -> list[str]:
    return [*rclone.missing(), *dufs.missing()]


@contextmanager
def _small_files(bench: Bench) -> Iterator[Path]:
    folder = bench.folder / "small"
    folder.mkdir()
    for number in range(_FILES):
        (folder / f"{number}.bin").write_bytes(secrets.token_bytes(_FILE_BYTES))
    yield folder


def webdav_copy(bench: Bench, store: Store) -> Outcome:
    """rclone, as it is. Ours are on the disk when it is told so."""
    user = "user1"
    theirs_root = bench.folder / "of-dufs"
    theirs_root.mkdir()
    with (
        _small_files(bench) as source,
        running(bench, store, PLAIN, (*_FRONT, "--uploads", "folder")) as system,
        dufs.running(bench.folder, theirs_root, user, bench.password) as address,
    ):
        configs = [
            rclone.configured(bench.folder, one, user, bench.password)
            for one in (system.http_address, address)
        ]

        def rate(config: Path) -> float:
            return _FILES / rclone.copy_s(config, source, f"copy-{secrets.token_hex(4)}")

        ours, theirs, ratio = in_turns(bench, lambda: rate(configs[0]), lambda: rate(configs[1]))
    return Outcome(ratio, f"{ours:,.0f} files/s against {theirs:,.0f}/s of dufs")
