"""Mutations of fileserver/: grants, the authserver's answers, the fence, versions, the cache."""

from tree import Mutation

_ACCOUNTS = "e2e/test_accounts.AccountsTest."
_ANSWERS = "e2e/test_auth_answers.AuthAnswersTest."
_KEPT = "e2e/test_auth_answers.KeptConnectionTest."
_SENT = "e2e/test_disk_mode.ChangeWhileSentTest."
_FOLLOWS = "e2e/test_prefetch_follows.PrefetchFollowsTest."

_SESSION = (
    Mutation(
        "next-client-has-the-last-grant",
        "fileserver/session.cpp",
        "converse(serve::LineConversation& connection) {\n  is_granted_ = false;",
        "converse(serve::LineConversation& connection) {",
        (_ACCOUNTS + "test_a_new_connection_on_a_reused_thread_is_not_logged_in",),
    ),
    Mutation(
        "file-without-a-grant",
        "fileserver/session.cpp",
        "if (!is_granted_) {",
        "if (false) {",
        ("e2e/test_file_names.FileNamesTest.test_every_name_is_denied_alike_before_a_granted_get",),
    ),
    Mutation(
        "denied-get-grants",
        "fileserver/session.cpp",
        "is_granted_ = answer.status.ok();",
        "is_granted_ = true;",
        (_ACCOUNTS + "test_a_refused_get_logs_the_connection_out",),
    ),
    Mutation(
        "refused-get-keeps-the-grant",
        "fileserver/session.cpp",
        "if (refused.was_get) is_granted_ = false;",
        "",
        (_ACCOUNTS + "test_a_refused_get_logs_the_connection_out",),
    ),
    Mutation(
        "ping-without-an-authserver-is-internal",
        "fileserver/session.cpp",
        'kUnavailable, "the authserver does not answer"',
        'kInternal, "the authserver does not answer"',
        (_ANSWERS + "test_a_ping_that_is_answered_with_anything_but_ok_is_unavailable",),
    ),
)

_AUTH = (
    Mutation(
        "trickle-on-a-kept-connection-has-no-limit",
        "fileserver/auth_exchange.cpp",
        "must_watch_clock = true)",
        "must_watch_clock = is_new)",
        (_ANSWERS + "test_an_answer_that_trickles_on_a_kept_connection_is_unavailable_in_time",),
        may_hang=True,
    ),
    Mutation(
        "connection-is-kept-after-a-time-out",
        "fileserver/auth_client.cpp",
        "return outcome.is_reusable && goes_on(outcome.reply);",
        "return outcome.kind == AuthOutcome::Kind::kTimedOut || goes_on(outcome.reply);",
        (_ANSWERS + "test_a_connection_whose_request_timed_out_is_closed",),
    ),
    Mutation(
        "bytes-that-came-unasked-are-an-answer",
        "fileserver/connection_shelf.h",
        "while (fd.is_open() && !net::is_quiet_and_open(fd.get())) fd = take();",
        "",
        (_KEPT + "test_one_that_was_closed_while_idle_is_replaced_unnoticed",),
    ),
    Mutation(
        "connection-is-kept-after-busy",
        "fileserver/auth_exchange.cpp",
        "return !wire::closes_connection(err->code);",
        "return true;",
        (_KEPT + "test_one_that_was_told_busy_and_closed_is_not_kept",),
    ),
    Mutation(
        "new-is-sent-twice",
        "fileserver/auth_client.cpp",
        "ask_if_acceptable(request, Repeat::kUnsafe, ",
        "ask_if_acceptable(request, Repeat::kSafe, ",
        (_ANSWERS + "test_a_new_without_an_answer_is_unavailable_and_not_repeated",),
    ),
    Mutation(
        "answer-of-nonsense-is-unavailable",
        "fileserver/auth_exchange.cpp",
        'return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};\n'
        "    case Kind::kAnswered",
        'return Error{ErrorCode::kUnavailable, "the authserver does not speak the protocol"};\n'
        "    case Kind::kAnswered",
        (_ANSWERS + "test_what_is_no_answer_grants_nothing",),
    ),
    Mutation(
        "name-look-up-has-no-limit",
        "lib/net/resolved_name.cpp",
        "const bool is_in_time = has_ended(under_way, wait_until);",
        "const bool is_in_time = (under_way.wait(), true);",
        ("unit/a name server that hangs*",),
        may_hang=True,
    ),
    Mutation(
        "address-that-failed-is-not-noted",
        "fileserver/auth_addresses.cpp",
        "note_no_answer(candidates[i], fd.error().context, began_ns);",
        "",
        (
            "e2e/test_auth_outage.AuthOutageTest.test_the_log_says_once_that_it_is_away_and_once_that_it_is_back",
        ),
    ),
    Mutation(
        "address-that-hangs-is-not-passed-over",
        "fileserver/auth_client.cpp",
        "note_no_answer(made->address, outcome);\n    if (may_try_another)",
        "if (may_try_another)",
        ("unit/an authserver that did not answer gets*",),
    ),
)

_LANE = (
    Mutation(
        "more-answers-than-questions-are-believed",
        "fileserver/auth_lane.cpp",
        "replies.is_odd = replies.count == open_ || !goes_on(reply);",
        "if (replies.count == open_) break;\n    replies.is_odd = !goes_on(reply);",
        ("unit/of more answers than questions none*",),
        may_hang=True,
    ),
    Mutation(
        "part-of-one-answer-more-is-ignored",
        "fileserver/auth_lane.cpp",
        "(has_answered_all && !received_->is_empty())",
        "false",
        ("unit/of more answers than questions none*",),
        may_hang=True,
    ),
    Mutation(
        "lane-goes-on-after-an-odd-answer",
        "fileserver/auth_lane.cpp",
        "replies.count == open_ || !goes_on(reply);",
        "replies.count == open_;",
        ("unit/a lane is closed by what does not answer*",),
        may_hang=True,
    ),
    Mutation(
        "everybody-joins-an-old-lane",
        "fileserver/auth_lane.cpp",
        "now_ns - asked_ns_ > limits_.old_ns",
        "false",
        ("unit/nobody joins a lane whose last question*",),
        may_hang=True,
    ),
    Mutation(
        "nobody-leaves-a-lane",
        "fileserver/auth_lane.cpp",
        "if (slept != 0 && errno == ETIMEDOUT) return false;",
        "if (slept != 0 && errno == ETIMEDOUT) continue;",
        ("unit/who has waited for long leaves*",),
        may_hang=True,
    ),
    Mutation(
        "answer-for-one-who-left-is-the-next-ones",
        "fileserver/auth_lane.cpp",
        "*in_asked = nullptr;",
        "*in_asked = nullptr;\n    --open_;",
        ("unit/the answer for somebody who has left*",),
        may_hang=True,
    ),
    Mutation(
        "lane-asks-for-fewer-than-it-may",
        "fileserver/auth_lane.cpp",
        "while (asked_.size() < kMostTogether && ",
        "while (asked_.size() + 1 < kMostTogether && ",
        ("unit/any number of callers wait*",),
        may_hang=True,
    ),
    Mutation(
        "lane-keeps-who-has-left",
        "fileserver/auth_lane.cpp",
        "    waiting_.erase(&mine);\n",
        "",
        ("unit/who leaves from the middle*",),
        may_hang=True,
    ),
    Mutation(
        "leader-keeps-the-lead-until-all-are-answered",
        "fileserver/auth_lane.cpp",
        "while (mine.state.load(std::memory_order_relaxed) != kAnswered) {",
        "while (mine.state.load(std::memory_order_relaxed) != kAnswered || open_ > 0) {",
        ("unit/a leader with its answer does not wait*",),
        may_hang=True,
    ),
    Mutation(
        "lane-that-broke-leaves-its-callers-waiting",
        "fileserver/auth_lane.cpp",
        "if (question != nullptr && question != mine) wakes.add(*question, kAlone);",
        "",
        ("unit/when the connection ends*",),
        may_hang=True,
    ),
    Mutation(
        "guesses-are-asked-on-a-lane",
        "fileserver/log_in.cpp",
        "attempt.was_right_lately() ? AuthClient::Sharing::kAllowed",
        "true ? AuthClient::Sharing::kAllowed",
        ("unit/a guess has a connection of its own*",),
        may_hang=True,
    ),
    Mutation(
        "caller-on-a-lane-that-hangs-is-unavailable",
        "fileserver/auth_client.cpp",
        "if (outcome && has_answer(*outcome)) return status_of(*outcome);",
        "if (outcome) return status_of(*outcome);",
        ("unit/an `auth` on a lane that hangs*",),
    ),
    Mutation(
        "one-of-several-authservers-has-all-the-work",
        "fileserver/auth_client.cpp",
        "if (addresses_.count() != 1) return {};",
        "",
        ("unit/with several authservers each question*",),
        may_hang=True,
    ),
    Mutation(
        "copies-of-questions-are-kept",
        "fileserver/auth_lane.cpp",
        "  ::explicit_bzero(text_.data(), text_size_);\n",
        "",
        (
            "e2e/test_secrets.SecretsTest"
            ".test_no_password_stays_in_memory_once_its_request_is_answered",
        ),
    ),
)

_THROTTLE = (
    Mutation(
        "wrong-passwords-are-not-counted",
        "fileserver/guess_throttle.cpp",
        "if (counts) count(*entry, wrong_pair, now);",
        "",
        ("unit/ten wrong passwords of an address*",),
    ),
    Mutation(
        "repetitions-of-a-wrong-pair-count",
        "fileserver/guess_throttle.cpp",
        "wrong_pair != 0 && (entry == nullptr || !entry->knows(wrong_pair));",
        "wrong_pair != 0;",
        ("unit/the same wrong pair again*",),
    ),
    Mutation(
        "guesses-at-once-are-not-bounded",
        "fileserver/guess_throttle.cpp",
        "if (!has_place(*entry, now))",
        "if (false)",
        ("unit/a log-in that waits for a place*",),
    ),
    Mutation(
        "right-pairs-pass-at-the-limit",
        "fileserver/guess_throttle.cpp",
        "right_pairs_.contains(pair) && !may_be_blocked(address)",
        "right_pairs_.contains(pair)",
        ("unit/at the limit no log-in of the address*",),
    ),
    Mutation(
        "every-ipv6-address-has-a-limit-of-its-own",
        "fileserver/guess_throttle.cpp",
        "address.is_v4() ? bytes.size() : kNetworkBytes",
        "bytes.size()",
        ("unit/the addresses of an IPv6*",),
    ),
    Mutation(
        "full-table-forgets-the-guiltiest",
        "fileserver/guess_throttle.cpp",
        "if (rank(i) < rank(best)) best = i;",
        "if (rank(i) > rank(best)) best = i;",
        ("unit/when the table is full*",),
    ),
    Mutation(
        "user-of-a-failed-log-in-is-not-quoted",
        "fileserver/log_in.cpp",
        "base::log::quoted(user)",
        "user",
        ("unit/no user name can end its quotes*",),
    ),
    Mutation(
        "line-feed-reaches-the-authserver",
        "fileserver/auth_client.cpp",
        "wire::refusal_of(request.account))",
        "wire::refusal_of(request.account); false)",
        ("unit/credentials that are not acceptable*",),
    ),
    Mutation(
        "kept-connection-that-hangs-is-waited-for",
        "fileserver/auth_client.cpp",
        "if (has_answer(outcome) || !may_repeat) {",
        "if (outcome.kind != AuthOutcome::Kind::kBroken || !may_repeat) {",
        ("unit/an `auth` or `ping` on a kept connection*",),
    ),
)

_FENCE = (
    Mutation(
        "links-may-leave-the-folder",
        "fileserver/files/fence.cpp",
        "RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS",
        "RESOLVE_NO_MAGICLINKS",
        ("unit/links are followed only*",),
    ),
    Mutation(
        "links-are-followed-without-openat2",
        "fileserver/files/fence.cpp",
        "O_PATH | O_NOFOLLOW | O_CLOEXEC",
        "O_PATH | O_CLOEXEC",
        ("unit/without openat2*",),
    ),
    Mutation(
        "fifos-are-opened",
        "fileserver/files/fence.cpp",
        "if (!S_ISREG(located.status.st_mode))",
        "if (S_ISDIR(located.status.st_mode))",
        ("unit/what is not a regular file*",),
        may_hang=True,
    ),
    Mutation(
        "name-ends-at-a-nul",
        "fileserver/files/fence.cpp",
        " || name.find('\\0') != std::string_view::npos",
        "",
        ("unit/names that leave the folder*",),
    ),
    Mutation(
        "no-descriptor-is-not-found",
        "fileserver/files/fence.cpp",
        "errno_value == EMFILE || ",
        "",
        (
            "e2e/test_descriptors.NoDescriptorForAFileTest"
            ".test_a_file_that_cannot_be_opened_is_internal_and_not_not_found",
        ),
    ),
)

_VERSIONS = (
    Mutation(
        "new-link-hides-a-change",
        "fileserver/files/file_version.cpp",
        "a.changed_ns == b.changed_ns;",
        "(a.changed_ns == b.changed_ns || a.links != b.links);",
        (
            "unit/a new link does not excuse*",
            _FOLLOWS + "test_a_change_with_its_old_time_put_back_is_seen_after_a_new_link",
        ),
    ),
    Mutation(
        "change-time-is-ignored",
        "fileserver/files/file_version.cpp",
        " && a.changed_ns == b.changed_ns;",
        ";",
        (_FOLLOWS + "test_a_change_of_the_same_size_with_its_old_time_put_back_is_seen",),
    ),
    Mutation(
        "removed-file-is-cut",
        "fileserver/files/file_version.cpp",
        "if (before.links == 0 || after.links != 0) return false;",
        "if (before.links >= 0) return false;",
        ("unit/a file that lost its last name*",),
    ),
    Mutation(
        "last-piece-is-sent-unchecked",
        "fileserver/files/disk_files.cpp",
        "(left > 0 || is_still(version, fd))",
        "true",
        (_SENT + "test_a_change_of_only_its_last_byte_closes_the_connection_early",),
    ),
    Mutation(
        "file-cut-shorter-is-padded",
        "fileserver/files/disk_files.cpp",
        "got == static_cast<ssize_t>(piece.size()) && (left > 0 || is_still(version, fd))",
        "true",
        (_SENT + "test_a_file_that_is_cut_shorter_is_never_padded",),
    ),
    Mutation(
        "disk-error-is-not-logged",
        "fileserver/files/disk_files.cpp",
        'cut(connection, name, "it cannot be read", errno);',
        'cut(connection, name, "it cannot be read", 0);',
        ("e2e/test_disk_mode.DiskModeTest.test_the_log_says_why_a_file_could_not_be_read",),
    ),
)

_CACHE = (
    Mutation(
        "file-written-just-now-is-read",
        "fileserver/files/cached_file.cpp",
        "!is_settled(version) || ",
        "",
        ("unit/a file that was written just now*",),
        may_hang=True,
    ),
    Mutation(
        "reading-cannot-be-ended",
        "fileserver/files/cached_file.cpp",
        "(have == 0 || pieces.may_go_on())",
        "true",
        ("unit/reading a large file can be ended*",),
    ),
    Mutation(
        "large-file-is-copied-to-be-sent",
        "fileserver/files/cached_file.cpp",
        "size_bytes >= kPackedBelowBytes && map(",
        "false && map(",
        ("unit/files of any size are read whole*",),
    ),
    Mutation(
        "memory-of-a-file-is-never-freed",
        "fileserver/files/sendable_memory.cpp",
        "FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE",
        "FALLOC_FL_KEEP_SIZE",
        ("unit/sendable memory is freed with its region*",),
    ),
    Mutation(
        "memory-of-two-files-may-share-a-page",
        "fileserver/files/sendable_memory.cpp",
        "step_bytes_(largest_page_bytes())",
        "step_bytes_(4096)",
        ("unit/regions of sendable memory begin apart*",),
    ),
    Mutation(
        "file-that-ends-early-is-whole",
        "lib/serve/stream.cpp",
        "if (sent == 0 || (sent < 0 && !is_timeout(errno))) is_over_ = true;",
        "if (sent < 0 && !is_timeout(errno)) is_over_ = true;",
        ("unit/a file that is shorter than its range*",),
        may_hang=True,
    ),
    Mutation(
        "slow-peer-of-a-large-file-is-not-looked-at",
        "lib/serve/stream.cpp",
        "enough_ == 1 ? left : std::min(left, kOneWaitBytes)",
        "left",
        ("unit/a peer that takes a file too slowly*",),
        may_hang=True,
    ),
    Mutation(
        "bookkeeping-is-not-counted",
        "fileserver/files/file_cache.cpp",
        "budget_.take(bookkeeping_bytes(name))",
        "budget_.take(0)",
        ("unit/files without bytes count too*",),
    ),
    Mutation(
        "old-version-stays-beside-the-new-one",
        "fileserver/files/file_cache.cpp",
        "  serve_from_disk(name);\n  return budget_.take(bytes);",
        "  serve_from_disk(name);\n  return MemoryShare(budget_, bytes);",
        ("unit/the limit holds while a file is replaced*",),
    ),
    Mutation(
        "change-during-the-read-is-missed",
        "fileserver/files/file_cache.cpp",
        "if (!is_still(name, file->version)) return check(name);",
        "",
        ("unit/a version is not kept if its folder*",),
    ),
    Mutation(
        "mounts-are-not-noticed",
        "fileserver/files/folder_watch.cpp",
        "changes.has_mounts = (waiting[2].revents & POLLPRI) != 0;",
        "",
        (
            "e2e/test_prefetch_mounts.PrefetchMountsTest.test_what_is_mounted_over_a_file_is_served_until_it_is_unmounted",
        ),
    ),
    Mutation(
        "no-descriptor-forgets-a-file",
        "fileserver/files/file_cache.cpp",
        "if (status.error().code != ErrorCode::kNotFound) return {State::kUnchecked};",
        "",
        ("unit/a check without descriptors*",),
    ),
    Mutation(
        "nothing-is-checked-while-loading",
        "fileserver/files/cache_updater.cpp",
        "process_events(base::Deadline::in_ms(0));",
        "",
        ("unit/a file that is removed while a large one*",),
    ),
    Mutation(
        "updater-does-not-end-while-loading",
        "fileserver/files/cache_updater.cpp",
        "    return may_go_on();\n  };",
        "    return true;\n  };",
        ("unit/the updater ends while it loads*",),
        may_hang=True,
    ),
    Mutation(
        "folder-without-watches-is-never-listed",
        "fileserver/files/cache_updater.cpp",
        "kListEveryMs = 1000;",
        "kListEveryMs = 1'000'000'000;",
        ("e2e/test_prefetch_unwatched.UnwatchedTest.test_changes_are_seen_without_watches",),
    ),
    Mutation(
        "other-names-of-a-file-stay-old",
        "fileserver/files/cache_updater.cpp",
        "if (other != name) check_closed(other);",
        "",
        (_FOLLOWS + "test_a_change_through_one_name_of_a_file_is_seen_under_all_its_names",),
    ),
    Mutation(
        "watches-of-folders-that-left-stay",
        "fileserver/files/folder_watch.cpp",
        "    forget_below(folder);",
        "",
        ("unit/a folder that left the root*",),
    ),
    Mutation(
        "permissions-are-not-followed",
        "fileserver/files/folder_watch.cpp",
        "IN_MOVED_TO | IN_ATTRIB |",
        "IN_MOVED_TO |",
        ("unit/a file is reported when its permissions*",),
        may_hang=True,
    ),
    Mutation(
        "file-published-by-a-link-is-not-loaded",
        "fileserver/files/prefetched_files.cpp",
        "if (sent && cache_.has_room_for(name)) updater_.check_soon(name);",
        "",
        (_FOLLOWS + "test_a_file_that_had_no_name_while_it_was_written_is_served_and_followed",),
    ),
    Mutation(
        "file-that-inotify-missed-is-not-found",
        "fileserver/files/prefetched_files.cpp",
        "const auto sent = disk_.send(name, connection);",
        'const base::Status sent = base::Error{base::ErrorCode::kNotFound, ""};\n'
        "  static_cast<void>(connection);",
        (_FOLLOWS + "test_a_file_that_was_never_open_for_writing_is_served",),
    ),
    Mutation(
        "failure-of-a-thread-is-lost",
        "fileserver/files/prefetched_files.cpp",
        "if (failure) std::rethrow_exception(failure);",
        "",
        ("unit/an exception of a call*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (
    *_SESSION,
    *_AUTH,
    *_LANE,
    *_THROTTLE,
    *_FENCE,
    *_VERSIONS,
    *_CACHE,
)
