"""Mutations of lib/: texts and numbers, the line protocol, flags, telemetry."""

from tree import Mutation

_BASE = (
    Mutation(
        "size-may-overflow",
        "lib/base/units.cpp",
        "*number > (INT64_MAX >> shift)",
        "*number < 0",
        ("unit/a size that does not fit*",),
    ),
    Mutation(
        "short-time-becomes-never",
        "lib/base/units.cpp",
        "ms == 0 && seconds > 0 ? 1 : ms",
        "ms",
        ("unit/seconds may have a fraction",),
    ),
    Mutation(
        "log-line-is-forged",
        "lib/base/log.cpp",
        "byte < 0x20 || ",
        "",
        ("unit/bytes from a peer cannot break a log line",),
    ),
    Mutation(
        "outage-is-logged-again-and-again",
        "lib/base/outage.cpp",
        "if (is_logged(state)) return false;\n  if (state == kReachable)",
        "if (state == kReachable)",
        ("unit/an outage is logged once*",),
    ),
    Mutation(
        "write-stops-after-a-part",
        "lib/base/file_io.cpp",
        "bytes.remove_prefix(static_cast<std::size_t>(written));",
        "return true;",
        ("unit/write_all does not take a part for all",),
    ),
)

_WIRE = (
    Mutation(
        "line-limit-513",
        "lib/wire/line_buffer.cpp",
        "bytes.substr(0, kMaxLineBytes)",
        "bytes.substr(0, kMaxLineBytes + 1)",
        ("unit/a line of 512 bytes*",),
    ),
    Mutation(
        "line-without-end-is-waited-for",
        "lib/wire/line_buffer.cpp",
        "bytes.size() < kMaxLineBytes ?",
        "bytes.size() <= kMaxLineBytes ?",
        ("unit/a line is too long as soon as*",),
    ),
    Mutation(
        "used-line-stays-in-memory",
        "lib/wire/line_buffer.cpp",
        "::explicit_bzero(bytes_.data() + last_line_begin_, begin_ - last_line_begin_);",
        "",
        ("unit/a line is overwritten*",),
    ),
    Mutation(
        "user-limit-63",
        "lib/wire/request.cpp",
        "user.size() <= kMaxUserBytes",
        "user.size() < kMaxUserBytes",
        ("unit/users have 1 to 64*",),
    ),
    Mutation(
        "password-limit-129",
        "lib/wire/request.cpp",
        "password.size() <= kMaxPasswordBytes",
        "password.size() <= kMaxPasswordBytes + 1",
        ("unit/passwords have 1 to 128*",),
    ),
    Mutation(
        "empty-password-is-valid",
        "lib/wire/request.cpp",
        "!password.empty() && ",
        "",
        ("unit/passwords have 1 to 128*",),
    ),
    Mutation(
        "control-bytes-are-let-in",
        "lib/wire/request.cpp",
        "if (line.empty() || has_control(line)) return Refused{ErrorCode::kSyntax, is_get};",
        "if (line.empty()) return Refused{ErrorCode::kSyntax, is_get};",
        ("unit/an empty line and control bytes*",),
    ),
    Mutation(
        "delete-is-no-control-byte",
        "lib/wire/request.cpp",
        " || c == 0x7f",
        "",
        ("unit/an empty line and control bytes*",),
    ),
    Mutation(
        "parent-folder-is-a-file-name",
        "lib/wire/request.cpp",
        ' || part == ".."',
        "",
        ("unit/file names stay below*",),
    ),
    Mutation(
        "refused-get-is-not-told-apart",
        "lib/wire/request.cpp",
        "return Refused{*code, is_get};",
        "return Refused{*code, false};",
        ("e2e/test_accounts.AccountsTest.test_a_refused_get_logs_the_connection_out",),
    ),
    Mutation(
        "internal-keeps-the-connection",
        "lib/wire/error_word.cpp",
        "case ErrorCode::kInternal: return true;",
        "return true;\n    case ErrorCode::kInternal:",
        ("unit/only too-long*",),
    ),
    Mutation(
        "size-may-be-followed-by-anything",
        "lib/wire/reply.cpp",
        " || end != digits.data() + digits.size()",
        "",
        ("unit/a line that is not a reply*",),
    ),
)

_FLAGS = (
    Mutation(
        "environment-beats-the-command-line",
        "lib/flags/parse.cpp",
        "return wrong_usage(program, *wrong);\n    parser.take_command_line(argc, argv);",
        "return wrong_usage(program, *wrong);",
        ("unit/the command line overrides*",),
    ),
    Mutation(
        "empty-value-swallows-the-next-flag",
        "lib/flags/parse.cpp",
        'argument == name + "=";',
        "false;",
        ("unit/an empty value does not swallow*",),
    ),
    Mutation(
        "password-stays-in-the-list-of-processes",
        "lib/flags/parse.cpp",
        'hide_secrets(argc, argv, variable_of(program.name, ""));',
        "",
        ("stores/test_store_start.SecretsTest.test_they_are_not_shown",),
    ),
    Mutation(
        "password-file-may-be-readable-by-others",
        "lib/flags/secrets.cpp",
        "if ((status.st_mode & S_IROTH) != 0)",
        "if (false)",
        (
            "stores/test_store_start.StoreStartTest"
            ".test_a_password_file_that_others_can_read_is_wrong_usage",
        ),
    ),
)

_TELEMETRY = (
    Mutation(
        "killed-child-has-an-open-connection-for-ever",
        "lib/telemetry/board.cpp",
        "for (auto& level : slot.levels) level.store(0, std::memory_order_relaxed);",
        "",
        (
            "unit/what a child counted stays*",
            "e2e/test_telemetry_counts.AuthserverCountsTest.test_what_a_killed_process_counted_stays",
        ),
        may_hang=True,
    ),
    Mutation(
        "next-worker-resets-the-counters",
        "lib/telemetry/board.cpp",
        "slots_[index].owner.store(",
        "for (auto& counter : slots_[index].counters) counter = 0;\n  slots_[index].owner.store(",
        ("unit/the counts of workers that ended stay*",),
    ),
    Mutation(
        "workers-without-a-slot-lose-counts",
        "lib/telemetry/board.cpp",
        "shared_slot().is_shared = true;",
        "",
        ("unit/workers that share a slot*",),
    ),
    Mutation(
        "buckets-do-not-include-the-lower-ones",
        "lib/telemetry/page.cpp",
        "count += histogram[i];",
        "count = histogram[i];",
        ("unit/each bucket of a histogram*", "e2e/test_telemetry.BothServersTest"),
    ),
    Mutation(
        "slow-telemetry-clients-pile-up",
        "lib/telemetry/endpoint.cpp",
        "if (peers_.size() == kMostConnections) peers_.pop_front();",
        "",
        ("e2e/test_telemetry_http.HttpTest.test_slow_clients_keep_nobody_out_and_are_closed",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_BASE, *_WIRE, *_FLAGS, *_TELEMETRY)
