"""Mutations of loadgen/: what is counted, from when to when, what is compared, the exit status."""

from tree import Mutation

_LOADGEN = "e2e/test_loadgen.LoadgenTest."
_ERRORS = "e2e/test_loadgen_errors.LoadgenErrorsTest."
_FILES = "e2e/test_loadgen_files.LoadgenFilesTest."

_TIMES = (
    Mutation(
        "response-time-leaves-out-connecting",
        "loadgen/client.cpp",
        "exchange.connected_ns = base::now_ns();",
        "exchange.connected_ns = exchange.started_ns = base::now_ns();",
        (_LOADGEN + "test_the_response_time_includes_connecting",),
    ),
    Mutation(
        "unasked-bytes-are-ignored",
        "loadgen/client.cpp",
        "if (!exchange.failure && replies_.has_more()) {",
        "if (false) {",
        (_ERRORS + "test_an_improper_reply_is_a_protocol_error",),
    ),
    Mutation(
        "connection-is-used-again-after-a-failure",
        "loadgen/client.cpp",
        "if (!is_usable_ || replies_.has_more()) hang_up();",
        "",
        (_ERRORS + "test_a_kept_connection_is_not_used_again_after_a_timeout",),
    ),
    Mutation(
        "failing-to-connect-uses-all-cores",
        "loadgen/client.cpp",
        "std::this_thread::sleep_for(1ms);",
        "return Fault::kConnect;",
        (_ERRORS + "test_a_connection_that_is_refused_is_not_tried_without_a_pause",),
    ),
    Mutation(
        "mismatch-is-no-failure",
        "loadgen/client.cpp",
        "if (config_.must_verify && !reference_.is_whole_and_equal()) return Fault::kMismatch;",
        "",
        (_FILES + "test_verify_accepts_equal_copies_and_reports_different_ones",),
    ),
    Mutation(
        "verify-compares-nothing",
        "loadgen/reference.cpp",
        "static_cast<std::size_t>(copy_.gcount())) == bytes;",
        "static_cast<std::size_t>(copy_.gcount())) != std::string_view();",
        ("unit/a file is compared with its copy*",),
    ),
    Mutation(
        "verify-accepts-a-part",
        "loadgen/reference.cpp",
        "return is_equal_ && copy_.peek() == std::ifstream::traits_type::eof();",
        "return is_equal_;",
        ("unit/a file is compared with its copy*",),
    ),
    Mutation(
        "trickle-has-no-time-out",
        "loadgen/reply_stream.cpp",
        "must_watch_clock = unhurried_.has_passed();",
        "must_watch_clock = false;",
        ("unit/silence ends with a time-out*",),
        may_hang=True,
    ),
    Mutation(
        "skipped-file-takes-the-next-reply",
        "loadgen/reply_stream.cpp",
        "if (static_cast<std::uint64_t>(got) > left) return Fault::kProtocol;",
        "if (static_cast<std::uint64_t>(got) > left) return {};",
        ("unit/bytes behind a file that nobody looks at*",),
    ),
    Mutation(
        "skipped-file-may-be-short",
        "loadgen/reply_stream.cpp",
        "for (std::uint64_t left = size_bytes - here; left > 0;) {",
        "for (std::uint64_t left = size_bytes - here; left > 1;) {",
        ("unit/a file that nobody looks at and that ends too early*",),
    ),
    Mutation(
        "error-of-the-server-is-a-success",
        "loadgen/drivers/native.cpp",
        "return refuse(error->code);",
        "return succeeded();",
        ("unit/an error of the server is its code*",),
    ),
    Mutation(
        "first-byte-is-that-of-the-first-reply",
        "loadgen/reply_stream.cpp",
        "has_more() ? last_byte_ns_ : 0",
        "first_byte_ns_",
        ("unit/the first byte of a reply*",),
    ),
    Mutation(
        "pipelined-name-leaves-its-refusal-unread",
        "loadgen/drivers/native.cpp",
        "kind_ == RequestKind::kGet && is_pipelined_ &&",
        "false &&",
        ("unit/a pipelined file name is refused*",),
    ),
    Mutation(
        "warm-up-is-counted",
        "loadgen/closed_loop.cpp",
        "carry_out_next(control);\n    recorder_.count_warmup();",
        "recorder_.record(carry_out_next(control));",
        (_LOADGEN + "test_warmup_is_not_counted",),
    ),
    Mutation(
        "one-request-too-many",
        "loadgen/closed_loop.cpp",
        "done == config_.requests :",
        "done > config_.requests :",
        (_LOADGEN + "test_a_number_of_requests_is_for_each_thread",),
    ),
)

_FIGURES = (
    Mutation(
        "errors-count-as-throughput",
        "loadgen/recorder.cpp",
        "  if (exchange.failure) return failed(*exchange.failure, exchange.why, took_ns);",
        "  if (exchange.failure) failed(*exchange.failure, exchange.why, took_ns);",
        ("unit/a failed request counts as an error*",),
    ),
    Mutation(
        "run-ends-with-the-first-thread",
        "loadgen/recorder.cpp",
        "std::max(elapsed_ns, other.elapsed_ns)",
        "other.elapsed_ns",
        ("unit/tallies of two threads*",),
    ),
    Mutation(
        "first-byte-is-counted-from-the-connection",
        "loadgen/recorder.cpp",
        "since_start(exchange.first_byte_ns);",
        "since_start(exchange.first_byte_ns - exchange.connected_ns + exchange.started_ns);",
        ("unit/a request that succeeded counts*",),
    ),
    Mutation(
        "cpu-time-is-of-one-thread",
        "loadgen/cpu.cpp",
        "::getrusage(RUSAGE_SELF, &used);",
        "::getrusage(RUSAGE_THREAD, &used);",
        (_LOADGEN + "test_the_cpu_time_of_a_request_is_loadgens_own",),
    ),
    Mutation(
        "percentile-is-rounded-down",
        "loadgen/histogram.cpp",
        "(count_ * per_mille + 999) / 1000",
        "(count_ * per_mille) / 1000",
        ("unit/small values are kept exactly",),
    ),
    Mutation(
        "bucket-is-given-by-its-lower-end",
        "loadgen/histogram.cpp",
        "low + (std::uint64_t{1} << shift) / 2",
        "low",
        ("unit/a histogram keeps values of every*",),
    ),
    Mutation(
        "p99-is-p90",
        "loadgen/summary.cpp",
        "percentile_ms(990)",
        "percentile_ms(900)",
        ("unit/percentiles are those of their names",),
    ),
    Mutation(
        "bytes-that-did-not-come-are-not-missed",
        "loadgen/summary.cpp",
        "if (tally.announced_bytes != tally.moved_bytes) {",
        "if (false) {",
        ("unit/a run is invalid if announced bytes*",),
    ),
    Mutation(
        "n-check-is-not-looked-at",
        "loadgen/summary.cpp",
        "if (!summary.is_n_check_good()) {",
        "if (false) {",
        ("unit/N = X*",),
    ),
    Mutation(
        "files-are-numbered-from-zero",
        "loadgen/workload.cpp",
        "request % count + 1",
        "request % count",
        ("unit/thread t asks for*",),
    ),
    Mutation(
        "names-of-two-threads-are-equal",
        "loadgen/workload.cpp",
        'fmt::format("load-{}-{}-{}", new_accounts_.run_name(), thread_, requests_)',
        'fmt::format("load-{}-{}", new_accounts_.run_name(), requests_)',
        ("unit/no two requests*",),
    ),
    Mutation(
        "one-source-address-for-all",
        "loadgen/sources.cpp",
        "turn % addresses_.size()",
        "turn % 1",
        ("unit/each thread uses all source addresses*",),
    ),
)

_PROGRAM = (
    Mutation(
        "invalid-run-has-status-0",
        "loadgen/main.cpp",
        "return report.failure ? failed(*report.failure) : flags::kDone;",
        "return flags::kDone;",
        (_LOADGEN + "test_an_invalid_run_has_failed_and_its_last_line_says_why",),
    ),
    Mutation(
        "run-ended-by-a-signal-has-status-0",
        "loadgen/main.cpp",
        "return 128 + report.stop_signal;",
        "return flags::kDone;",
        ("e2e/test_loadgen_runs.LoadgenSignalsTest.test_a_signal_ends_the_run_and_is_reported",),
    ),
    Mutation(
        "missing-copies-are-not-missed",
        "loadgen/preflight.cpp",
        "if (missing == 0) return {};",
        "if (missing >= 0) return {};",
        ("unit/missing copies for --verify*",),
    ),
    Mutation(
        "unfinished-file-is-saved",
        "loadgen/download.cpp",
        "std::ofstream(unfinished_path_,",
        "std::ofstream(path_,",
        (_FILES + "test_an_incomplete_file_is_not_saved",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_TIMES, *_FIGURES, *_PROGRAM)
