"""globus-url-copy: several data connections in one transfer, as only GridFTP has them."""

from __future__ import annotations

from .client import Unpacked, Wanted

_SINK = "file:///dev/null"


class GlobusUrlCopy(Unpacked):
    """Anonymous users only, as our GridFTP server has no others."""

    package = "globus-gass-copy-progs"
    can_throw_away = True

    def command(self, wanted: Wanted) -> list[str]:
        saved = self.saved(wanted)
        parallel = ["-p", str(wanted.channels)] if wanted.channels > 1 else []
        return [
            str(self.copy.path("usr/bin/globus-url-copy")),
            *parallel,
            f"ftp://{wanted.server}/~/{wanted.name}",
            f"file://{saved[0]}" if saved else _SINK,
        ]

    def environment(self, wanted: Wanted) -> dict[str, str]:
        """Its address must be told to it: the name of the host may have none over there."""
        own = {"GLOBUS_HOSTNAME": wanted.own_address} if wanted.own_address else {}
        return super().environment(wanted) | own | {"HOME": str(wanted.folder)}
