"""Our load generator as a client: one user, who gets one file over several channels."""

import json
from pathlib import Path

from rig.processes import run_tool
from rig.servers import Programs

from ..peers.packages import LeftOut
from .client import Client, Wanted

_FLAG = "--channels"
_NO_LIMIT_S = "3600"  # the lab itself ends a client that takes too long


class LoadGenerator(Client):
    """It throws away what it gets, unless that is to be kept."""

    package = "loadgen"
    can_throw_away = True

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """It is built, not downloaded."""

    def __init__(self, packages: Path, programs: Programs) -> None:
        self._program = str(programs.path("loadgen"))
        if _FLAG not in run_tool([self._program, "get", "--help=all"], "the flags of loadgen"):
            raise LeftOut(f"loadgen is left out: it has no {_FLAG}")

    @property
    def version(self) -> str:
        return run_tool([self._program, "--version"], "the version of loadgen").split()[1]

    def command(self, wanted: Wanted) -> list[str]:
        return [
            *(self._program, "get", "--protocol", wanted.protocol, "--server", wanted.server),
            *("--user", wanted.user, "--file", wanted.name, "--threads", "1", "--requests", "1"),
            *("--timeout", _NO_LIMIT_S, "--json", "-", *self.channels(wanted), *wanted.flags),
            *(["--save", str(wanted.folder)] if wanted.is_kept else []),
        ]

    def channels(self, wanted: Wanted) -> list[str]:
        return [_FLAG, str(wanted.channels)]

    def reorder_bytes_max(self, output: str) -> int | None:
        """None for a result that is not there, because it was stopped."""
        try:
            return int(json.loads(output)["channels"]["reorder_bytes_max"])
        except (ValueError, KeyError):
            return None

    def environment(self, wanted: Wanted) -> dict[str, str]:
        return {"LOADGEN_PASSWORD": wanted.password}

    def partial(self, wanted: Wanted) -> Path:
        return wanted.folder / f"{wanted.name}.loadgen-0.part"


class PlainLoadGenerator(LoadGenerator):
    """Without channels: one request for the file, and no pool."""

    def channels(self, _wanted: Wanted) -> list[str]:
        return []
