"""nginx in front of our files and our Redis."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.systems.peers import nginx
from lab.systems.peers.nginx import MODULES, Guard
from rig.host import NGINX
from rig.processes import Address

_LUA_LIBRARY = Path("/usr/share/lua/5.1/nginx/redis.lua")
_LUA = Path(__file__).with_name("auth.lua")

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
    return [] if NGINX.found() else [NGINX.package]


def missing_for_lua() -> list[str]:
    parts = {
        "libnginx-mod-http-lua": MODULES / "ngx_http_lua_module.so",
        "lua-nginx-redis": _LUA_LIBRARY,
    }
    return [*missing(), *(package for package, path in parts.items() if not path.is_file())]


def preloading(library: Path) -> dict[str, str]:
    """The environment. LD_PRELOAD is split at blanks, which the path may have."""
    return {"LD_PRELOAD": library.name, "LD_LIBRARY_PATH": str(library.parent)}


@contextmanager
def running(logs: Path, root: Path, guard: Guard, preload: Path | None = None) -> Iterator[Address]:
    """Requires: what the guard needs is installed. preload is a library that nginx loads first."""
    environment = preloading(preload) if preload else {}
    with tempfile.TemporaryDirectory(prefix="nginx-", dir=logs) as name:
        folder, log = Path(name), Path(name) / "log"
        with nginx.running(folder, root, guard, log, environment=environment) as (_, address):
            yield address
