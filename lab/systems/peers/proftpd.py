"""proftpd: a process for each session, accounts in a file like /etc/passwd."""

from rig.transfer_log import XFERLOG

from .ftp_server import NOBODY, FtpServer
from .namespace import SERVED


class Proftpd(FtpServer):
    package = "proftpd-core"
    log_form = XFERLOG

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
            *(["AllowOverwrite on"] if self.setting.is_writable else []),
            *self._logs(),
        ]
        self.write("conf", "".join(f"{line}\n" for line in configuration))

    def command(self) -> list[str]:
        server = str(self.copy.path("usr/sbin/proftpd"))
        return [server, "--nodaemon", "--config", str(self.folder / "conf")]

    def _logs(self) -> list[str]:
        """The scoreboard lists the sessions for ftpwho; each session locks it."""
        log = self.setting.transfer_log
        transfers = f'TransferLog "{log}"' if log else "TransferLog none"
        if self.setting.is_tuned:
            return [transfers, "SystemLog none", "ScoreboardFile none"]
        return [
            transfers,
            f'SystemLog "{self.folder / "sessions.log"}"',
            f'ScoreboardFile "{self.folder / "scoreboard"}"',
        ]
