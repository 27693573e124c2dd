"""Mutations of authserver/: questions asked together, accounts that are changed or moved."""

from tree import Mutation

_MOVING = "stores/test_moving_accounts.MovingAccountsTest."
_CHANGES = "stores/test_account_changes.AccountChangesTest."

_TOGETHER = (
    Mutation(
        "questions-that-came-together-are-asked-one-by-one",
        "authserver/session.cpp",
        "kMostTogether = 32;",
        "kMostTogether = 1;",
        ("unit/questions that came together are one question*",),
    ),
    Mutation(
        "questions-are-asked-together-on-a-connection-for-each",
        "authserver/session.cpp",
        "first_auth == nullptr || store_config_.connection == StoreConnection::kPerRequest",
        "first_auth == nullptr",
        ("unit/with a connection to the store for each request*",),
    ),
    Mutation(
        "answers-wait-for-a-hash-behind-them",
        "authserver/authenticator.cpp",
        "  before_hash();\n",
        "",
        ("unit/answers that are ready do not wait*",),
        may_hang=True,
    ),
    Mutation(
        "line-that-is-taken-too-overwrites-those-before-it",
        "lib/wire/line_buffer.h",
        "    begin_ += first.size_bytes;\n    return true;",
        "    wipe_last_line();\n    begin_ += first.size_bytes;\n    return true;",
        ("unit/a line that is taken too*",),
    ),
    Mutation(
        "store-that-is-down-for-several-users-is-not-reported",
        "authserver/stores/watched_store.h",
        "    for (const auto& record : records) note(record, began_ns);\n",
        "",
        ("unit/a look-up of several users is reported*",),
    ),
    Mutation(
        "redis-connection-is-kept-after-a-time-out",
        "authserver/stores/redis_link.cpp",
        "context_->errstr};\n  context_.reset();",
        "context_->errstr};",
        (
            "stores/test_hostile_redis.HostileRedisTest"
            ".test_after_a_time_out_all_that_were_asked_together_are_unavailable",
        ),
    ),
    Mutation(
        "sqlite-goes-on-reading-an-old-version",
        "authserver/stores/sqlite_store.cpp",
        'if (!run(commit_, "COMMIT")) cancel();',
        "",
        ("unit/several users are looked up together*",),
    ),
    Mutation(
        "users-that-are-looked-up-together-count-as-one",
        "authserver/stores/timed_store.cpp",
        "i < users.size() && telemetry::is_on()",
        "i < 1 && telemetry::is_on()",
        (
            "e2e/test_telemetry_counts.AuthserverCountsTest.test_requests_that_came_together_count_each",
        ),
    ),
)

_PROGRAM = (
    Mutation(
        "accounts-file-is-for-everybody",
        "authserver/main.cpp",
        "::umask(S_IRWXG | S_IRWXO);",
        "::umask(0);",
        ("e2e/test_secrets.SecretsTest.test_only_the_owner_can_read_the_accounts_file",),
    ),
    Mutation(
        "export-makes-an-empty-store",
        "authserver/account_task.cpp",
        "task.may_prepare_store()",
        "true",
        (_MOVING + "test_an_export_of_no_store_creates_none_and_keeps_the_last_good_one",),
    ),
    Mutation(
        "account-in-the-wrong-folder-makes-a-store",
        "authserver/account_task.cpp",
        "task.may_create_store() || backend.is_there()",
        "true",
        (_CHANGES + "test_one_account_makes_no_store_unless_that_is_asked_for",),
    ),
    Mutation(
        "change-in-sqlite-is-not-committed",
        "authserver/stores/sqlite_store.cpp",
        "if (changed) changed = commit();",
        "if (changed) cancel();",
        (
            "unit/a replaced record is found by everybody*",
            "unit/SQLite syncs its log for each change*",
            _CHANGES + "test_the_next_request_of_every_connection_sees_the_change",
        ),
    ),
    Mutation(
        "change-of-nobody-in-sqlite-is-done",
        "authserver/stores/sqlite_store.cpp",
        "if (::sqlite3_changes(database_.get()) > 0) return base::kDone;",
        "if (true) return base::kDone;",
        ("unit/a replaced record is found by everybody*",),
    ),
    Mutation(
        "mysql-counts-changed-rows-only",
        "authserver/stores/mysql_link.cpp",
        "CLIENT_REMEMBER_OPTIONS | CLIENT_FOUND_ROWS",
        "CLIENT_REMEMBER_OPTIONS",
        (_CHANGES + "test_what_is_taken_or_not_there_fails_and_changes_nothing",),
    ),
    Mutation(
        "removing-nobody-from-redis-is-done",
        "authserver/stores/redis_store.cpp",
        "if ((*reply)->integer > 0) return base::kDone;",
        "if ((*reply)->integer >= 0) return base::kDone;",
        (_CHANGES + "test_what_is_taken_or_not_there_fails_and_changes_nothing",),
    ),
    Mutation(
        "account-removed-meanwhile-ends-the-list",
        "authserver/stores/redis_store.cpp",
        "if (!record && record.error().code == ErrorCode::kNotFound) continue;",
        "",
        (
            "stores/test_hostile_redis.HostileRedisTest"
            ".test_an_export_passes_over_an_account_that_was_removed_meanwhile",
        ),
    ),
    Mutation(
        "password-keeps-its-carriage-return",
        "authserver/account_changes.cpp",
        "if (password.ends_with('\\r')) password.pop_back();",
        "",
        (_CHANGES + "test_passwords_are_the_first_line_of_standard_input",),
    ),
    Mutation(
        "value-of-a-flag-is-the-user",
        "scripts/accounts",
        "${*: -2:1} == --*",
        "${*: -2:1} == ---*",
        (_CHANGES + "test_a_missing_user_is_named_and_not_a_value_taken_for_it",),
    ),
    Mutation(
        "password-is-typed-once",
        "scripts/accounts",
        '[[ $password == "$again" ]]',
        "true",
        (_CHANGES + "test_a_terminal_is_asked_twice_and_shows_nothing",),
    ),
    Mutation(
        "list-is-not-sorted",
        "authserver/account_transfer.cpp",
        "std::ranges::sort(users);",
        "std::ranges::sort(users, std::greater<>());",
        (_CHANGES + "test_list_prints_the_names_sorted",),
    ),
    Mutation(
        "empty-export-replaces-the-backup",
        "authserver/account_transfer.cpp",
        "progress.total() == 0 && has_content(path)",
        "false && has_content(path)",
        (_MOVING + "test_an_export_of_no_accounts_keeps_the_last_good_one",),
    ),
    Mutation(
        "import-calls-another-record-the-same",
        "authserver/account_transfer.cpp",
        "*record == account.record ? imported.same : imported.different",
        "true ? imported.same : imported.different",
        (_MOVING + "test_an_account_with_another_record_is_kept_and_told",),
    ),
    Mutation(
        "export-that-failed-takes-its-place",
        "authserver/private_file.cpp",
        "if (const auto filled = fill(file.get()); !filled) return filled;",
        "static_cast<void>(fill(file.get()));",
        (_MOVING + "test_an_export_that_fails_leaves_the_last_good_one",),
    ),
    Mutation(
        "quote-in-an-account-ends-its-field",
        "authserver/csv.cpp",
        "c == '\"' ? 2 : 1",
        "1",
        ("unit/an account is read back*",),
    ),
    Mutation(
        "import-takes-an-expensive-record",
        "authserver/csv.cpp",
        "if (!is_affordable(*record)) return {};",
        "",
        (_MOVING + "test_what_is_not_an_account_ends_the_import_with_its_line",),
    ),
    Mutation(
        "import-takes-a-record-of-256-bytes",
        "authserver/csv.cpp",
        "kLongestRecord = 255",
        "kLongestRecord = 256",
        ("unit/a line that is not an account*",),
    ),
    Mutation(
        "per-request-keeps-the-store-connection",
        "authserver/session.cpp",
        "if (store_ != nullptr) store_->disconnect();",
        "",
        ("stores/test_stale_connections.KeptConnectionTest.test_per_request_makes_one_for_each",),
    ),
    Mutation(
        "ping-does-not-ask-the-store",
        "authserver/session.cpp",
        "if (store.ping()) return base::kDone;",
        "static_cast<void>(store);\n    return base::kDone;",
        ("stores/test_store_outage.StoreOutageTest.test_one_that_is_down",),
    ),
    Mutation(
        "store-is-left-alone-for-minutes",
        "authserver/stores/retry.cpp",
        "Failure::kAtOnce ? 500 : 1000",
        "Failure::kAtOnce ? 600'000 : 600'000",
        ("unit/a failed store is tried again soon*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_TOGETHER, *_PROGRAM)
