"""The promises: for each store, what is measured and its limit."""

from . import (
    against_ftp,
    against_paper,
    against_peers,
    alone,
    events,
    http_front,
    meters,
    share,
    tls,
)
from .peers import caddy, nginx
from .promise import Promise

_SQLITE = (
    Promise(
        "get-paper",
        "get 1KB: defaults / the paper's stage, both with argon2id",
        1.5,
        against_paper.get_with_argon2id,
    ),
    Promise("get-two-hops", "get 1KB: --pipeline / two bare hops", 1.0, against_peers.get_two_hops),
    Promise(
        "new-mysql-stage",
        "new, plain passwords: defaults / the paper's stage with MySQL",
        4.0,
        against_paper.new_against_mysql,
        missing=against_paper.missing_for_mysql,
    ),
    Promise("get-iperf3", "get 10MB: prefetched / iperf3", 0.8, alone.large_against_iperf),
    Promise(
        "idle", "memory of an idle connection / 32.5 KiB", 1.0, alone.idle_memory, at_most=True
    ),
    Promise(
        "crowd", "get 1KB, 8 clients: beside 2,000 slow ones / alone", 0.9, alone.trickling_crowd
    ),
    Promise(
        "telemetry",
        "get 1KB, kept connections: with telemetry / without",
        0.95,
        alone.telemetry_costs_nothing,
    ),
    Promise(
        "rights",
        "GET 1KB over HTTP, kept connections: with 1,000 lines of rights / without",
        0.98,
        share.rights,
    ),
    Promise(
        "webdav-copy",
        "10 rclones copy 10,000 files of 1KB over WebDAV: ours, on the disk / dufs",
        1.0,
        share.webdav_copy,
        missing=share.missing_for_webdav,
    ),
    Promise("count", "loadgen's count / the kernel's", 1.05, alone.independent_meter, at_most=True),
    Promise(
        "meter",
        "loadgen's CPU time for a get of 1KB from nginx, 8 to 256 users / wrk's",
        1.1,
        meters.cost,
        at_most=True,
        missing=meters.missing,
    ),
    Promise(
        "meter-rate",
        "gets of 1KB from nginx, 8 to 256 users: loadgen / wrk",
        0.97,
        meters.rate,
        missing=meters.missing,
    ),
    Promise(
        "meter-alone",
        "time of a get of 1KB from nginx, one user: loadgen / a bare loop",
        1.05,
        meters.alone,
        at_most=True,
        missing=nginx.missing,
    ),
    Promise(
        "meter-late",
        "99th percentile of lateness at 10,000/s of 1,000 users / 1 ms",
        1.0,
        meters.lateness,
        at_most=True,
        missing=nginx.missing,
    ),
)

_REDIS = (
    Promise("get-paper", "get 1KB: defaults / the paper's stage", 3.0, against_paper.get),
    Promise(
        "get-two-hops",
        "get 1KB: --pipeline / two bare hops and Redis",
        0.95,
        against_peers.get_two_hops,
    ),
    Promise(
        "get-lua",
        "get 1KB: --pipeline / nginx + Lua + Redis",
        1.2,
        against_peers.get_lua,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "kept-lua",
        "get 1KB, kept connections: --pipeline / nginx + Lua + Redis",
        1.5,
        against_peers.kept_lua,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "kept-two-hops",
        "get 1KB, kept connections: --pipeline / two bare hops and Redis",
        0.95,
        against_peers.kept_two_hops,
    ),
    Promise(
        "p99-lua",
        "99th percentile at half of the load: --pipeline / nginx + Lua + Redis",
        1.0,
        against_peers.p99_lua,
        at_most=True,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "get-auth-request",
        "get 1KB: --pipeline / nginx + auth_request",
        1.0,
        against_peers.get_auth_request,
        missing=nginx.missing,
    ),
    Promise(
        "get-100KB-static",
        "get 100KB: --pipeline / nginx without authentication",
        0.9,
        against_peers.get_100kb_static,
        missing=nginx.missing,
    ),
    Promise(
        "get-1MB-static",
        "get 1MB: --pipeline / nginx without authentication",
        1.25,
        against_peers.get_1mb_static,
        missing=nginx.missing,
    ),
    Promise(
        "get-10MB-static",
        "get 10MB: --pipeline / nginx without authentication",
        1.25,
        against_peers.get_10mb_static,
        missing=nginx.missing,
    ),
    *(
        Promise(
            f"get-{size}-two-hops",
            f"get {size}: --pipeline / two bare hops and Redis",
            0.95,
            against_peers.large_two_hops(size, file_bytes),
        )
        for size, file_bytes in (("100KB", 100_000), ("1MB", 10**6), ("10MB", 10**7))
    ),
    Promise(
        "new-paper", "new, plain passwords: defaults / the paper's stage", 3.0, against_paper.new
    ),
    Promise(
        "new-two-hops",
        "new, plain passwords: defaults / two bare hops and Redis",
        0.95,
        against_peers.new_two_hops,
    ),
)

_HTTP = (
    Promise(
        "http-get-lua",
        "GET 1KB over HTTP / nginx + Lua + Redis",
        1.15,
        http_front.get_lua,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "http-kept-lua",
        "GET 1KB over HTTP, kept connections / nginx + Lua + Redis",
        1.3,
        http_front.kept_lua,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "http-native",
        "get 1KB, kept connections: HTTP / native with --pipeline",
        0.93,
        http_front.against_native,
    ),
    Promise(
        "http-100KB-static",
        "GET 100KB over HTTP, kept connections / nginx without authentication",
        0.8,
        http_front.get_100kb_static,
        missing=nginx.missing,
    ),
    Promise(
        "http-100KB-two-hops",
        "GET 100KB over HTTP, kept connections / two bare hops and Redis",
        0.95,
        http_front.get_100kb_two_hops,
    ),
    Promise(
        "http-10MB-static",
        "GET 10MB over HTTP, kept connections / nginx without authentication",
        1.1,
        http_front.get_10mb_static,
        missing=nginx.missing,
    ),
    Promise(
        "http-kept-caddy",
        "GET 1KB over HTTP, kept connections / Caddy without authentication",
        1.2,
        http_front.kept_caddy,
        missing=caddy.missing,
    ),
    Promise(
        "http-100KB-caddy",
        "GET 100KB over HTTP, kept connections / Caddy without authentication",
        1.2,
        http_front.get_100kb_caddy,
        missing=caddy.missing,
    ),
    Promise(
        "put-1KB-dav",
        "PUT 1KB, durable / nginx's dav module with the same fsync",
        3.0,
        http_front.put_1kb_dav,
        missing=nginx.missing,
    ),
    Promise("put-1KB-bare", "PUT 1KB, durable / a bare program", 0.95, http_front.put_1kb_bare),
    Promise("put-10MB-dd", "PUT 10MB, durable / dd conv=fsync", 0.8, http_front.put_10mb_dd),
    Promise(
        "http-digest",
        "GET 1KB and 1MB over HTTP: with the digest / without",
        0.95,
        http_front.digest,
        missing=http_front.missing_for_digest,
    ),
    Promise(
        "http-idle",
        "GET 1KB over HTTP, 8 clients: beside 10,000 idle ones / alone",
        0.9,
        http_front.idle_crowd,
    ),
)

_MYSQL = (
    Promise(
        "new-paper", "new, plain passwords: defaults / the paper's stage", 3.5, against_paper.new
    ),
)

_FTP = (
    *(
        Promise(
            f"get-{name}",
            f"get 1KB with a log-in each: natively / {name} over FTP",
            limit,
            against_ftp.get(name),
            fetched=(name,),
        )
        for name, limit in (
            ("pure-ftpd", 15.0),
            ("pure-ftpd-authd", 15.0),
            ("vsftpd", 15.0),
            ("proftpd", 15.0),
            ("pyftpdlib", 5.0),
        )
    ),
    Promise(
        "ftp-driver",
        "loadgen's CPU time for a file over FTP, kept connections / a bare program's",
        1.3,
        against_ftp.cost_of_driver,
        at_most=True,
        fetched=(against_ftp.FOR_DRIVER,),
    ),
)

OF_STORE = {
    "sqlite": (*_SQLITE, *_FTP, *tls.PROMISES),
    "redis": (*_REDIS, *_HTTP, *events.PROMISES),
    "mysql": _MYSQL,
}
