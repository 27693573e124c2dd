"""Which of the accounts that were acknowledged are gone."""

from collections.abc import Sequence

import promise  # noqa: F401  # lets us import from the other folders of tests
from client import Client

from rig.processes import Address

_CHECKED_AT_ONCE = 200


def lost_accounts(authserver: Address, accounts: Sequence[tuple[str, str]]) -> list[str]:
    """Of these names and passwords: those that can be made once more, or do not work.

    The password of an account that is gone is not asked for: that would take a hash each time.
    """
    client = Client(authserver)
    lost: list[str] = []
    for first in range(0, len(accounts), _CHECKED_AT_ONCE):
        some = accounts[first : first + _CHECKED_AT_ONCE]
        for verb, right in (("new", "exists"), ("auth", "OK")):
            answers = client.ask_all([f"{verb}:{name}:{secret}".encode() for name, secret in some])
            lost += [name for (name, _), answer in zip(some, answers) if answer != right]
    client.close()
    return sorted(set(lost))
