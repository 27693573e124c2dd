"""Mutations of loadgen's crowds: who reads when, who drops out, and when the run is over."""

from tree import Mutation

_CROWD = "e2e/test_loadgen_crowd.LoadgenCrowdTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "users-read-without-pacing",
        "loadgen/crowd/pace.cpp",
        "return std::min(size_bytes, whole);",
        "return size_bytes + 0 * whole;",
        ("unit/a user may read what is due*",),
    ),
    Mutation(
        "a-slow-user-never-drops-out",
        "loadgen/crowd/loop.cpp",
        "one.limit_ns = one.asked_ns + pace_.limit_ns(answer.size_bytes);",
        "one.limit_ns = INT64_MAX / 2;",
        (_CROWD + "test_one_user_that_is_too_slow_fails_the_run",),
    ),
    Mutation(
        "least-rate-is-the-rate",
        "loadgen/crowd/pace.cpp",
        "least_bytes_s_(rate_bytes_s * least_percent / 100)",
        "least_bytes_s_(rate_bytes_s + 0 * least_percent)",
        ("unit/a fetch is too slow when it takes longer*",),
    ),
    Mutation(
        "crowd-logs-in-for-each-fetch",
        "loadgen/crowd/loop.cpp",
        "one.is_logged_in = true;",
        "",
        (_CROWD + "test_each_engine_carries_the_same_load",),
    ),
    Mutation(
        "crowd-is-stable-before-each-user-has-a-fetch",
        "loadgen/crowd/stability.cpp",
        "return standing.without_fetch == 0 && ",
        "return ",
        ("unit/nothing is stable before each user*",),
    ),
    Mutation(
        "a-drop-out-does-not-begin-the-time-again",
        "loadgen/crowd/stability.cpp",
        "if (standing.held != held_) {",
        "if (held_ < 0) {",
        ("unit/a user that drops out begins the time again*",),
    ),
    Mutation(
        "timers-of-a-later-turn-are-due",
        "loadgen/crowd/wheel.cpp",
        "if (timers_[user].tick <= tick) {",
        "{",
        ("unit/a timer beyond a turn of the wheel*",),
    ),
    Mutation(
        "full-queue-of-signals-loses-users",
        "loadgen/crowd/engine_sigio.cpp",
        "if (number == SIGIO) return poll_once(ready);",
        "if (number == SIGIO) continue;",
        ("unit/when the queue of signals is full*",),
    ),
    Mutation(
        "epoll-wakes-for-users-that-do-not-wait",
        "loadgen/crowd/engine_epoll.cpp",
        "event.events = events | EPOLLONESHOT;",
        "event.events = events | EPOLLIN;",
        ("unit/bytes for a user that is not armed wake nobody*",),
    ),
    Mutation(
        "io-uring-forgets-what-does-not-fit",
        "loadgen/crowd/engine_io_uring.cpp",
        "if (++unsubmitted_ < ring_.params.sq_entries) return base::kDone;",
        "if (++unsubmitted_ > 0) return base::kDone;",
        ("unit/no user of a large crowd is forgotten*",),
    ),
    Mutation(
        "failing-crowd-goes-on",
        "loadgen/crowd/run.cpp",
        "if (config_.crowd.too_slow == TooSlow::kFail && now.held < now.started)",
        "if (false)",
        (_CROWD + "test_one_user_that_is_too_slow_fails_the_run",),
    ),
    Mutation(
        "small-file-is-a-paced-transfer",
        "loadgen/crowd/report.cpp",
        "tally.file_bytes > buffers ?",
        "tally.file_bytes >= buffers ?",
        ("unit/a file that fits into the buffers*",),
    ),
)
