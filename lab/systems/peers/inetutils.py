"""inetutils-ftpd: the FTP server of BSD, started by inetd for each connection, as wu-ftpd was."""

from pathlib import Path

from rig.errors import Failed
from rig.processes import Address

from .ftp_server import FtpServer
from .packages import Copy, unpacked
from .server import CONFIGURATION, Setting

PACKAGE = "openbsd-inetd"
_UNLIMITED = ("-R", "0")  # by default, 256 connections in a minute


def configuration(address: Address, program: Path, flags: list[str]) -> str:
    """Failed if a path has a blank, which parts the words of a line."""
    words = [program.name, *flags]
    for word in (str(program), *words):
        if len(word.split()) != 1:
            raise Failed(f"inetd cannot start {program.name}: '{word}' has a blank")
    return f"{address} stream tcp nowait root {program} {' '.join(words)}\n"


def command(inetd: Copy, configuration_file: Path) -> list[str]:
    return [str(inetd.path("usr/sbin/inetd")), "-i", *_UNLIMITED, str(configuration_file)]


def libraries_of_both(inetd: Copy, server: Copy) -> dict[str, str]:
    """The variable with which the programs of both packages find theirs."""
    name = "LD_LIBRARY_PATH"
    return {name: f"{server.environment[name]}:{inetd.environment[name]}"}


class InetutilsFtpd(FtpServer):
    """It serves anonymous users only: others would need the accounts of the host."""

    package = "inetutils-ftpd"
    super_server = PACKAGE

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.inetd: Copy = unpacked(self.super_server, setting.packages)

    def configure(self) -> None:
        self.write_users(["ftp"])
        server = self.copy.path("usr/sbin/ftpd")
        self.write(CONFIGURATION, configuration(self.address, server, ["-A"]))

    def command(self) -> list[str]:
        return command(self.inetd, self.folder / CONFIGURATION)

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "passwd": "/etc/passwd"}

    def variables(self) -> dict[str, str]:
        return libraries_of_both(self.inetd, self.copy)
