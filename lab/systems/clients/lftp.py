"""lftp: pget, which gets parts of one file over several connections."""

from __future__ import annotations

from .client import Unpacked, Wanted

# A part has 1 MB at least by default: small files would have fewer channels than were asked for.
_SCRIPT = """\
set cmd:fail-exit yes
set net:max-retries 2
set xfer:log no
set pget:min-chunk-size 64k
open -u {user},{password} {protocol}://{server}/
set pget:save-status 1
pget {resumed}-n {channels} -O {folder} {name}
"""


class Lftp(Unpacked):
    """Its home is the folder of the fetch, so that it neither reads nor leaves anything else."""

    package = "lftp"

    def command(self, wanted: Wanted) -> list[str]:
        resumed = "-c " if wanted.is_resumed else ""
        script = wanted.write("script", _SCRIPT.format(**vars(wanted), resumed=resumed))
        return [str(self.copy.path("usr/bin/lftp")), "--norc", "-f", str(script)]

    def environment(self, wanted: Wanted) -> dict[str, str]:
        return super().environment(wanted) | {"HOME": str(wanted.folder)}
