"""Mutations of when loadgen sends its requests, and which of them count: closed and open loops."""

from tree import Mutation

_LOOPS = "e2e/test_loadgen_loops.LoadgenLoopsTest."

_CLOSED = (
    Mutation(
        "closed-loop-has-no-cool-down",
        "loadgen/closed_loop.cpp",
        "if (!ends_by_number(config_)) cool_down(control);",
        "",
        (_LOOPS + "test_a_slow_request_is_measured_under_load_and_loses_nothing",),
    ),
    Mutation(
        "cool-down-after-a-number-of-requests",
        "loadgen/closed_loop.cpp",
        "if (!ends_by_number(config_)) cool_down(control);",
        "recorder_.count_cooldown();",
        (_LOOPS + "test_a_number_of_requests_has_no_cool_down",),
    ),
    Mutation(
        "window-ends-with-the-slowest-thread",
        "loadgen/run.cpp",
        "if (ends_by_number(config_)) return tally.elapsed_ns;",
        "return tally.elapsed_ns;",
        (_LOOPS + "test_a_slow_request_is_measured_under_load_and_loses_nothing",),
    ),
    Mutation(
        "cool-down-is-not-told",
        "loadgen/recorder.cpp",
        "cooldown_requests += other.cooldown_requests;",
        "",
        ("unit/requests of the warm-up and of the cool-down*",),
    ),
)

_SCHEDULE = (
    Mutation(
        "fixed-gaps-are-rounded",
        "loadgen/schedule.cpp",
        "return std::llround(static_cast<double>(number) * gap_ns_);",
        "return static_cast<std::int64_t>(number) * static_cast<std::int64_t>(gap_ns_);",
        ("unit/fixed requests are due at multiples*",),
    ),
    Mutation(
        "poisson-gaps-are-uniform",
        "loadgen/schedule.cpp",
        "sum_ns_ -= std::log1p(-uniform) * gap_ns_;",
        "sum_ns_ += 2 * uniform * gap_ns_;",
        ("unit/gaps of Poisson arrivals*",),
    ),
    Mutation(
        "seed-is-not-used",
        "loadgen/schedule.cpp",
        "generator_(seed) {}",
        "generator_(seed * 0 + 1) {}",
        ("unit/a seed gives the same*",),
    ),
    Mutation(
        "stop-wakes-nobody",
        "loadgen/run_control.cpp",
        "base::wake_all<base::Sleepers::kOfOneProcess>(is_stopped_);",
        "",
        (_LOOPS + "test_a_signal_wakes_threads_that_wait_for_their_next_request",),
    ),
)

_OPEN = (
    Mutation(
        "response-time-starts-when-sent",
        "loadgen/recorder.cpp",
        "const std::int64_t response_ns = exchange.ended_ns - due.due_ns;",
        "const std::int64_t response_ns = exchange.ended_ns - due.begun_ns;",
        ("unit/in an open loop the response time*",),
    ),
    Mutation(
        "busy-threads-make-the-generator-late",
        "loadgen/recorder.cpp",
        "due.begun_ns - std::max(due.due_ns, due.free_ns)",
        "due.begun_ns - due.due_ns",
        ("unit/loadgen is late only for*",),
    ),
    Mutation(
        "time-outs-are-not-slow",
        "loadgen/recorder.cpp",
        "if (exchange.failure == Fault::kTimeout) gave_up(response_ns);",
        "",
        ("unit/requests that were given up are slow*",),
    ),
    Mutation(
        "late-answers-are-throughput",
        "loadgen/recorder.cpp",
        "if (exchange.ended_ns <= end_ns_) ++open.in_window;",
        "++open.in_window;",
        ("unit/a request of an open loop that succeeds after*",),
    ),
    Mutation(
        "late-generator-is-valid",
        "loadgen/summary.cpp",
        "if (summary.open && summary.open->is_late)",
        "if (false)",
        ("unit/an open loop whose generator was late*",),
    ),
    Mutation(
        "unfinished-requests-are-forgotten",
        "loadgen/open_loop.cpp",
        "if (counts) recorder_.record_unfinished(due_ns, begun_ns);",
        "",
        (_LOOPS + "test_no_request_is_missing_when_the_server_never_answers",),
    ),
    Mutation(
        "waiting-requests-end-with-the-window",
        "loadgen/open_loop.cpp",
        "control.window_end_ns + config_.timeout_ms * base::kNsPerMs",
        "control.window_end_ns",
        (_LOOPS + "test_waiting_requests_are_still_sent_after_the_window",),
    ),
    Mutation(
        "requests-are-sent-before-they-are-due",
        "loadgen/open_loop.cpp",
        "if (due_ns < control.window_end_ns) control.sleep_until(due_ns);",
        "",
        (_LOOPS + "test_a_signal_wakes_threads_that_wait_for_their_next_request",),
    ),
    Mutation(
        "finished-connection-is-held-open",
        "loadgen/open_loop.cpp",
        "if (config_.connection == Connection::kPerRequest) client_.hang_up();",
        "",
        (_LOOPS + "test_a_connection_for_each_request_is_closed_before_the_next_one_is_due",),
    ),
    Mutation(
        "open-loop-takes-a-number",
        "loadgen/config_checks.cpp",
        'if (config.requests > 0) return "--rate needs',
        'if (false) return "--rate needs',
        ("unit/an open loop ends by time*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_CLOSED, *_SCHEDULE, *_OPEN)
