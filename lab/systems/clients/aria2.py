"""aria2: segments of one file over several connections to one server."""

from __future__ import annotations

from .client import Unpacked, Wanted

_SMALLEST_PART = "1M"  # it takes no smaller one, so a file of 4 MB has at most 4 channels


class Aria2(Unpacked):
    """The first connection asks for the whole file, and is closed when its segment has come.

    It can have 16 at most.
    """

    package = "aria2"

    def command(self, wanted: Wanted) -> list[str]:
        count = str(wanted.channels)
        return [
            str(self.copy.path("usr/bin/aria2c")),
            *("--no-conf=true", "--quiet=true", f"--netrc-path={wanted.write_netrc()}"),
            *("-x", count, "-s", count, "-k", _SMALLEST_PART, "--file-allocation=none"),
            *("--auto-save-interval=1", "--continue=true"),
            *("-d", str(wanted.folder), "-o", wanted.name, wanted.url),
        ]
