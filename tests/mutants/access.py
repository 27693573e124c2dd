"""Mutations of what says who may do what: --new-accounts, --writers, --trusted-proxy, SIGHUP."""

from tree import Mutation

_NEW = "e2e/test_new_accounts.NewAccountsTest."
_PROXY = "e2e/test_trusted_proxy.TrustedProxyTest."
_WRITERS = "e2e/test_writers.WritersTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "closed-accounts-are-created",
        "fileserver/session.cpp",
        "if (new_accounts_ == NewAccounts::kClosed) {",
        "if (false) {",
        (_NEW + "test_new_is_denied_before_it_is_taken_apart",),
    ),
    Mutation(
        "closed-accounts-are-taken-apart",
        "lib/wire/request.cpp",
        "refused->was_new = true;",
        "refused->was_new = false;",
        (_NEW + "test_new_is_denied_before_it_is_taken_apart",),
    ),
    Mutation(
        "wrong-writers-replace-the-old-ones",
        "fileserver/writers.cpp",
        "if (!names) return names.error();",
        "if (!names) {\n    const base::Lock lock(mutex_);\n    names_.clear();\n"
        "    return names.error();\n  }",
        ("unit/a file of writers that is wrong*",),
    ),
    Mutation(
        "writers-that-cannot-be-read-are-none",
        "fileserver/writers.cpp",
        "if (file.is_open() && !file.bad()) return names;",
        "return names;",
        (
            "unit/a file of writers that is wrong*",
            _WRITERS + "test_a_file_that_is_wrong_at_start_is_wrong_usage",
        ),
        may_hang=True,
    ),
    Mutation(
        "everybody-changes-the-folder",
        "fileserver/http/session.cpp",
        "!parts_.uploads.writers.may_write(exchange.user)",
        "false",
        (_WRITERS + "test_only_writers_change_the_folder",),
    ),
    Mutation(
        "writers-are-asked-for-the-sink",
        "fileserver/http/session.cpp",
        "return uploads == UploadMode::kFolder && !reads;",
        "return !reads;",
        (_WRITERS + "test_the_sink_is_for_everybody",),
    ),
    Mutation(
        "hangup-leaves-the-writers",
        "fileserver/main.cpp",
        "writers.read_again();",
        "",
        (_WRITERS + "test_a_hangup_reads_the_file_again",),
        may_hang=True,
    ),
    Mutation(
        "sandbox-forbids-the-writers",
        "fileserver/main.cpp",
        "allowed.readable.push_back(file.parent_path());",
        "",
        (_WRITERS + "test_a_hangup_reads_the_file_again",),
    ),
    Mutation(
        "hangup-leaves-the-transfer-log",
        "fileserver/main.cpp",
        "(*transfer_log)->open_again();",
        "static_cast<void>(0);",
        (_WRITERS + "test_a_hangup_is_for_the_transfer_log_too",),
    ),
    Mutation(
        "anybody-may-say-who-the-client-is",
        "fileserver/trusted_proxy.cpp",
        "return found_ && is_trusted(peer) ? *found_ : peer;",
        "return found_ ? *found_ : peer;",
        ("unit/a proxy that is not trusted*",),
    ),
    Mutation(
        "throttle-counts-the-proxy",
        "fileserver/http/session.cpp",
        "exchange.client, Front::kHttp",
        "exchange.stream().peer(), Front::kHttp",
        (_PROXY + "test_wrong_passwords_count_for_the_client",),
    ),
    Mutation(
        "transfer-log-names-the-proxy",
        "fileserver/http/get_file.cpp",
        ".client = exchange.client",
        ".client = exchange.stream().peer()",
        (_PROXY + "test_the_transfer_log_names_the_client",),
    ),
    Mutation(
        "readable-passwords-are-no-warning",
        "fileserver/trusted_proxy.cpp",
        "return !address || !(is_in",
        "return !address && !(is_in",
        (
            "unit/passwords are readable*",
            _PROXY + "test_the_start_warns_where_passwords_are_readable",
        ),
    ),
    Mutation(
        "closed-accounts-are-created-by-http",
        "fileserver/http/new_account.cpp",
        "if (parts.new_accounts == NewAccounts::kClosed) return exchange.answer(403);",
        "",
        (_NEW + "test_by_http_it_is_forbidden_whatever_the_body_is",),
    ),
    Mutation(
        "client-says-who-it-is",
        "fileserver/trusted_proxy.cpp",
        "if (!entry || !found_ || !is_trusted(*entry)) found_ = entry;",
        "if (!found_) found_ = entry;",
        ("unit/the client is the last address*",),
    ),
    Mutation(
        "nonsense-in-the-list-is-passed-over",
        "fileserver/trusted_proxy.cpp",
        "if (!entry || !found_ || !is_trusted(*entry)) found_ = entry;",
        "if (entry && (!found_ || !is_trusted(*entry))) found_ = entry;",
        ("unit/an entry that is no address*",),
    ),
    Mutation(
        "range-is-compared-in-whole-bytes",
        "lib/net/ip_range.cpp",
        "return differing >> (8 - prefix_bits_ % 8) == 0;",
        "return differing == differing;",
        ("unit/a range contains what begins*",),
    ),
    Mutation(
        "last-trusted-proxy-counts-alone",
        "lib/flags/parse.cpp",
        "if (option.is_repeatable) added->multi_option_policy",
        "if (false) added->multi_option_policy",
        ("unit/a repeatable flag gets all*",),
    ),
)
