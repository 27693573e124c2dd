"""pure-ftpd: a process for each session, accounts in a file of its own form."""

from __future__ import annotations

from ...rig.processes import run_tool
from .server import NOBODY, FtpServer


class PureFtpd(FtpServer):
    package = "pure-ftpd"

    def configure(self) -> None:
        lines = [
            f"{account.user}:{account.hashed()}:{NOBODY}:{NOBODY}::{self.root}/./::::::::::::\n"
            for account in self.setting.accounts
        ]
        readable = self.write("accounts", "".join(lines))
        command = [str(self.copy.path("usr/bin/pure-pw")), "mkdb"]
        run_tool([*command, str(self.folder / "accounts.pdb"), "-f", str(readable)], "pure-pw")

    def command(self) -> list[str]:
        limit = str(self.setting.connections)
        return [
            str(self.copy.path("usr/sbin/pure-ftpd")),
            *("-S", f"{self.address.host},{self.address.port}", "-l", self.login()),
            *("-A", "-E", "-H", "-c", limit, "-C", limit, "-u", str(NOBODY)),
            *("-g", str(self.folder / "pid")),
            *(("-f", "none") if self.setting.is_tuned else ()),  # no line to syslog for a session
        ]

    def login(self) -> str:
        """How it validates, for -l. The path is absolute, because the server changes its folder."""
        return f"puredb:{self.folder / 'accounts.pdb'}"
