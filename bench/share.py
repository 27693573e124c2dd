"""A share with rights of many lines.

Passwords are in plain text on both sides: no figure here is about them.
"""

from __future__ import annotations

from pathlib import Path

from lab.rig.stores import Store

from .promise import Outcome, in_turns
from .system import PLAIN, Bench, System, running

_FRONT = ("--http-listen", "127.0.0.1:0")
_LINES = 1_000
_THREADS = 8


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
