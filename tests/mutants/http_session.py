"""Mutations of the HTTP front: its conversation, its session, its files, folders and accounts."""

from tree import Mutation

_FILES = "e2e/test_http_files.FilesTest."
_REQUESTS = "e2e/test_http_requests.RequestsTest."
_CONNECTIONS = "e2e/test_http_requests.ConnectionsTest."
_ACCOUNTS = "e2e/test_http_accounts.AccountsTest."
_FOLDERS = "e2e/test_http_folders.FoldersTest."
_BROWSER = "judges/test_browser.BrowserTest."

_CONVERSATION = (
    Mutation(
        "body-that-was-not-read-is-a-request",
        "lib/serve/http_conversation.cpp",
        "!request.keeps_connection() || has_unread_body() ||",
        "!request.keeps_connection() ||",
        (_REQUESTS + "test_a_body_that_is_not_read_ends_the_connection",),
        may_hang=True,
    ),
    Mutation(
        "answer-is-reset-behind-a-body-that-was-not-read",
        "lib/serve/http_conversation.cpp",
        "    stream_.end_gently();\n  stream_.abort();",
        "    stream_.abort();\n  stream_.abort();",
        (_REQUESTS + "test_the_answer_to_a_body_that_is_not_read_arrives",),
    ),
    Mutation(
        "malformed-request-keeps-the-connection",
        "lib/serve/http_conversation.cpp",
        "closes_ = closes_connection(status) || ",
        "closes_ = ",
        (
            "e2e/test_http_accounts.OutageTest.test_an_answer_that_makes_no_sense_is_a_failure_of_ours",
        ),
    ),
    Mutation(
        "continue-is-said-to-everybody",
        "lib/serve/http_conversation.cpp",
        "  if (is_awaited) stream_.send(http::kContinue);",
        "  if (is_awaited || true) stream_.send(http::kContinue);",
        ("unit/bodies end where they say*",),
    ),
    Mutation(
        "nobody-is-told-to-continue",
        "lib/serve/http_conversation.cpp",
        "  if (is_awaited) stream_.send(http::kContinue);",
        "  if (is_awaited && false) stream_.send(http::kContinue);",
        ("unit/who waits for 100 Continue*",),
        may_hang=True,
    ),
    Mutation(
        "waiting-requests-are-answered-while-draining",
        "lib/serve/http_conversation.cpp",
        "if (stream_.is_draining()) {",
        "if (false) {",
        ("unit/a server that drains takes up no request*",),
    ),
    Mutation(
        "used-requests-stay-in-memory",
        "lib/http/input_buffer.cpp",
        "  ::explicit_bzero(bytes_ + begin_, count);\n",
        "",
        ("unit/what is consumed is overwritten*",),
    ),
    Mutation(
        "large-heads-keep-their-memory",
        "lib/http/input_buffer.cpp",
        "if (heap_ == nullptr || begin_ != end_) return;",
        "return;",
        ("unit/an input buffer grows up to its limit*",),
    ),
)

_SESSION = (
    Mutation(
        "exception-of-a-worker-ends-the-server",
        "lib/serve/one_connection.cpp",
        "    worker.serve(stream);\n",
        "    [&]() noexcept { worker.serve(stream); }();\n",
        ("unit/a worker that throws*",),
    ),
    Mutation(
        "longest-location-does-not-fit",
        "fileserver/http/exchange.h",
        "std::array<char, 1280> answer_;",
        "std::array<char, 768> answer_;",
        (_FOLDERS + "test_a_folder_with_the_longest_name_is_found",),
    ),
    Mutation(
        "credentials-are-not-looked-at",
        "fileserver/http/session.cpp",
        "  if (!is_validated(exchange)) return;\n",
        "",
        (_ACCOUNTS + "test_who_is_not_validated_is_asked_for_credentials",),
    ),
    Mutation(
        "path-is-looked-at-before-credentials",
        "fileserver/http/session.cpp",
        "  if (!is_validated(exchange)) return;\n",
        "  if (!exchange.path()) return exchange.answer(404);\n"
        "  if (!is_validated(exchange)) return;\n",
        (_ACCOUNTS + "test_who_is_not_validated_is_asked_for_credentials",),
    ),
    Mutation(
        "throttled-client-is-asked-for-credentials",
        "fileserver/http/session.cpp",
        "exchange.answer(429);",
        "exchange.answer(401);",
        ("e2e/test_http_accounts.OutageTest.test_an_address_that_guesses_is_told_to_wait",),
    ),
    Mutation(
        "health-waits-as-long-as-a-request",
        "fileserver/main.cpp",
        "std::min(config.auth_timeout_ms, telemetry::kHealthMs)",
        "config.auth_timeout_ms",
        (
            "e2e/test_http_accounts.OutageTest"
            ".test_health_is_told_in_time_though_the_authserver_hangs",
        ),
        may_hang=True,
    ),
    Mutation(
        "http-refuses-in-lines",
        "fileserver/main.cpp",
        "&serve::busy_answer});",
        "&serve::busy_line});",
        (_CONNECTIONS + "test_connections_of_both_protocols_count_together",),
    ),
)

_ANSWERS = (
    Mutation(
        "conditions-are-not-looked-at",
        "fileserver/http/get_file.cpp",
        "switch (http::evaluate(exchange_.head(), &validators_, now_s_)) {",
        "switch (http::Verdict::kGoOn) {",
        (_FILES + "test_conditions",),
    ),
    Mutation(
        "if-range-is-not-looked-at",
        "fileserver/http/get_file.cpp",
        "        !http::if_range_holds(exchange_.head(), validators_))",
        "        false)",
        (_FILES + "test_if_range",),
    ),
    Mutation(
        "head-has-ranges",
        "fileserver/http/get_file.cpp",
        "exchange_.method() != http::Method::kGet || range.empty()",
        "range.empty()",
        (_FILES + "test_ranges_that_do_not_count",),
    ),
    Mutation(
        "html-runs-as-a-page-of-ours",
        "fileserver/http/get_file.cpp",
        "if (type_.is_active) head",
        "if (false) head",
        (_FILES + "test_the_types_are_those_of_the_page",),
    ),
    Mutation(
        "listing-has-what-cannot-be-fetched",
        "fileserver/files/fence.cpp",
        "if (!is_folder && !S_ISREG(located->status.st_mode))",
        "if (false)",
        (_FOLDERS + "test_json_has_what_a_get_would_give_sorted_by_bytes",),
    ),
    Mutation(
        "listing-has-the-folder-that-is-ours",
        "fileserver/http/get_folder.cpp",
        "if (!status || (path == kOwnFolder && S_ISDIR(status->st_mode))) return {};",
        "if (!status) return {};",
        (_FOLDERS + "test_json_has_what_a_get_would_give_sorted_by_bytes",),
    ),
    Mutation(
        "listings-cannot-be-turned-off",
        "fileserver/http/get_folder.cpp",
        "if (!parts.has_listings) return exchange.answer(404);",
        "",
        (_FOLDERS + "test_without_listings_folders_are_not_found",),
    ),
    Mutation(
        "listing-is-wider-than-a-phone",
        "fileserver/http/page.cpp",
        "td:first-child { padding: 0; overflow-wrap: anywhere; }",
        "td:first-child { padding: 0; }",
        (_BROWSER + "test_nothing_is_wider_than_the_screen",),
    ),
    Mutation(
        "listing-is-never-dark",
        "fileserver/http/page.cpp",
        'content="light dark"',
        'content="light"',
        (_BROWSER + "test_each_text_is_readable",),
    ),
    Mutation(
        "listing-is-faint",
        "fileserver/http/page.cpp",
        "tabular-nums; opacity: .7;",
        "tabular-nums; opacity: .5;",
        (_BROWSER + "test_each_text_is_readable",),
    ),
    Mutation(
        "listing-shows-what-a-name-means-in-html",
        "fileserver/http/page.cpp",
        "case '&': html += \"&amp;\"; break;",
        "",
        (_BROWSER + "test_each_name_is_shown_as_it_is_and_leads_to_its_file",),
    ),
    Mutation(
        "page-for-every-client",
        "fileserver/http/exchange.cpp",
        "reads && wants_page(head_) ?",
        "reads ?",
        ("e2e/test_http_pages.PagesTest.test_every_other_client_gets_the_words_of_the_status",),
    ),
    Mutation(
        "account-of-any-size",
        "fileserver/http/new_account.cpp",
        "if (piece.size() > bytes.size() - size) return false;",
        "if (piece.size() > bytes.size() - size) return true;",
        (_ACCOUNTS + "test_a_body_of_4_kib_is_read_and_a_longer_one_is_not",),
    ),
    Mutation(
        "account-that-is-not-acceptable-is-asked-for",
        "fileserver/http/new_account.cpp",
        "if (!account || wire::refusal_of(*account)) return exchange.answer(422);",
        "if (!account) return exchange.answer(422);",
        (_ACCOUNTS + "test_what_is_no_account",),
    ),
    Mutation(
        "account-json-may-have-any-bytes",
        "fileserver/http/account_json.cpp",
        "return base::is_utf8(text) ? std::optional(text) : std::nullopt;",
        "return text;",
        ("unit/any JSON that is cut off*",),
    ),
    Mutation(
        "account-json-may-have-more-members",
        "fileserver/http/account_json.cpp",
        'if ((*name != "user" && *name != "password") || member) return {};',
        "",
        ("unit/any JSON that is cut off*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_CONVERSATION, *_SESSION, *_ANSWERS)
