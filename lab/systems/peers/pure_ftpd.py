"""pure-ftpd: two processes for each session, accounts in a file of its own form."""

import shlex
import time
from pathlib import Path

from rig.errors import Failed
from rig.processes import run_tool
from rig.transfer_log import XFERLOG

from . import inetutils
from .ftp_server import NOBODY, FtpServer
from .namespace import SERVED
from .packages import Copy, unpacked
from .server import CONFIGURATION, START_TIMEOUT_S, Setting

_SESSIONS = Path("/var/run/pure-ftpd")
_SOCKET = _SESSIONS / "authd"  # as both programs see it: short, whatever the lab's folder is called
_ASK_AUTHSERVER = Path(__file__).with_name("ask_authserver")


class PureFtpd(FtpServer):
    """It keeps a file of each session in a folder that cannot be configured; ours is in its place.

    pure-ftpd makes this folder on the host too, where it stays empty. It sleeps for a random time
    of some milliseconds in each log-in, so that its duration tells nothing. No flag changes that.
    """

    package = "pure-ftpd"
    log_form = XFERLOG

    def configure(self) -> None:
        _SESSIONS.mkdir(mode=0o700, exist_ok=True)
        (self.folder / "run").mkdir(mode=0o700, exist_ok=True)
        self.make_accounts()

    def make_accounts(self) -> None:
        lines = [
            f"{account.user}:{account.hashed()}:{NOBODY}:{NOBODY}::{SERVED}/./::::::::::::\n"
            for account in self.setting.accounts
        ]
        readable = self.write("accounts", "".join(lines))
        command = [str(self.copy.path("usr/bin/pure-pw")), "mkdb"]
        run_tool([*command, str(self.folder / "accounts.pdb"), "-f", str(readable)], "pure-pw")

    def command(self) -> list[str]:
        return [
            str(self.copy.path("usr/sbin/pure-ftpd")),
            *("-S", f"{self.address.host},{self.address.port}", *self.flags()),
            *("-c", str(self.setting.connections), "-g", str(self.folder / "pid")),
        ]

    def flags(self) -> list[str]:
        """Of each session."""
        quiet = ("-f", "none") if self.setting.is_tuned else ()  # no line to syslog for a session
        log = self.setting.transfer_log
        recorded = ("-O", f"xferlog:{log}") if log else ()
        most = str(self.setting.connections)
        others = ("-W",) if self.setting.has_third_parties else ()
        return [*self.who(), "-A", "-H", "-C", most, "-u", str(NOBODY), *quiet, *recorded, *others]

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "run": str(_SESSIONS)}

    def who(self) -> tuple[str, ...]:
        """The flags that say who may log in: not anonymous users."""
        return ("-E", "-l", self.login())

    def login(self) -> str:
        """How it validates, for -l. The path is absolute, because the server changes its folder."""
        return f"puredb:{self.folder / 'accounts.pdb'}"


class PureFtpdByInetd(PureFtpd):
    """The same, but inetd listens, and starts it for each connection."""

    super_server = inetutils.PACKAGE

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.inetd: Copy = unpacked(self.super_server, setting.packages)

    def configure(self) -> None:
        super().configure()
        server = self.copy.path("usr/sbin/pure-ftpd")
        self.write(CONFIGURATION, inetutils.configuration(self.address, server, self.flags()))

    def command(self) -> list[str]:
        return inetutils.command(self.inetd, self.folder / CONFIGURATION)

    def variables(self) -> dict[str, str]:
        return inetutils.libraries_of_both(self.inetd, self.copy)


class PureFtpdAuthd(PureFtpd):
    """pure-ftpd that asks our authserver, by way of pure-authd. The accounts must exist there.

    pure-authd is a child of pure-ftpd, so what it uses is counted with it. The kernel kills it when
    pure-ftpd ends.
    """

    def make_accounts(self) -> None:
        if not self.setting.authserver:
            raise Failed(f"{self.package} is to ask our authserver, but there is none")

    def command(self) -> list[str]:
        authd = ["setpriv", "--pdeathsig", "KILL", str(self.copy.path("usr/sbin/pure-authd"))]
        authd += ["-s", str(_SOCKET), "-r", str(_ASK_AUTHSERVER)]
        return ["sh", "-c", f"{shlex.join(authd)} & exec {shlex.join(super().command())}"]

    def variables(self) -> dict[str, str]:
        assert self.setting.authserver  # see make_accounts
        return {
            "TURNSTILE_HOST": self.setting.authserver.host,
            "TURNSTILE_PORT": str(self.setting.authserver.port),
            "TURNSTILE_SESSION": f"uid:{NOBODY} gid:{NOBODY} dir:{SERVED}",
        }

    def wait_ready(self) -> None:
        super().wait_ready()
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (self.folder / "run" / _SOCKET.name).is_socket():
            if not self.program.is_running() or time.monotonic() > deadline:
                raise Failed(f"pure-authd did not start: {self.program.last_words()}")
            time.sleep(0.01)

    def login(self) -> str:
        return f"extauth:{_SOCKET}"


class PureFtpdAnonymous(PureFtpd):
    """pure-ftpd that lets anybody in under any name, so that no log-in is validated."""

    def make_accounts(self) -> None:
        self.write_users(["ftp"])

    def mounts(self) -> dict[Path, str]:
        return super().mounts() | {self.folder / "passwd": "/etc/passwd"}

    def who(self) -> tuple[str, ...]:
        return ("-e",)
