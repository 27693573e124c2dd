"""nginx, set up as somebody would who wants it fast: an event loop on each core."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rig.cores import usable_cores
from rig.host import Tool
from rig.processes import Address

from .packages import LeftOut
from .server import CONFIGURATION, PeerServer, Setting

MODULES = Path("/usr/lib/nginx/modules")
PROGRAM = Tool(("nginx", "/usr/sbin/nginx"), "nginx")  # a user's PATH may have no sbin


@dataclass(frozen=True)
class Guard:
    """What decides whether a request is admitted: parts of the configuration."""

    workers: int = 0  # 0: one for each core
    connections: int = 8192  # at once, of each
    modules: Sequence[str] = ()
    http: str = ""
    server: str = ""
    location: str = ""


def command(folder: Path, settings: Path) -> list[str]:
    """What starts it in the foreground. Its log is standard error."""
    return [PROGRAM.found(), "-e", "stderr", "-p", str(folder), "-c", str(settings)]


_CONFIGURATION = """
{modules}
{user}
daemon off;
worker_processes {workers};
worker_rlimit_nofile 20000;
pid "{folder}/nginx.pid";
error_log stderr error;
events {{
    worker_connections {guard.connections};
}}
http {{
    access_log off;
    default_type text/plain;
    server_tokens off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 60s;
    keepalive_requests 100000000;
    open_file_cache max=10000 inactive=600s;
    open_file_cache_valid 600s;
    client_body_temp_path "{folder}/body";
    proxy_temp_path "{folder}/proxy";
    fastcgi_temp_path "{folder}/fastcgi";
    uwsgi_temp_path "{folder}/uwsgi";
    scgi_temp_path "{folder}/scgi";
    {guard.http}
    server {{
        listen {address} backlog=4096;
        root "{root}";
        {guard.server}
        location / {{
            {guard.location}
        }}
    }}
}}
"""


def configuration(folder: Path, root: Path, address: Address, guard: Guard) -> str:
    """The text of nginx.conf. nginx writes only to folder."""
    return _CONFIGURATION.format(
        modules="\n".join(f"load_module {MODULES / name};" for name in guard.modules),
        # Root's workers would become www-data, which may not be allowed to reach the files.
        user="user root root;" if os.geteuid() == 0 else "",
        workers=guard.workers or len(usable_cores()),
        folder=folder,
        root=root,
        address=address,
        guard=guard,
    )


class Nginx(PeerServer):
    """It runs as the user of the lab, and looks up every request in a file of passwords.

    They are plain there, because a hash would be computed for each request, where the others
    compute one for each log-in.
    """

    package = "nginx"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.fetch(setting.packages)

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """It is no private copy, because `scripts/setup all` installs it."""
        if not PROGRAM.found():
            raise LeftOut(f"nginx is left out: its package {PROGRAM.package} is not installed")

    @property
    def version(self) -> str:
        asked = [PROGRAM.found(), "-v"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        return done.stderr.strip().rpartition("/")[2]

    def configure(self) -> None:
        accounts = self.setting.accounts
        lines = [f"{one.user}:{{PLAIN}}{one.password}\n" for one in accounts]
        file = self.write("accounts", "".join(lines))
        guard = Guard(
            workers=len(self.setting.cores),
            connections=self.setting.connections,
            location=f'auth_basic files; auth_basic_user_file "{file}";',
        )
        self.write(CONFIGURATION, configuration(self.folder, self.root, self.address, guard))

    def command(self) -> list[str]:
        return command(self.folder, self.folder / CONFIGURATION)
