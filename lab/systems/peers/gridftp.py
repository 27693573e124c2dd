"""GridFTP: the server of the Globus toolkit, a process for each session, anonymous users only."""

import socket
from pathlib import Path

from rig.transfer_log import NETLOGGER

from .ftp_server import FtpServer
from .namespace import SERVED

SINK = "/dev/null"  # what it takes into this file is gone
_USER = "nobody"  # whom anonymous users become; root cannot be
_PATHS = f"R{SERVED},W{SINK}"  # what they may read and write; all else is refused


class GridFtp(FtpServer):
    """It listens, and executes itself for each connection.

    Its address must have a name, or it ends at once, and the host's name an address, or it has no
    data connections. So it has a file of hosts of its own.
    """

    package = "globus-gridftp-server-progs"
    log_form = NETLOGGER

    def configure(self) -> None:
        text = f"127.0.0.1 localhost\n{self.address.host} {socket.gethostname()}\n"
        self.write("hosts", text).chmod(0o644)

    def command(self) -> list[str]:
        server = str(self.copy.path("usr/sbin/globus-gridftp-server"))
        log = self.setting.transfer_log
        return [
            *(server, "-s", "-exec", server, "-c", "/dev/null"),
            *("-control-interface", self.address.host, "-p", str(self.address.port)),
            *("-aa", "-anonymous-user", _USER, "-home-dir", SERVED, "-restrict-paths", _PATHS),
            *("-connections-max", str(self.setting.connections)),
            *(("-log-transfer", str(log)) if log else ()),
        ]

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "hosts": "/etc/hosts"}
