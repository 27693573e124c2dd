"""Mutations of the bench, and of what it compares with."""

from tree import Mutation

_PEERS = "scripts/test_peers."
_BENCH = "scripts/test_bench."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "lua-admits-everybody",
        "bench/peers/auth.lua",
        'if record ~= "$plain$" .. password then',
        "if not record then",
        (_PEERS + "NginxTest.test_with_lua_every_request_is_validated",),
    ),
    Mutation(
        "auth-service-admits-everybody",
        "bench/peers/auth_service.cpp",
        "return answer == ",
        'return answer.ends_with("\\n") || answer == ',
        (_PEERS + "NginxTest.test_with_auth_request_every_request_is_validated",),
    ),
    Mutation(
        "auth-request-asks-nobody",
        "bench/peers/nginx.py",
        'location="auth_request /is-admitted;"',
        'location=""',
        (_PEERS + "NginxTest.test_with_auth_request_every_request_is_validated",),
    ),
    Mutation(
        "nginx-outlives-the-bench",
        "bench/peers/nginx.py",
        "            program.stop()",
        "            program.signal(0)",
        (_PEERS + "NginxTest.test_its_workers_stay_in_our_session_and_end_with_it",),
    ),
    Mutation(
        "wrk-overlooks-refused-requests",
        "bench/peers/wrk.py",
        "if failures or not requests",
        "if not requests",
        (_PEERS + "NginxTest.test_wrk_costs_time_and_fails_when_a_request_is_refused",),
    ),
    Mutation(
        "two-hops-do-not-ask-redis",
        "bench/peers/two_hop.cpp",
        "redis >= 0 &&",
        "redis < 0 &&",
        (_PEERS + "BareTest.test_two_hops_ask_redis_once_for_each_request",),
    ),
    Mutation(
        "closed-loop-counts-requests-twice",
        "bench/peers/paced.cpp",
        "note(times, began, exchange(plan,",
        "note(times, began, true), note(times, began, exchange(plan,",
        (_PEERS + "PacedTest.test_in_a_closed_loop_it_counts_each_request",),
    ),
    Mutation(
        "paced-overlooks-failures",
        "bench/peers/paced.cpp",
        "times.failed += is_whole ? 0 : 1;",
        "times.failed += is_whole ? 0 : 0;",
        (_PEERS + "PacedTest.test_it_speaks_http_and_fails_when_a_request_is_denied",),
    ),
    Mutation(
        "broken-promise-is-kept",
        "bench/promise.py",
        "outcome.ratio <= self.limit if",
        "outcome.ratio <= 2 * self.limit if",
        (_BENCH + "PromiseTest.test_a_ratio_at_its_limit_is_kept_and_one_beyond_is_not",),
    ),
    Mutation(
        "both-sides-have-our-load",
        "bench/promise.py",
        "ours.best(), theirs.best()",
        "ours.best(), ours.best()",
        (_BENCH + "PromiseTest.test_each_side_is_measured_at_its_own_best_load",),
    ),
    Mutation(
        "bench-always-succeeds",
        "bench/cli.py",
        "return 0 if kept == len(rows) else 1",
        "return 0",
        (
            _BENCH + "CommandTest."
            "test_the_table_says_which_promises_are_kept_and_the_status_is_1_if_one_is_not",
        ),
    ),
    Mutation(
        "growth-is-the-ratio",
        "bench/growth.py",
        "for x, y in logs) / spread",
        "for x, y in logs)",
        ("scripts/test_bench_scale.GrowthTest.test_the_exponent_is_that_of_the_power",),
    ),
    Mutation(
        "scale-stops-before-the-end",
        "bench/scale_cli.py",
        "else [*steps, end]",
        "else steps",
        (
            "scripts/test_bench_scale.ScaleTest.test_the_steps_include_the_first_and_the_last_number",
        ),
    ),
    Mutation(
        "missing-peer-is-not-skipped",
        "bench/cli.py",
        "if missing := promise.missing():",
        "if missing := []:",
        (_BENCH + "CommandTest.test_a_peer_that_is_missing_is_skipped_by_name_in_one_line",),
    ),
    Mutation(
        "uploads-of-the-peer-are-not-synced",
        "bench/peers/durable_rename.c",
        "const int failed = sync(fd);",
        "const int failed = sync == fsync ? fsync(fd) : 0;",
        ("scripts/test_peers.DurableRenameTest",),
    ),
    Mutation(
        "folder-of-the-peers-uploads-is-not-synced",
        "bench/peers/durable_rename.c",
        "return sync_path(dirname(strcpy(folder, to)), fsync);",
        "return sync_path(dirname(strcpy(folder, to)), close);",
        ("scripts/test_peers.DurableRenameTest",),
    ),
)
