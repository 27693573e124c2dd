"""Mutations of lib/: the protocol, connections, both server models, flags."""

from tree import Mutation

_IDLE = "e2e/test_idle.IdleTest."
_BUSY = "e2e/test_busy.BusyTest."
_PROCESSES = "e2e/test_process_model.ProcessModelTest."

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

_NET = (
    Mutation(
        "vanished-peer-is-not-noticed",
        "lib/net/socket_io.cpp",
        "::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);",
        "static_cast<void>(on);",
        ("unit/the system asks after the peer*",),
    ),
    Mutation(
        "stale-connection-counts-as-quiet",
        "lib/net/socket_io.cpp",
        "return peeked < 0 &&",
        "return peeked <= 1 ||",
        ("unit/an idle connection is usable until*",),
    ),
    Mutation(
        "peer-that-left-raises-sigpipe",
        "lib/net/socket_io.cpp",
        "&message, MSG_NOSIGNAL",
        "&message, 0",
        ("unit/a peer that is gone ends the conversation",),
    ),
    Mutation(
        "backlog-of-one",
        "lib/net/listen.cpp",
        "::listen(listener.fd.get(), longest_backlog())",
        "::listen(listener.fd.get(), 1)",
        ("unit/the system accepts on behalf*",),
    ),
    Mutation(
        "accepted-sockets-delay-small-replies",
        "lib/net/listen.cpp",
        "::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);",
        "",
        ("unit/small replies are sent at once*",),
    ),
    Mutation(
        "clients-delay-small-requests",
        "lib/net/connect.cpp",
        "::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);",
        "",
        ("unit/small replies are sent at once*",),
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

_CONNECTION = (
    Mutation(
        "idle-timeout-is-ignored",
        "lib/serve/stream.cpp",
        "return idle_timeout_ms_ == 0 ?",
        "return idle_timeout_ms_ >= 0 ?",
        (_IDLE + "test_a_client_that_sends_nothing_is_closed_without_a_reply",),
    ),
    Mutation(
        "slow-line-restarts-the-idle-time",
        "lib/serve/line_conversation.cpp",
        "if (deadline.has_passed()) return false;",
        "deadline = stream_.idle_deadline();",
        (_IDLE + "test_a_client_that_sends_a_line_too_slowly_is_closed",),
    ),
    Mutation(
        "peer-that-takes-nothing-is-kept",
        "lib/serve/stream.cpp",
        "if (reply_moves() || unacknowledged_ == 0) {",
        "if (reply_moves() || unacknowledged_ >= 0) {",
        ("e2e/test_idle.ClientThatDoesNotReadTest.test_one_that_takes_no_byte_of_a_file_is_cut",),
        may_hang=True,
    ),
    Mutation(
        "waiting-lines-are-read-while-draining",
        "lib/serve/line_conversation.cpp",
        "if (stream_.is_draining()) {",
        "if (false) {",
        ("unit/draining ends a conversation*",),
    ),
    Mutation(
        "connection-is-reset-behind-its-last-reply",
        "lib/serve/stream.cpp",
        "while (!deadline.has_passed()) {",
        "while (false) {",
        ("e2e/test_lines.GrantedLinesTest.test_a_file_before_a_line_that_is_too_long_comes_whole",),
    ),
    Mutation(
        "refused-client-cannot-read-busy",
        "lib/serve/acceptor.cpp",
        "net::receive_now(fd.get(), discarded);",
        "",
        (_BUSY + "test_one_more_whose_lines_wait_already_is_not_reset",),
    ),
    Mutation(
        "accept-spins-without-descriptors",
        "lib/serve/acceptor.cpp",
        "base::pause_ms(kWaitMs);",
        "",
        (
            "e2e/test_descriptors.OutOfDescriptorsTest.test_it_waits_without_spinning_and_serves_again",
        ),
        may_hang=True,
    ),
)

_MODELS = (
    Mutation(
        "spare-thread-serves-one-connection",
        "lib/serve/thread_server.cpp",
        "} while (waits_again(entrance));",
        "} while (false);",
        ("unit/a spare thread serves one*",),
    ),
    Mutation(
        "one-thread-too-many",
        "lib/serve/thread_server.cpp",
        "while (serving < options_.max_connections) {",
        "while (serving <= options_.max_connections) {",
        (_BUSY + "test_one_more_is_told_so_at_once_and_closed",),
        may_hang=True,
    ),
    Mutation(
        "every-front-refuses-in-lines",
        "lib/serve/thread_server.cpp",
        "refuse(std::move(arrival->fd), entrance.busy_answer());\n      }\n    } while",
        "refuse(std::move(arrival->fd), busy_line());\n      }\n    } while",
        ("unit/the connections of all fronts count together*",),
    ),
    Mutation(
        "drain-cuts-transfers",
        "lib/serve/thread_server.cpp",
        "shut_down_all(SHUT_RD);",
        "shut_down_all(SHUT_RDWR);",
        (
            "e2e/test_stop.StopFileserverTest"
            ".test_a_transfer_under_way_is_finished_and_waiting_lines_are_not_carried_out",
        ),
    ),
    Mutation(
        "drain-time-is-ignored",
        "lib/serve/thread_server.cpp",
        "base::Deadline::in_ms(options_.drain_ms)",
        "base::Deadline::in_ms(0)",
        ("e2e/test_stop.StopFileserverTest.test_nothing_is_cut_when_all_is_finished_in_time",),
    ),
    Mutation(
        "nobody-retries-to-make-a-thread",
        "lib/serve/thread_server.cpp",
        "is_short ? kTryAgainMs : -1",
        "-1",
        (
            "e2e/test_crowd.ThreadsTest"
            ".test_when_no_thread_could_be_made_it_is_tried_again_while_all_others_are_busy",
        ),
    ),
    Mutation(
        "ended-threads-pile-up",
        "lib/serve/thread_server.cpp",
        "    join_ended();\n    const base::Lock lock(mutex_);\n    std::list<Seat> made;",
        "    const base::Lock lock(mutex_);\n    std::list<Seat> made;",
        ("e2e/test_crowd.ThreadsTest.test_threads_that_ended_do_not_pile_up_without_idle_threads",),
    ),
    Mutation(
        "one-process-too-many",
        "lib/serve/child.cpp",
        "board.serving.fetch_add(1) < options.max_connections",
        "board.serving.fetch_add(1) <= options.max_connections",
        (_BUSY + "test_one_more_is_told_so_at_once_and_closed",),
        may_hang=True,
    ),
    Mutation(
        "children-outlive-their-parent",
        "lib/serve/child.cpp",
        "::prctl(PR_SET_PDEATHSIG, kDrainSignal);",
        "",
        (_PROCESSES + "test_when_the_parent_is_killed_idle_children_end_and_the_address_is_free",),
    ),
    Mutation(
        "child-obeys-sigterm",
        "lib/serve/child.cpp",
        "::signal(SIGTERM, SIG_IGN);",
        "::signal(SIGTERM, SIG_DFL);",
        (_PROCESSES + "test_a_child_that_is_told_to_terminate_goes_on_serving",),
    ),
    Mutation(
        "killed-child-keeps-its-place",
        "lib/serve/process_server.cpp",
        "if (state == ChildState::kServing) --board_->serving;",
        "",
        (_PROCESSES + "test_killed_children_free_their_places",),
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
            "e2e/test_telemetry.AuthserverCountsTest.test_what_a_killed_process_counted_stays",
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

_UNIX_SOCKETS = (
    Mutation(
        "kernel-queues-megabytes-for-each-peer",
        "lib/net/listen.cpp",
        "::setsockopt(fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent_bytes,",
        "::setsockopt(fd.get(), IPPROTO_TCP, TCP_MAXSEG, &most_unsent_bytes,",
        ("unit/the system queues at most*",),
    ),
    Mutation(
        "accepted-unix-socket-has-no-time-out",
        "lib/net/listen.cpp",
        "if (peer.sa_family == AF_UNIX) inherit_time_slice(listener, fd.get());",
        "",
        ("e2e/test_unix_sockets.UnixSocketTest.test_an_idle_connection_is_closed",),
        may_hang=True,
    ),
    Mutation(
        "every-user-may-connect",
        "lib/net/unix_listener.cpp",
        "S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;",
        "S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;",
        ("unit/only the owner and the group*",),
    ),
    Mutation(
        "socket-in-use-is-replaced",
        "lib/net/unix_listener.cpp",
        "::connect(probe.get(), address.get(), address.size()) != 0 && errno == ECONNREFUSED;",
        "true;",
        ("unit/a socket file that nobody listens on*",),
    ),
    Mutation(
        "abandoned-socket-stays",
        "lib/net/unix_listener.cpp",
        "if (errno != EADDRINUSE || !is_abandoned(path)) return errno;",
        "if (errno != 0) return errno;",
        ("unit/a socket file that nobody listens on*",),
    ),
    Mutation(
        "bound-socket-does-not-listen",
        "lib/net/unix_listener.cpp",
        "if (::listen(fd.get(), longest_backlog()) != 0) return failed(errno);",
        "",
        ("unit/a socket file that nobody listens on*",),
    ),
    Mutation(
        "socket-file-stays-at-the-end",
        "lib/net/unix_listener.cpp",
        "status.st_ino == inode_) ::unlink(path_.c_str());",
        "status.st_ino == inode_) return;",
        ("unit/a Unix-domain socket takes connections*",),
    ),
    Mutation(
        "socket-file-of-somebody-else-is-removed",
        "lib/net/unix_listener.cpp",
        "if (status.st_dev == device_ && status.st_ino == inode_) ::unlink",
        "if (status.st_dev == device_) ::unlink",
        ("unit/a socket file of somebody else*",),
    ),
    Mutation(
        "child-removes-the-socket-file",
        "lib/net/unix_listener.cpp",
        "if (path_.empty() || owner_ != ::getpid()) return;",
        "if (path_.empty()) return;",
        ("unit/a forked child does not remove*",),
    ),
    Mutation(
        "path-that-is-too-long-is-cut",
        "lib/net/address.cpp",
        "if (!path.starts_with('/') || path.size() > kMaxUnixPathBytes) return {};",
        "if (!path.starts_with('/')) return {};",
        ("unit/a path of a socket is absolute*",),
    ),
    Mutation(
        "sandbox-keeps-the-socket-file",
        "lib/guard/sandbox.cpp",
        "for (const std::string& path : allowed.clearable) {",
        "for (const std::string& path : std::vector<std::string>()) {",
        ("e2e/test_unix_sockets.UnixSocketTest.test_the_fileserver_removes_its_file_too",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (
    *_UNIX_SOCKETS,
    *_BASE,
    *_NET,
    *_WIRE,
    *_CONNECTION,
    *_MODELS,
    *_FLAGS,
    *_TELEMETRY,
)
