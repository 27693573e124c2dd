"""globus-url-copy: several data connections in one transfer, as only GridFTP has them."""

from __future__ import annotations

import socket
from pathlib import Path

from rig.servers import Programs

from ..peers.namespace import in_namespace, require_namespaces
from .client import Unpacked, Wanted

_SINK = "file:///dev/null"


class GlobusUrlCopy(Unpacked):
    """Anonymous users only, as our GridFTP server has no others.

    It is told its own address by a file of hosts, as the server is: for several channels the data
    connections come to it.
    """

    package = "globus-gass-copy-progs"
    can_throw_away = True
    is_one_transfer = True

    def __init__(self, packages: Path, programs: Programs) -> None:
        require_namespaces(self.package)
        super().__init__(packages, programs)

    def command(self, wanted: Wanted) -> list[str]:
        text = f"127.0.0.1 localhost\n{wanted.own_address} {socket.gethostname()}\n"
        return in_namespace({wanted.write("hosts", text): "/etc/hosts"}, self.transfer(wanted))

    def transfer(self, wanted: Wanted) -> list[str]:
        program = str(self.copy.path("usr/bin/globus-url-copy"))
        parallel = ["-p", str(wanted.channels)] if wanted.channels > 1 else []
        return [program, *parallel, self.source(wanted), self.target(wanted)]

    def source(self, wanted: Wanted) -> str:
        return f"ftp://{wanted.server}/~/{wanted.name}"

    def target(self, wanted: Wanted) -> str:
        """Where the file goes, as a URL."""
        saved = self.saved(wanted)
        return f"file://{saved[0]}" if saved else _SINK

    def environment(self, wanted: Wanted) -> dict[str, str]:
        return super().environment(wanted) | {"HOME": str(wanted.folder)}
