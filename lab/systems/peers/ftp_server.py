"""What is common to the FTP servers: private copies of packages, and whom their sessions run as."""

import os
from pathlib import Path
from typing import ClassVar

from rig.errors import Failed

from .namespace import SERVED, in_namespace, require_namespaces
from .packages import Copy, LeftOut, unpacked
from .server import PeerServer, Setting

ANONYMOUS = "anonymous"  # the user of a server that asks nobody; any password is right
NOBODY = 65534  # the user and the group that sessions run as
_OTHERS_MAY_ENTER = 0o005
_IN_UTC = {"TZ": "UTC0"}  # their logs have the local time, without saying which


class FtpServer(PeerServer):
    """Accounts only read. Sessions of a server that needs root run as the user nobody and see
    nothing above the served folder.
    """

    super_server: ClassVar[str] = ""  # the package of what starts it for each connection
    needs_root: ClassVar[bool] = True

    def __init__(self, setting: Setting) -> None:
        """LeftOut when this user cannot run it, or when its package cannot be downloaded."""
        super().__init__(setting)
        if self.needs_root and os.geteuid() != 0:
            raise LeftOut(f"{self.package} is left out: only root can start it")
        if self.needs_root and self.root.stat().st_mode & _OTHERS_MAY_ENTER != _OTHERS_MAY_ENTER:
            raise Failed(
                f"{self.package} cannot serve {self.root}: the user nobody may not read it"
            )
        if self.needs_root:
            require_namespaces(self.package)
        self.copy: Copy = unpacked(self.package, setting.packages)

    @classmethod
    def fetch(cls, packages: Path) -> None:
        for package in filter(None, (cls.package, cls.super_server)):
            unpacked(package, packages)

    @property
    def version(self) -> str:
        return self.copy.version

    def full_command(self) -> list[str]:
        command = self.command()
        if not self.needs_root:
            return command
        in_memory = [SERVED] if self.setting.is_writable else []
        return in_namespace(self.mounts(), command, in_memory)

    def mounts(self) -> dict[Path, str]:
        """What the server sees of ours, and where. Only for a server that needs root."""
        return {} if self.setting.is_writable else {self.root: SERVED}

    def environment(self) -> dict[str, str]:
        return self.copy.environment | _IN_UTC | self.variables()

    def variables(self) -> dict[str, str]:
        """What is added to its environment."""
        return {}

    def write_users(self, users: list[str]) -> None:
        """Writes a passwd file: that of the host, then these users. All of them see SERVED."""
        host = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
        kept = [line for line in host if line.partition(":")[0] not in users]
        ours = [f"{user}:x:{NOBODY}:{NOBODY}::{SERVED}:/bin/sh" for user in users]
        text = "".join(f"{line}\n" for line in (*kept, *ours) if line)
        self.write("passwd", text).chmod(0o644)
