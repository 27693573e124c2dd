"""inetutils-ftpd: the FTP server of BSD, started by inetd for each connection, as wu-ftpd was."""

from __future__ import annotations

from pathlib import Path

from .packages import Copy, unpacked
from .server import CONFIGURATION, FtpServer, Setting


class InetutilsFtpd(FtpServer):
    """It serves anonymous users only: others would need the accounts of the host.

    inetd listens, and starts a process for each connection.
    """

    package = "inetutils-ftpd"
    super_server = "openbsd-inetd"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.inetd: Copy = unpacked(self.super_server, setting.packages)

    def configure(self) -> None:
        self.write_users(["ftp"])
        server = self.copy.path("usr/sbin/ftpd")
        where = f"{self.address.host}:{self.address.port}"
        self.write(CONFIGURATION, f"{where} stream tcp nowait root {server} ftpd -A\n")

    def command(self) -> list[str]:
        unlimited = ("-R", "0")  # by default, 256 connections in a minute
        return [
            str(self.inetd.path("usr/sbin/inetd")),
            *("-i", *unlimited, str(self.folder / CONFIGURATION)),
        ]

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "passwd": "/etc/passwd"}

    def variables(self) -> dict[str, str]:
        """The libraries of both packages."""
        name = "LD_LIBRARY_PATH"
        return {name: f"{self.copy.environment[name]}:{self.inetd.environment[name]}"}
