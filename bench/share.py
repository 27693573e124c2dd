"""A share that people mount: rights of many lines, and many small files by WebDAV.

Passwords are in plain text on both sides: no figure here is about them.
"""

import secrets
from pathlib import Path

from rig.processes import Address
from rig.stores import Store

from .peers import dufs, rclone
from .promise import Outcome, in_turns
from .system import PLAIN, Bench, System, running

_FRONT = ("--http-listen", "127.0.0.1:0")
_LINES = 1_000
_THREADS = 8
_COPIERS = 10
_FILES_OF_EACH = 1_000
_FILE_BYTES = 1_000


def _rights(folder: Path) -> str:
    """A file whose last line lets everybody read. Nobody can make an account that it names."""
    path = folder / "rights"
    people = [f"reader{n} /folder{n}/part read write\n" for n in range(1, _LINES)]
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


def _small_files(folder: Path) -> list[Path]:
    """A folder of them for each rclone."""
    sources = [folder / "small" / f"of-{number}" for number in range(_COPIERS)]
    for source in sources:
        source.mkdir(parents=True)
        for number in range(_FILES_OF_EACH):
            (source / f"{number}.bin").write_bytes(secrets.token_bytes(_FILE_BYTES))
    return sources


def webdav_copy(bench: Bench, store: Store) -> Outcome:
    """Each file of ours is on the disk before rclone hears so."""
    user = "user1"
    sources = _small_files(bench.folder)
    theirs_root = bench.folder / "of-dufs"
    theirs_root.mkdir()
    with (
        running(bench, store, PLAIN, (*_FRONT, "--uploads", "folder")) as system,
        dufs.running(bench.folder, theirs_root, user, bench.password) as of_dufs,
    ):

        def rate(address: Address) -> float:
            config = rclone.configured(bench.folder, address, user, bench.password)
            seconds = rclone.copy_s(config, sources, f"copy-{secrets.token_hex(4)}")
            return _COPIERS * _FILES_OF_EACH / seconds

        ours, theirs, ratio = in_turns(
            bench, lambda: rate(system.http_address), lambda: rate(of_dufs)
        )
    return Outcome(ratio, f"{ours:,.0f} files/s against {theirs:,.0f}/s of dufs")
