"""nginx, set up as somebody would who wants it fast, in front of our files and our Redis."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.rig.cores import usable_cores
from lab.rig.host import Tool, free_port
from lab.rig.processes import Address, Program, wait_listening

_START_TIMEOUT_S = 30.0
_MODULES = Path("/usr/lib/nginx/modules")
_LUA_LIBRARY = Path("/usr/share/lua/5.1/nginx/redis.lua")
_LUA = Path(__file__).with_name("auth.lua")
PROGRAM = Tool(("nginx", "/usr/sbin/nginx"), "nginx")  # a user's PATH may have no sbin


@dataclass(frozen=True)
class Guard:
    """What asks Redis whether a request is admitted: parts of the configuration."""

    workers: int = 0  # 0: one for each core
    modules: Sequence[str] = ()
    http: str = ""
    server: str = ""
    location: str = ""


STATIC = Guard()
# A worker waits while it syncs, so nginx is faster with more of them than cores.
TAKES_UPLOADS = Guard(workers=16, server="dav_methods PUT; client_max_body_size 0;")


def with_lua(redis_port: int) -> Guard:
    """Lua within nginx, with a pool of connections to Redis in each worker."""
    return Guard(
        modules=("ndk_http_module.so", "ngx_http_lua_module.so"),
        http="lua_socket_log_errors off;",
        server=f"set $redis_port {redis_port};",
        location=f'access_by_lua_file "{_LUA}";',
    )


def with_auth_request(service: Address) -> Guard:
    """A subrequest to this service, over connections that are kept."""
    return Guard(
        http=f"upstream service {{ server {service}; keepalive 128; keepalive_requests 1000000; }}",
        server="""
        location = /is-admitted {
            internal;
            proxy_pass http://service;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }""",
        location="auth_request /is-admitted;",
    )


def missing() -> list[str]:
    """The packages that lack for nginx without Lua."""
    return [] if PROGRAM.found() else [PROGRAM.package]


def missing_for_lua() -> list[str]:
    parts = {
        "libnginx-mod-http-lua": _MODULES / "ngx_http_lua_module.so",
        "lua-nginx-redis": _LUA_LIBRARY,
    }
    return [*missing(), *(package for package, path in parts.items() if not path.is_file())]


def configuration(folder: Path, root: Path, port: int, guard: Guard) -> str:
    """The text of nginx.conf. nginx writes only to folder."""
    modules = "\n".join(f"load_module {_MODULES / name};" for name in guard.modules)
    # Root's workers would become www-data, which may not be allowed to reach the files.
    user = "user root root;" if os.geteuid() == 0 else ""
    return f"""
{modules}
{user}
daemon off;
worker_processes {guard.workers or len(usable_cores())};
worker_rlimit_nofile 20000;
pid "{folder}/nginx.pid";
error_log stderr error;
events {{
    worker_connections 8192;
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
        listen 127.0.0.1:{port} backlog=4096;
        root "{root}";
        {guard.server}
        location / {{
            {guard.location}
        }}
    }}
}}
"""


def preloading(library: Path) -> dict[str, str]:
    """The environment. LD_PRELOAD is split at blanks, which the path may have."""
    return {"LD_PRELOAD": library.name, "LD_LIBRARY_PATH": str(library.parent)}


@contextmanager
def running(logs: Path, root: Path, guard: Guard, preload: Path | None = None) -> Iterator[Address]:
    """Requires: what the guard needs is installed. preload is a library that nginx loads first."""
    with tempfile.TemporaryDirectory(prefix="nginx-", dir=logs) as name:
        folder = Path(name)
        port = free_port()
        settings = folder / "nginx.conf"
        settings.write_text(configuration(folder, root, port, guard), encoding="utf-8")
        command = [PROGRAM.found(), "-e", "stderr", "-p", str(folder), "-c", str(settings)]
        environment = preloading(preload) if preload else {}
        program = Program("nginx", command, folder / "log", environment=environment)
        try:
            wait_listening(program, port, _START_TIMEOUT_S)
            yield Address("127.0.0.1", port)
        finally:
            program.stop()
