"""Mutations of lib/net/ and lib/serve/: sockets, one conversation, both server models."""

from tree import Mutation

_IDLE = "e2e/test_idle.IdleTest."
_BUSY = "e2e/test_busy.BusyTest."
_PROCESSES = "e2e/test_process_model.ProcessModelTest."

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

MUTATIONS: tuple[Mutation, ...] = (*_NET, *_UNIX_SOCKETS, *_CONNECTION, *_MODELS)
