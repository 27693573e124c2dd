"""Mutations of authserver/: verdicts, the memo, the lanes, stores, commits, moving accounts."""

from tree import Mutation

_START = "stores/test_store_start.StoreStartTest."
_MOVING = "stores/test_moving_accounts.MovingAccountsTest."
_AUTOCOMMIT = "stores/test_autocommit.AutocommitTest."
_CHANGES = "stores/test_account_changes.AccountChangesTest."
_SQLITE = "stores/test_sqlite_file.SqliteFileTest."
_NOT_REPEATED = (
    "stores/test_new_is_not_repeated.NewIsNotRepeatedTest"
    ".test_a_connection_that_breaks_behind_the_request"
)

_PASSWORDS = (
    Mutation(
        "hash-is-waited-for-a-minute",
        "authserver/main.cpp",
        "authserver::kHashWaitMs",
        "30 * authserver::kHashWaitMs",
        ("e2e/test_hash_wait",),
        may_hang=True,
    ),
    Mutation(
        "simultaneous-requests-hash-each",
        "authserver/authenticator.cpp",
        "this one waited.\n  if (may_remember &&",
        "this one waited.\n  if (false &&",
        ("unit/simultaneous verifications*",),
    ),
    Mutation(
        "memo-lasts-a-thousand-times-longer",
        "authserver/authenticator.cpp",
        "options_.memo_ms * base::kNsPerMs",
        "options_.memo_ms * base::kNsPerMs * 1000",
        ("unit/a credential is remembered for as long*",),
    ),
    Mutation(
        "wrong-password-is-remembered",
        "authserver/authenticator.cpp",
        "if (is_right && may_remember)",
        "if (may_remember)",
        ("unit/a wrong password and an unknown user*",),
    ),
    Mutation(
        "unknown-user-costs-no-hash",
        "authserver/authenticator.cpp",
        "make_record(Scheme::kArgon2id, random_password())",
        "make_record(options.scheme, random_password())",
        ("unit/an unknown user costs a hash*",),
    ),
    Mutation(
        "store-that-is-down-denies",
        "authserver/authenticator.cpp",
        "if (record.error().code != ErrorCode::kNotFound) return record.error();",
        "",
        (
            "stores/test_hostile_redis.HostileRedisTest.test_nobody_is_let_in_for_a_record_that_is_none",
        ),
    ),
    Mutation(
        "expensive-record-is-computed",
        "authserver/authenticator.cpp",
        "if (!is_affordable(record))",
        "if (false)",
        ("unit/a record that costs more than ours is an error*",),
    ),
    Mutation(
        "record-may-cost-more-memory",
        "authserver/passwords/scheme.cpp",
        "*kib <= kMostKib && ",
        "",
        ("unit/a record that costs more memory or time*",),
    ),
    Mutation(
        "record-may-cost-more-time",
        "authserver/passwords/scheme.cpp",
        " && std::uint64_t{*kib} * *passes <= kMostKib * kPasses",
        "",
        ("unit/a record that costs more memory or time*",),
    ),
    Mutation(
        "memo-has-sets-of-one",
        "authserver/passwords/verified_memo.h",
        "std::array<Entry, 8>",
        "std::array<Entry, 1>",
        ("unit/a set holds eight*", "unit/of 20*"),
    ),
    Mutation(
        "memo-forgets-the-youngest",
        "authserver/passwords/verified_memo.cpp",
        "std::ranges::min_element",
        "std::ranges::max_element",
        ("unit/a set holds eight*",),
    ),
    Mutation(
        "memo-key-lacks-the-record",
        "authserver/passwords/verified_memo.cpp",
        "add(state, record);",
        "static_cast<void>(record);",
        (
            "unit/the key depends on*",
            "stores/test_shared_store.SharedStoreTest"
            ".test_a_password_changed_in_the_store_is_honoured_at_once",
        ),
    ),
    Mutation(
        "memo-key-lacks-the-lengths",
        "authserver/passwords/verified_memo.cpp",
        "::crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&size), "
        "sizeof size);",
        "static_cast<void>(size);",
        ("unit/the key depends on*",),
    ),
    Mutation(
        "memory-of-a-hash-is-not-wiped",
        "authserver/passwords/hash_memory.cpp",
        "::sodium_memzero(region_, bytes);",
        "",
        ("unit/a region is wiped after a hash*",),
    ),
    Mutation(
        "all-memory-of-hashes-is-kept",
        "authserver/passwords/hash_memory.cpp",
        "if (free_.size() < most_regions_) {",
        "if (true) {",
        ("unit/two hashes at once have different regions*",),
    ),
    Mutation(
        "each-hash-maps-its-memory",
        "authserver/passwords/hash_memory.cpp",
        "if (authserver::current_use != nullptr && fd == -1) {",
        "if (false) {",
        ("unit/libsodium computes argon2id in the memory*",),
    ),
    Mutation(
        "lanes-are-not-repaired",
        "authserver/passwords/hash_lanes.cpp",
        "if (lanes_.mutex_.lock() == base::ProcessMutex::Locked::kYesAfterDeath) lanes_.repair();",
        "lanes_.mutex_.lock();",
        ("unit/what a process was changing*",),
    ),
    Mutation(
        "queue-for-hashes-has-no-end",
        "authserver/passwords/hash_lanes.cpp",
        "for (; next_ticket_ - first_ticket_ < kMostRequests; ++next_ticket_) {",
        "for (;; ++next_ticket_) {",
        ("unit/further requests are refused*",),
    ),
    Mutation(
        "turn-of-a-dead-process-is-lost",
        "authserver/passwords/hash_lanes.cpp",
        "if (computing_ == count_) free_lanes_of_the_dead();",
        "",
        ("unit/the turn of a process that died*",),
        may_hang=True,
    ),
    Mutation(
        "hash-is-waited-for-without-end",
        "authserver/passwords/hash_lanes.cpp",
        "if (sleep_until_ns >= deadline_ns) {",
        "if (false) {",
        ("unit/a turn is not granted if its deadline*",),
        may_hang=True,
    ),
    Mutation(
        "one-hash-too-many",
        "authserver/passwords/hash_lanes.cpp",
        "computing_ < count_;",
        "computing_ <= count_;",
        ("unit/no more hashes are computed*",),
    ),
    Mutation(
        "one-credential-is-hashed-side-by-side",
        "authserver/passwords/hash_lanes.cpp",
        "} else if (!is_computed(place.credential)) {",
        "} else {",
        ("unit/hashes of one credential*",),
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
        "authserver/main.cpp",
        "config.task.may_make_store()",
        "true",
        (_MOVING + "test_an_export_of_no_store_creates_none_and_keeps_the_last_good_one",),
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

_SQLITE_STORE = (
    Mutation(
        "sqlite-does-not-sync",
        "authserver/stores/sqlite_database.cpp",
        "PRAGMA synchronous=FULL",
        "PRAGMA synchronous=OFF",
        ("unit/SQLite syncs its log*",),
    ),
    Mutation(
        "sqlite-keeps-memory-statistics",
        "authserver/stores/sqlite_store.cpp",
        "sqlite::configure();",
        "",
        ("unit/SQLite keeps no statistics*",),
    ),
    Mutation(
        "sqlite-connections-keep-all-pages",
        "authserver/stores/sqlite_database.cpp",
        "; PRAGMA cache_size=-256",
        "",
        ("unit/a connection to SQLite keeps few pages*",),
    ),
    Mutation(
        "sqlite-last-one-wins",
        "authserver/stores/sqlite_store.cpp",
        "INSERT INTO accounts",
        "INSERT OR REPLACE INTO accounts",
        ("unit/of many threads that create one name*",),
    ),
    Mutation(
        "sqlite-in-memory-counts-as-durable",
        "authserver/stores/sqlite_database.cpp",
        'mode != "wal"',
        "false",
        (_SQLITE + "test_a_database_that_is_in_memory_only_is_refused",),
        may_hang=True,
    ),
    Mutation(
        "sqlite-writes-into-a-removed-file",
        "authserver/stores/sqlite_store.cpp",
        "if (!sqlite::has_moved(database_.get())) return base::kDone;",
        "return base::kDone;",
        (
            "unit/no account of a shared commit in an SQLite file*",
            _SQLITE + "test_no_account_in_a_file_that_was_removed_is_acknowledged",
        ),
    ),
    Mutation(
        "sqlite-file-for-all-is-not-told",
        "authserver/stores/sqlite_store.cpp",
        "warn_if_others_may_read(options_.path);",
        "",
        (_SQLITE + "test_a_file_that_others_can_read_is_told",),
    ),
)

_COMMIT_QUEUE = (
    Mutation(
        "ok-comes-before-the-commit",
        "authserver/stores/commit_queue.cpp",
        "if (done) done = transaction.commit();",
        "if (done) {\n    answer_ = State::kCreated;\n"
        "    for (const Taken& taken : taken_) answer(taken);\n"
        "    taken_.clear();\n    done = transaction.commit();\n  }",
        ("unit/nobody has an answer before the commit*",),
    ),
    Mutation(
        "failed-commit-is-acknowledged-to-others",
        "authserver/stores/commit_queue.cpp",
        "  transaction.cancel();",
        "  transaction.cancel();\n  answer_ = State::kCreated;\n  return done;",
        ("unit/if a commit fails*",),
    ),
    Mutation(
        "taken-name-is-exists-though-the-commit-failed",
        "authserver/stores/commit_queue.cpp",
        "is_committed && taken.is_refused ?",
        "taken.is_refused ?",
        ("unit/if a commit fails*",),
    ),
    Mutation(
        "taken-name-refuses-all",
        "authserver/stores/commit_queue.cpp",
        "if (!inserted && !taken.is_refused) return inserted;",
        "if (!inserted) return inserted;",
        ("unit/a name that is taken refuses only*",),
    ),
    Mutation(
        "commit-is-waited-for-without-end",
        "authserver/stores/commit_queue.cpp",
        "if (now_ns >= deadline_ns) return",
        "if (false) return",
        ("unit/one whose deadline passes while it waits*",),
        may_hang=True,
    ),
    Mutation(
        "transaction-has-no-bound",
        "authserver/stores/commit_queue.cpp",
        "i < kMostWaiting && taken_.size() + 1 < kMostTogether;",
        "i < kMostWaiting;",
        ("unit/a transaction has a bound*",),
    ),
    Mutation(
        "account-of-a-dead-leader-is-acknowledged",
        "authserver/stores/commit_queue.cpp",
        "taken_.push_back({index, false});\n  }\n}\n\nbase::Status CommitQueue::create",
        "taken_.push_back({index, false});\n  }\n  answer_ = State::kCreated;\n}\n\n"
        "base::Status CommitQueue::create",
        ("unit/if the leader is killed in its transaction*",),
    ),
    Mutation(
        "followers-of-a-dead-leader-wait-for-ever",
        "authserver/stores/commit_queue.cpp",
        "if (locked_ == ProcessMutex::Locked::kYesAfterDeath) fail_jobs_of_the_dead();",
        "",
        ("unit/if the leader is killed in its transaction*",),
        may_hang=True,
    ),
    Mutation(
        "places-of-the-dead-are-lost",
        "authserver/stores/commit_queue.cpp",
        "index < kMostWaiting; ++index) free_if_abandoned(index);",
        "index < 0; ++index) free_if_abandoned(index);",
        ("unit/the places of processes that were killed*",),
        may_hang=True,
    ),
    Mutation(
        "passwords-stay-in-the-commit-queue",
        "authserver/stores/commit_queue.cpp",
        "::sodium_memzero(record.data(), record_bytes);",
        "",
        (
            "unit/those who wait for a commit share*",
            "unit/one whose deadline passes while it waits*",
        ),
    ),
    Mutation(
        "job-is-freed-while-the-leader-reads-it",
        "authserver/stores/commit_queue.cpp",
        "jobs_[index].owner.unlock();\n  return too_late();",
        "leave(index);\n  return too_late();",
        ("unit/one whose deadline passes in a transaction*",),
    ),
    Mutation(
        "each-commits-alone",
        "authserver/stores/commit_queue.cpp",
        "  take_waiting();\n  const auto own",
        "  const auto own",
        ("unit/those who wait for a commit share*",),
    ),
)

_REDIS_STORE = (
    Mutation(
        "redis-new-is-sent-twice",
        "authserver/stores/redis_store.cpp",
        'link_.ask({"SET", key_of(account.user)',
        'ask_repeatable({"SET", key_of(account.user)',
        (_NOT_REPEATED,),
    ),
    Mutation(
        "redis-last-one-wins",
        "authserver/stores/redis_store.cpp",
        'set(account, "NX", ',
        'set(account, "KEEPTTL", ',
        (
            "stores/test_shared_store.SharedStoreTest"
            ".test_of_many_who_want_one_name_exactly_one_is_told_ok",
        ),
    ),
    Mutation(
        "redis-any-reply-is-ok",
        "authserver/stores/redis_store.cpp",
        'REDIS_REPLY_STATUS && text_in(**reply) == "OK"',
        "REDIS_REPLY_STATUS || true",
        (
            "stores/test_hostile_redis.HostileRedisTest.test_an_account_is_acknowledged_for_no_reply_but_ok",
        ),
    ),
    Mutation(
        "redis-is-only-read-at-start",
        "authserver/stores/redis_store.cpp",
        '{"SET", kKeyPrefix, "", "XX"}',
        '{"GET", kKeyPrefix}',
        (_START + "test_a_redis_that_takes_no_accounts",),
        may_hang=True,
    ),
    Mutation(
        "redis-eviction-is-not-told",
        "authserver/stores/redis_store.cpp",
        'if (!policy.starts_with("allkeys") ||',
        'if (policy.starts_with("allkeys") ||',
        (_START + "test_what_redis_keeps_where_it_may_evict_or_delay",),
    ),
    Mutation(
        "redis-without-sync-on-rewrite-is-not-told",
        "authserver/stores/redis_store.cpp",
        'store.setting("no-appendfsync-on-rewrite") == "no"',
        "true",
        (_START + "test_what_redis_keeps_where_it_may_evict_or_delay",),
    ),
    Mutation(
        "redis-everysec-is-called-durable",
        "authserver/stores/redis_store.cpp",
        'if (fsync == "always") return',
        'if (fsync == "always" || fsync == "everysec") return',
        (_START + "test_what_redis_keeps",),
    ),
    Mutation(
        "redis-repeats-secrets-in-the-log",
        "authserver/stores/redis_link.cpp",
        'text.substr(0, text.find(", with args"))',
        "text",
        ("stores/test_store_start.SecretsTest.test_what_redis_repeats_is_not_shown",),
    ),
)

_MYSQL_STORE = (
    Mutation(
        "mysql-new-is-sent-twice",
        "authserver/stores/mysql_store.cpp",
        "insert_.execute(link_, {account.user, account.record})",
        "ask_again_if_stale(link_, timeout_ms_, [&]() -> base::Status {\n"
        "    if (!link_.is_connected()) {\n"
        "      if (const auto connected = link_.connect(); !connected) return connected;\n"
        "    }\n"
        "    return insert_.execute(link_, {account.user, account.record});\n"
        "  })",
        (_NOT_REPEATED,),
    ),
    Mutation(
        "mysql-refused-account-stays-locked",
        "authserver/stores/mysql_store.cpp",
        "if (inserted.error().code == ErrorCode::kExists) {",
        "if (false) {",
        (_AUTOCOMMIT + "test_a_refused_account_stays_unlocked",),
    ),
    Mutation(
        "mysql-account-is-not-committed",
        "authserver/stores/mysql_store.cpp",
        "if (inserted) return link_.end_transaction();",
        "if (inserted) return base::kDone;",
        (_AUTOCOMMIT + "test_an_account_is_there_for_all_once_it_is_acknowledged",),
    ),
    Mutation(
        "mysql-write-is-not-tried-at-start",
        "authserver/stores/mysql_store.cpp",
        "return MysqlStatement(kInsert).prepare(link);",
        "return base::kDone;",
        (_START + "test_a_user_who_may_not_do_enough",),
        may_hang=True,
    ),
    Mutation(
        "mysql-engine-is-not-looked-at",
        "authserver/stores/mysql_store.cpp",
        'engine == "InnoDB" && ',
        "",
        (_START + "test_a_table_of_another_kind",),
        may_hang=True,
    ),
    Mutation(
        "mysql-slow-flush-is-called-durable",
        "authserver/stores/mysql_store.cpp",
        'if (flush != "1") return',
        'if (flush == "none") return',
        (_START + "test_what_mariadb_keeps",),
    ),
    Mutation(
        "mysql-binary-log-without-sync-is-not-told",
        "authserver/stores/mysql_store.cpp",
        'link.value("SELECT @@sync_binlog") != "1"',
        'link.value("SELECT @@sync_binlog") == "never"',
        (_START + "test_what_mariadb_keeps_with_a_binary_log",),
    ),
    Mutation(
        "mysql-tls-is-silently-none",
        "authserver/stores/mysql_link.cpp",
        "if (wants_tls() && ",
        "if (false && ",
        (
            "stores/test_mysql_logins.MariaDbLoginTest"
            ".test_a_server_without_tls_is_refused_where_tls_is_wanted",
        ),
        may_hang=True,
    ),
    Mutation(
        "mysql-password-goes-out-in-clear-text",
        "authserver/stores/mysql_link.cpp",
        "sha256_password,client_ed25519",
        "sha256_password,client_ed25519,mysql_clear_password",
        (
            "stores/test_hostile_mysql.HostileMysqlTest"
            ".test_the_password_is_sent_in_clear_text_to_nobody",
        ),
    ),
    Mutation(
        "mysql-server-may-read-our-files",
        "authserver/stores/mysql_link.cpp",
        "local_infile = 0",
        "local_infile = 1",
        ("stores/test_hostile_mysql.HostileMysqlTest.test_no_file_of_the_host_is_handed_out",),
    ),
)

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
        ("e2e/test_telemetry.AuthserverCountsTest.test_requests_that_came_together_count_each",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (
    *_PASSWORDS,
    *_TOGETHER,
    *_PROGRAM,
    *_SQLITE_STORE,
    *_COMMIT_QUEUE,
    *_REDIS_STORE,
    *_MYSQL_STORE,
)
