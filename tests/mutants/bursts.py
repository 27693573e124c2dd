"""Mutations of loadgen's bursts and of the record of transfers."""

from tree import Mutation

_BURSTS = "e2e/test_loadgen_bursts.LoadgenBurstsTest."
_HOLD = "lab/test_hold.HoldTest."
_TRANSFERS = "e2e/test_loadgen_transfers.LoadgenTransfersTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "burst-is-released-too-early",
        "loadgen/client.cpp",
        "    gate_->wait();\n",
        "",
        (
            _BURSTS + "test_nobody_asks_before_all_have_logged_in",
            _BURSTS + "test_ftp_data_connections_are_there_before_all_ask",
        ),
    ),
    Mutation(
        "log-in-is-the-release",
        "loadgen/drivers/native.cpp",
        "const bool asks = kind_ == RequestKind::kGet && file_line_.empty();",
        "const bool asks = kind_ == RequestKind::kGet;",
        ("unit/the line with the file name asks*",),
    ),
    Mutation(
        "failed-thread-is-waited-for",
        "loadgen/burst/loop.cpp",
        "if (exchange.asked_ns == 0) rounds_.pass();",
        "if (exchange.asked_ns == 0 && !exchange.failure) rounds_.pass();",
        (_BURSTS + "test_a_log_in_that_is_never_answered_does_not_hold_up_the_others",),
        may_hang=True,
    ),
    Mutation(
        "server-is-not-held",
        "loadgen/burst/hold.cpp",
        "  if (auto given = give(words_.freeze); !given) return given;\n",
        "  return base::kDone;\n",
        (_HOLD + "test_all_have_asked_before_the_server_runs_again",),
    ),
    Mutation(
        "server-is-let-go-too-early",
        "loadgen/burst/rounds.cpp",
        "  asked_.arrive_and_wait();\n",
        "  static_cast<void>(asked_.arrive());\n",
        ("unit/a server is held from the release*",),
    ),
    Mutation(
        "loadgen-holds-itself",
        "loadgen/burst/hold.cpp",
        "if (pid == ::getpid()) is_one_this_process = true;",
        "",
        ("unit/loadgen does not hold itself",),
    ),
    Mutation(
        "waiting-at-the-release-takes-the-time-limit",
        "loadgen/client.cpp",
        "    replies_.begin_time();\n",
        "",
        (_BURSTS + "test_waiting_at_the_release_takes_nothing_of_the_time_limit",),
    ),
    Mutation(
        "round-begins-before-all-have-finished",
        "loadgen/burst/rounds.cpp",
        "  begin_.arrive_and_wait();\n",
        "  end_round();\n",
        ("unit/nobody is released before all are ready*",),
    ),
    Mutation(
        "signal-does-not-end-a-burst",
        "loadgen/burst/rounds.cpp",
        "rounds_left_ > 0 && !must_stop_()",
        "rounds_left_ > 0",
        ("unit/a burst that is stopped*",),
    ),
    Mutation(
        "simultaneity-without-the-number-of-transfers",
        "loadgen/burst/figures.cpp",
        "static_cast<double>(sums.transfers) * sums.span_ns",
        "sums.span_ns",
        (
            "unit/transfers one after the other*",
            _TRANSFERS + "test_the_figures_of_a_burst_follow_from_the_record",
        ),
    ),
    Mutation(
        "failed-transfer-lengthens-the-span",
        "loadgen/burst/figures.cpp",
        "      ++sums.failed;\n      continue;\n",
        "      ++sums.failed;\n      moved.add(transfer.file_end_ns);\n      continue;\n",
        ("unit/a failed transfer is counted*",),
    ),
    Mutation(
        "burst-is-judged-by-n-check",
        "loadgen/summary.h",
        "return !open && !burst;",
        "return !open;",
        ("unit/a burst is not judged by*",),
    ),
    Mutation(
        "burst-response-time-has-the-waiting",
        "loadgen/burst/loop.cpp",
        "exchange.started_ns = exchange.asked_ns;",
        "",
        (_BURSTS + "test_the_response_time_starts_at_the_release",),
    ),
    Mutation(
        "burst-takes-any-number-of-rounds",
        "loadgen/config_checks.cpp",
        "if (config.requests > kMostRounds) {",
        "if (false) {",
        ("unit/a burst is a number of rounds*",),
    ),
    Mutation(
        "transfers-that-are-not-written-are-not-missed",
        "loadgen/transfer_file.cpp",
        "if (failed_errno_ != 0) return failed(",
        "if (false) return failed(",
        (_TRANSFERS + "test_a_record_that_cannot_be_written_ends_the_run_as_failed",),
    ),
    Mutation(
        "last-lines-of-a-thread-are-lost",
        "loadgen/loop.h",
        "    transfers_.flush();\n",
        "",
        (_TRANSFERS + "test_each_transfer_of_the_window_has_a_line_with_its_moments_in_order",),
    ),
    Mutation(
        "names-are-not-quoted",
        "loadgen/transfer_file.cpp",
        "csv_field(name),",
        "name,",
        (_TRANSFERS + "test_ftp_names_are_quoted_and_the_data_connection_is_timed",),
    ),
    Mutation(
        "lines-are-kept-without-a-bound",
        "loadgen/transfer_file.cpp",
        "return lines_.size() < kKeptBytes || flush();",
        "return true;",
        ("unit/lines are kept only until*",),
    ),
)
