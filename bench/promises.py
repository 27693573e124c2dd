"""The promises: for each store, what is measured and its limit."""

from __future__ import annotations

from . import against_paper, against_peers, alone
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
    Promise("count", "loadgen's count / the kernel's", 1.05, alone.independent_meter, at_most=True),
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
        missing=against_peers.missing_with_lua,
    ),
    Promise(
        "kept-lua",
        "get 1KB, kept connections: --pipeline / nginx + Lua + Redis",
        1.5,
        against_peers.kept_lua,
        missing=against_peers.missing_with_lua,
    ),
    Promise(
        "p99-lua",
        "99th percentile at half of the load: --pipeline / nginx + Lua + Redis",
        1.0,
        against_peers.p99_lua,
        at_most=True,
        missing=against_peers.missing_with_lua,
    ),
    Promise(
        "get-auth-request",
        "get 1KB: --pipeline / nginx + auth_request",
        1.0,
        against_peers.get_auth_request,
        missing=against_peers.missing,
    ),
    Promise(
        "get-100KB-static",
        "get 100KB: --pipeline / nginx without authentication",
        0.9,
        against_peers.get_100kb_static,
        missing=against_peers.missing,
    ),
    Promise(
        "get-1MB-static",
        "get 1MB: --pipeline / nginx without authentication",
        1.25,
        against_peers.get_1mb_static,
        missing=against_peers.missing,
    ),
    Promise(
        "get-10MB-static",
        "get 10MB: --pipeline / nginx without authentication",
        1.25,
        against_peers.get_10mb_static,
        missing=against_peers.missing,
    ),
    Promise(
        "new-paper", "new, plain passwords: defaults / the paper's stage", 3.0, against_paper.new
    ),
)

_MYSQL = (
    Promise(
        "new-paper", "new, plain passwords: defaults / the paper's stage", 3.5, against_paper.new
    ),
)

OF_STORE = {"sqlite": _SQLITE, "redis": _REDIS, "mysql": _MYSQL}
