"""proftpd: a process for each session, accounts in a file like /etc/passwd."""

from __future__ import annotations

from .namespace import SERVED, in_namespace, require_namespaces
from .server import NOBODY, FtpServer, Setting


class Proftpd(FtpServer):
    package = "proftpd-core"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        require_namespaces(self.package)

    def configure(self) -> None:
        lines = [
            f"{one.user}:{one.hashed()}:{NOBODY}:{NOBODY}::{SERVED}:/bin/false\n"
            for one in self.setting.accounts
        ]
        accounts = self.write("accounts", "".join(lines))
        configuration = [
            "ServerType standalone",
            "ServerName lab",
            f"DefaultAddress {self.address.host}",
            f"Port {self.address.port}",
            "UseIPv6 off",
            "UseReverseDNS off",
            "DelayEngine off",  # it slows log-ins on purpose
            f"MaxInstances {self.setting.connections}",
            "User nobody",
            "Group nogroup",
            "DefaultRoot ~",
            "RequireValidShell off",
            "AuthPAM off",
            "AuthOrder mod_auth_file.c",
            f'AuthUserFile "{accounts}"',
            f'PidFile "{self.folder / "pid"}"',
            "WtmpLog off",
            "TransferLog none",
            *self._logs(),
        ]
        self.write("conf", "".join(f"{line}\n" for line in configuration))

    def command(self) -> list[str]:
        server = str(self.copy.path("usr/sbin/proftpd"))
        command = [server, "--nodaemon", "--config", str(self.folder / "conf")]
        return in_namespace({self.root: SERVED}, command)

    def _logs(self) -> list[str]:
        """The scoreboard lists the sessions for ftpwho; each session locks it."""
        if self.setting.is_tuned:
            return ["SystemLog none", "ScoreboardFile none"]
        return [
            f'SystemLog "{self.folder / "sessions.log"}"',
            f'ScoreboardFile "{self.folder / "scoreboard"}"',
        ]
