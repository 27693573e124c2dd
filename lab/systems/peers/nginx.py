"""nginx, set up as somebody would who wants it fast: an event loop on each core."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rig.certificates import KeyPair
from rig.cores import usable_cores
from rig.host import NGINX, free_port
from rig.processes import Address, Program, wait_listening

from .packages import LeftOut
from .server import CONFIGURATION, START_TIMEOUT_S, PeerServer, Setting

MODULES = Path("/usr/lib/nginx/modules")
_RECOMMENDED = Path(__file__).parents[3] / "docs" / "tls" / "nginx.conf"  # in front of ours


@dataclass(frozen=True)
class Guard:
    """What decides whether a request is admitted: parts of the configuration."""

    workers: int = 0  # 0: one for each core
    connections: int = 8192  # at once, of each
    modules: Sequence[str] = ()
    http: str = ""
    listen: str = ""  # further words of that line
    server: str = ""
    location: str = ""


def encrypted(guard: Guard, pair: KeyPair | None) -> Guard:
    """The same in TLS, as docs/tls/nginx.conf has it; as it is without a pair."""
    if not pair:
        return guard
    own = f'ssl_certificate "{pair.certificate}"; ssl_certificate_key "{pair.key}";'
    return replace(
        guard, listen="ssl", server=f"{own} ssl_protocols TLSv1.2 TLSv1.3; {guard.server}"
    )


def in_front_of(server: Address) -> Guard:
    """What docs/tls/nginx.conf has in front of this fileserver. Requires: --trusted-proxy."""
    text = re.sub(r"#.*", "", _RECOMMENDED.read_text(encoding="utf-8"))
    upstream = re.search(r"^upstream turnstile \{.*?^\}", text, re.DOTALL | re.MULTILINE)
    location = re.search(r"location / \{(.*?)\}", text, re.DOTALL)
    assert upstream and location  # that page is ours
    return Guard(
        http=re.sub(r"server \S+;", f"server {server};", upstream[0]), location=location[1]
    )


def command(folder: Path, settings: Path) -> list[str]:
    """What starts it in the foreground. Its log is standard error."""
    return [NGINX.found(), "-e", "stderr", "-p", str(folder), "-c", str(settings)]


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
        listen {address} {guard.listen} backlog=4096;
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


@contextmanager
def running(
    folder: Path,
    root: Path,
    guard: Guard,
    log: Path,
    *,
    host: str = "127.0.0.1",
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[Program, Address]]:
    """On a free port of this host, until the block is left. It writes to folder only.

    Failed when it does not start. Requires: what the guard needs is installed.
    """
    address = Address(host, free_port())
    settings = folder / CONFIGURATION
    settings.write_text(configuration(folder, root, address, guard), encoding="utf-8")
    words = command(folder, settings)
    program = Program("nginx", words, log, environment=dict(environment or {}))
    try:
        wait_listening(program, address.port, START_TIMEOUT_S)
        yield program, address
    finally:
        program.stop()


def require() -> None:
    """LeftOut where nginx is not installed."""
    if not NGINX.found():
        raise LeftOut(f"nginx is left out: its package {NGINX.package} is not installed")


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
        require()

    @property
    def version(self) -> str:
        asked = [NGINX.found(), "-v"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        return done.stderr.strip().rpartition("/")[2]

    def configure(self) -> None:
        guard = Guard(
            workers=len(self.setting.cores),
            connections=self.setting.connections,
            location=self.who(),
        )
        guard = encrypted(guard, self.setting.key_pair)
        self.write(CONFIGURATION, configuration(self.folder, self.root, self.address, guard))

    def who(self) -> str:
        """The lines that say who may ask."""
        accounts = self.setting.accounts
        lines = [f"{one.user}:{{PLAIN}}{one.password}\n" for one in accounts]
        file = self.write("accounts", "".join(lines))
        return f'auth_basic files; auth_basic_user_file "{file}";'

    def command(self) -> list[str]:
        return command(self.folder, self.folder / CONFIGURATION)


class NginxAnonymous(Nginx):
    """nginx that sends its files to anybody, as a web server does."""

    def who(self) -> str:
        return ""
