"""Our defaults against the paper's last stages."""

import secrets
from collections.abc import Callable

from lab.plan import catalog
from rig import stores
from rig.stores import Store

from .promise import Outcome, Side, compare
from .system import PLAIN, Bench, System, running

_ARGON2ID = ("--password-scheme", "argon2id")

# A new thread and new connections for each request, prefetched files, plain passwords.
_STAGE = catalog.stages()["redis"]


def _against(
    bench: Bench,
    store: Store,
    rate: Callable[[System, int], float],
    ours: tuple[str, ...] = (),
    paper: tuple[str, ...] = (),
    their_store: Store | None = None,
) -> Outcome:
    """ours and paper are further flags of the two authservers."""
    with (
        running(bench, store, ours) as fast,
        running(
            bench, their_store or store, (*_STAGE.authserver, *paper), _STAGE.fileserver
        ) as slow,
    ):
        return compare(
            bench,
            Side("ours", lambda n: rate(fast, n)),
            Side("the paper's stage", lambda n: rate(slow, n)),
        )


def _get_1kb(system: System, threads: int) -> float:
    return system.get_rate("1KB", threads)


def get_with_argon2id(bench: Bench, store: Store) -> Outcome:
    """Both sides hash passwords with argon2id."""
    return _against(bench, store, _get_1kb, paper=_ARGON2ID)


def get(bench: Bench, store: Store) -> Outcome:
    """We hash passwords and the paper did not; the memo of verified passwords makes up for it."""
    return _against(bench, store, _get_1kb)


def new(bench: Bench, store: Store) -> Outcome:
    return _against(bench, store, System.new_rate, PLAIN)


def new_against_mysql(bench: Bench, store: Store) -> Outcome:
    """The paper had no SQLite. Its stage with MySQL is as durable."""
    mysql = stores.start("mysql", bench.folder / secrets.token_hex(4))
    try:
        return _against(bench, store, System.new_rate, PLAIN, their_store=mysql)
    finally:
        mysql.stop()


def missing_for_mysql() -> list[str]:
    return [tool.package for tool in stores.KINDS["mysql"].tools if not tool.found()]
