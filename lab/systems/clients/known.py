"""The clients by the names that stages give them."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rig.errors import Failed, WrongUsage
from rig.servers import Programs

from ..peers.system import packages_in
from .client import Aria2, Client, Curl, GlobusUrlCopy, Lftp
from .copies import CurlThrough, GlobusByOrder, GlobusThrough, LftpByOrder
from .generator import LoadGenerator, PlainLoadGenerator

CLIENTS: dict[str, type[Client]] = {
    "curl": Curl,
    "aria2": Aria2,
    "lftp": Lftp,
    "globus-url-copy": GlobusUrlCopy,
    "loadgen": LoadGenerator,
    "loadgen-plain": PlainLoadGenerator,
    "globus-by-order": GlobusByOrder,
    "globus-through": GlobusThrough,
    "lftp-by-order": LftpByOrder,
    "curl-through": CurlThrough,
}


def fetch(names: Iterable[str], work: Path) -> None:
    """Downloads what these lack. It says when it does, and what cannot be had.

    Requires: there are clients of these names.
    """
    for name in dict.fromkeys(names):
        try:
            CLIENTS[name].fetch(packages_in(work))
        except Failed as reason:
            print(f"lab: {reason}", file=sys.stderr)


def of(name: str, work: Path, programs: Programs) -> Client:
    """WrongUsage for an unknown name. LeftOut, with the reason, when this host cannot run it."""
    return checked(name)(packages_in(work), programs)


def checked(name: str) -> type[Client]:
    if name not in CLIENTS:
        raise WrongUsage(f"no client '{name}'; there are: {', '.join(CLIENTS)}")
    return CLIENTS[name]
