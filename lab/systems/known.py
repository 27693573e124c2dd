"""The systems by the names that stages give them."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rig.errors import Failed, WrongUsage

from ..plan.catalog import Stage
from .cluster.system import ClusterSystem
from .peers import known as peers
from .peers.pair import PairSystem
from .peers.system import PeerSystem
from .system import System
from .turnstile import Turnstile

_PAIRS = {  # who has the file, and who takes it
    "gridftp-pair": ("gridftp", "gridftp"),
    "pure-ftpd-pair": ("pure-ftpd-sender", "pure-ftpd-receiver"),
}


def _pair(sender: str, receiver: str) -> PairSystem:
    return PairSystem(PeerSystem(peers.ENTRIES[sender]), PeerSystem(peers.ENTRIES[receiver]))


SYSTEMS: dict[str, System] = {
    "turnstile": Turnstile(),
    "turnstile-hosts": ClusterSystem(),
    **{name: PeerSystem(entry) for name, entry in peers.ENTRIES.items()},
    **{name: _pair(*both) for name, both in _PAIRS.items()},
}


def asks_whom() -> dict[str, str]:
    """name -> whom the server asks when a user logs in."""
    others = {name: entry.asks_whom for name, entry in peers.ENTRIES.items()}
    pairs = {name: others[sender] for name, (sender, _) in _PAIRS.items()}
    ours = dict.fromkeys(("turnstile", "turnstile-hosts"), peers.OUR_AUTHSERVER)
    return ours | others | pairs


def fetch(names: Iterable[str], work: Path) -> None:
    """Downloads what these systems lack. It says when it does, and what cannot be had.

    Requires: there are systems of these names.
    """
    for name in dict.fromkeys(names):
        try:
            SYSTEMS[name].fetch(work)
        except Failed as reason:
            print(f"lab: {reason}", file=sys.stderr)


def of(stage: Stage) -> System:
    """WrongUsage for a stage of a system that there is not."""
    return SYSTEMS[checked(stage)]


def checked(stage: Stage) -> str:
    """The name of its system. WrongUsage if there is none of this name."""
    if stage.system not in SYSTEMS:
        raise WrongUsage(
            f"stage {stage.name}: no system '{stage.system}'; there are: {', '.join(SYSTEMS)}"
        )
    return stage.system
