"""Mutations of what loadgen asks for: given accounts, HTTP, uploads."""

from tree import Mutation

_ACCOUNTS = "e2e/test_loadgen_accounts.LoadgenAccountsTest."
_FTP_PEERS = "e2e/test_loadgen_ftp_hostile.LoadgenFtpHostileTest."
_HTTP_E2E = "e2e/test_loadgen_http.LoadgenHttpTest."

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
        "loadgen/config_checks.cpp",
        "if (config.accounts > 1 && !has_number(config.user)) return",
        "if (false) return",
        ("unit/more than one account needs*",),
    ),
    Mutation(
        "shortest-user-is-checked",
        "loadgen/config_checks.cpp",
        "wire::is_valid_user(numbered(config.user, config.accounts))",
        "wire::is_valid_user(numbered(config.user, 1))",
        ("unit/the longest user and password*",),
    ),
)

_FTP = (
    Mutation(
        "ftp-session-is-used-after-any-refusal",
        "loadgen/drivers/ftp.cpp",
        "const bool is_only_missing = state_ == State::kPromised &&",
        "const bool is_only_missing = true &&",
        (_FTP_PEERS + "test_a_refusal_is_counted_by_its_code_and_later_requests_are_not_delayed",),
    ),
    Mutation(
        "ftp-file-may-be-shorter-than-announced",
        "loadgen/client.cpp",
        "data_->file_bytes() != exchange.announced_bytes",
        "false",
        (_FTP_PEERS + "test_a_file_that_is_shorter_or_longer_than_announced_is_no_success",),
    ),
    Mutation(
        "ftp-accounts-share-a-kept-connection",
        "loadgen/config_checks.cpp",
        "config.accounts > 1 && config.connection == Connection::kKeepAlive",
        "false",
        (_FTP_PEERS + "test_a_kept_connection_cannot_be_that_of_many_accounts",),
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
        may_hang=True,
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

MUTATIONS: tuple[Mutation, ...] = (*_GIVEN_ACCOUNTS, *_FTP, *_HTTP)
