"""curl: one connection, or a range of the file on each of several."""

from __future__ import annotations

import shutil
from pathlib import Path

from rig.processes import run_tool
from rig.servers import Programs

from ..peers.packages import LeftOut
from .client import Client, Wanted

_SINK = "/dev/null"


class Curl(Client):
    """That of the host. Its ranges stay files of their own: curl does not put them together."""

    package = "curl"
    can_throw_away = True

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """It is on nearly every host, and downloads nothing here."""

    def __init__(self, packages: Path, programs: Programs) -> None:
        if not shutil.which("curl"):
            raise LeftOut("curl is left out: it is not installed")

    @property
    def version(self) -> str:
        return run_tool(["curl", "--version"], "the version of curl").split()[1]

    def command(self, wanted: Wanted) -> list[str]:
        netrc = str(wanted.write_netrc())
        outputs = [str(path) for path in self.saved(wanted)] or [_SINK] * wanted.channels
        one = ["--fail", "--silent", "--show-error", "--netrc-file", netrc]
        if wanted.channels == 1:
            resumed = ["--continue-at", "-"] if wanted.is_resumed else []
            return ["curl", "--disable", *one, *resumed, "--output", outputs[0], wanted.url]
        together = ["--parallel", "--parallel-immediate", "--parallel-max", str(wanted.channels)]
        command = ["curl", "--disable", "--no-progress-meter", *together]
        for number, (first, last) in enumerate(wanted.ranges()):
            part = ["--range", f"{first}-{last}", "--output", outputs[number], wanted.url]
            command += [*(["--next"] if number else []), *one, *part]
        return command

    def saved(self, wanted: Wanted) -> list[Path]:
        if not wanted.is_kept:
            return []
        return [wanted.folder / f"part{number}" for number in range(wanted.channels)]

    def partial(self, wanted: Wanted) -> Path:
        return wanted.folder / "part0"
