"""Mutations of fileserver/: grants, and the limit of wrong passwords."""

from tree import Mutation

_ACCOUNTS = "e2e/test_accounts.AccountsTest."
_ANSWERS = "e2e/test_auth_answers.AuthAnswersTest."

_SESSION = (
    Mutation(
        "http-request-is-known-at-any-time",
        "fileserver/session.cpp",
        "if (is_first_line_ && is_http_request_line",
        "if (is_http_request_line",
        ("e2e/test_wrong_port.WrongPortTest",),
    ),
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

MUTATIONS: tuple[Mutation, ...] = (*_SESSION, *_THROTTLE)
