"""pyftpdlib: one process with an event loop, in Python."""

import json
from pathlib import Path

from .ftp_server import FtpServer

_SERVER = Path(__file__).with_name("pyftpd_server.py")
_PYTHON = "/usr/bin/python3"  # the distribution's, for which the package was made


class Pyftpdlib(FtpServer):
    """It runs as the user of the lab and validates by a table in its memory."""

    package = "python3-pyftpdlib"
    needs_root = False

    def configure(self) -> None:
        accounts = {one.user: one.password for one in self.setting.accounts}
        self.write("accounts", json.dumps(accounts))

    def command(self) -> list[str]:
        return [
            *(_PYTHON, str(_SERVER), "--host", self.address.host),
            *("--port", str(self.address.port), "--root", str(self.root)),
            *("--accounts", str(self.folder / "accounts")),
            *("--connections", str(self.setting.connections)),
        ]
