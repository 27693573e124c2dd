"""inetutils-ftpd: the FTP server of BSD, started by inetd for each connection, as wu-ftpd was."""

from __future__ import annotations

from pathlib import Path

from . import inetd
from .ftp_server import FtpServer
from .packages import Copy, unpacked
from .server import CONFIGURATION, Setting


class InetutilsFtpd(FtpServer):
    """It serves anonymous users only: others would need the accounts of the host."""

    package = "inetutils-ftpd"
    super_server = inetd.PACKAGE

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.inetd: Copy = unpacked(self.super_server, setting.packages)

    def configure(self) -> None:
        self.write_users(["ftp"])
        server = self.copy.path("usr/sbin/ftpd")
        self.write(CONFIGURATION, inetd.configuration(self.address, server, ["-A"]))

    def command(self) -> list[str]:
        return inetd.command(self.inetd, self.folder / CONFIGURATION)

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "passwd": "/etc/passwd"}

    def variables(self) -> dict[str, str]:
        return inetd.libraries_of_both(self.inetd, self.copy)
