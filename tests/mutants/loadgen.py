"""Mutations of loadgen/: what is counted, from when to when, what is compared, the exit status."""

from tree import Mutation

_LOADGEN = "e2e/test_loadgen.LoadgenTest."
_ERRORS = "e2e/test_loadgen_errors.LoadgenErrorsTest."
_ACCOUNTS = "e2e/test_loadgen_accounts.LoadgenAccountsTest."
_HTTP_E2E = "e2e/test_loadgen_http.LoadgenHttpTest."
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
        "if (!exchange.failure) return succeeded(exchange);",
        "succeeded(exchange);\n  if (!exchange.failure) return;",
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
        "exchange.first_byte_ns - exchange.started_ns",
        "exchange.first_byte_ns - exchange.connected_ns",
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

_GIVEN_ACCOUNTS = (
    Mutation(
        "get-draws-the-first-account-only",
        "loadgen/workload.cpp",
        "std::uniform_int_distribution(1, config_.accounts)",
        "std::uniform_int_distribution(1, 1)",
        ("unit/a get draws each account*",),
    ),
    Mutation(
        "threads-draw-the-same-accounts",
        "loadgen/workload.cpp",
        "generator_(std::random_device()())",
        "generator_(1)",
        ("unit/two threads do not draw*",),
    ),
    Mutation(
        "password-has-no-number",
        "loadgen/workload.cpp",
        "password_ = numbered(config_.password, number);",
        "password_ = config_.password;",
        ("unit/%d stands for the same number*",),
    ),
    Mutation(
        "last-given-account-is-not-made",
        "loadgen/workload.cpp",
        "return account_ > config_.accounts;",
        "return account_ >= config_.accounts;",
        ("unit/the threads of a run make each given*",),
    ),
    Mutation(
        "given-accounts-end-with-the-time",
        "loadgen/closed_loop.cpp",
        "if (makes_given_accounts(config_)) return false;",
        "",
        (_ACCOUNTS + "test_new_makes_exactly_these_accounts_however_long_the_run_may_be",),
    ),
    Mutation(
        "first-thread-without-accounts-ends-the-run",
        "loadgen/closed_loop.cpp",
        "if (makes_given_accounts(config_)) return true;",
        "",
        (_ACCOUNTS + "test_new_makes_exactly_these_accounts_however_long_the_run_may_be",),
    ),
    Mutation(
        "accounts-need-no-mark",
        "loadgen/config.cpp",
        "if (config.accounts > 1 && !has_number(config.user)) return",
        "if (false) return",
        ("unit/more than one account needs*",),
    ),
    Mutation(
        "shortest-user-is-checked",
        "loadgen/config.cpp",
        "wire::is_valid_user(numbered(config.user, config.accounts))",
        "wire::is_valid_user(numbered(config.user, 1))",
        ("unit/the longest user and password*",),
    ),
)

_HTTP = (
    Mutation(
        "http-name-is-not-encoded",
        "loadgen/drivers/http.cpp",
        "http::encode_path(request.file_name)",
        "request.file_name",
        ("unit/a name is percent-encoded*",),
    ),
    Mutation(
        "base64-lacks-its-padding",
        "loadgen/drivers/http.cpp",
        "out_.append((3 - byte_count_ % 3) % 3, '=');",
        "",
        ("unit/an HTTP get is one message*",),
    ),
    Mutation(
        "part-of-a-file-is-right-for-http",
        "loadgen/drivers/http.cpp",
        "return status == 200;",
        "return status == 200 || status == 206;",
        ("unit/only 200 with the announced bytes*",),
    ),
    Mutation(
        "chunked-file-is-right",
        "loadgen/drivers/http.cpp",
        "const bool has_length = length && !answer_.is_encoded();",
        "const bool has_length = length.has_value();",
        ("unit/only 200 with the announced bytes*",),
    ),
    Mutation(
        "endless-refusal-is-received",
        "loadgen/drivers/http.cpp",
        "(has_succeeded || *length <= kMaxRefusalBytes)",
        "true",
        ("unit/a connection is used again only if*",),
    ),
    Mutation(
        "http-10-keeps-its-connection",
        "loadgen/drivers/http_answer.h",
        "(is_version_11_ || says_keep_alive_)",
        "true",
        ("unit/an answer says whether the connection stays",),
    ),
    Mutation(
        "connection-close-is-not-seen",
        "loadgen/drivers/http_answer.h",
        "return !says_close_ &&",
        "return",
        ("unit/a connection is used again only if*",),
    ),
    Mutation(
        "head-of-an-answer-has-no-limit",
        "loadgen/drivers/http_answer.cpp",
        "if (std::min(lf, received.size()) >= kMaxHeadBytes) return State::kMalformed;",
        "",
        ("unit/the head of an answer has a limit",),
    ),
    Mutation(
        "second-content-length-counts",
        "loadgen/drivers/http_answer.cpp",
        "if (!is_number || content_length_) return false;",
        "if (!is_number) return false;",
        ("unit/what is no head is malformed*",),
    ),
    Mutation(
        "bare-lf-ends-a-line",
        "loadgen/drivers/http_answer.cpp",
        "if (!line.ends_with('\\r') || !read_line(line.substr(0, line.size() - 1)))",
        "if (!read_line(line.substr(0, line.find('\\r'))))",
        ("unit/what is no head is malformed*",),
    ),
    Mutation(
        "early-answer-to-a-put-is-right",
        "loadgen/client.cpp",
        "is_upload_cut_ = end == UploadEnd::kCut;",
        "",
        (_HTTP_E2E + "test_a_put_that_is_answered_early_stops_and_its_connection_ends",),
    ),
    Mutation(
        "put-does-not-look-for-an-early-answer",
        "loadgen/upload.cpp",
        "errno != EAGAIN || !net::is_quiet_and_open(fd)",
        "errno != EAGAIN",
        (_HTTP_E2E + "test_a_put_that_is_answered_early_stops_and_its_connection_ends",),
        may_hang=True,
    ),
    Mutation(
        "names-of-puts-are-equal",
        "loadgen/workload.cpp",
        "file_name_ = new_name();",
        'file_name_ = "load";',
        ("unit/each put of each run*",),
    ),
)

_PROGRAM = (
    Mutation(
        "invalid-run-has-status-0",
        "loadgen/main.cpp",
        "if (const auto failure = loadgen::failure_of(summary)) return failed(*failure);",
        "",
        (_LOADGEN + "test_an_invalid_run_has_failed_and_its_last_line_says_why",),
    ),
    Mutation(
        "run-ended-by-a-signal-has-status-0",
        "loadgen/main.cpp",
        "return 128 + result.stop_signal;",
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

MUTATIONS: tuple[Mutation, ...] = (
    *_TIMES,
    *_FIGURES,
    *_GIVEN_ACCOUNTS,
    *_HTTP,
    *_PROGRAM,
)
