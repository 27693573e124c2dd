"""Mutations of the stores: SQLite, Redis, MySQL."""

from tree import Mutation

_START = "stores/test_store_start.StoreStartTest."
_AUTOCOMMIT = "stores/test_autocommit.AutocommitTest."
_SQLITE = "stores/test_sqlite_file.SqliteFileTest."
_NOT_REPEATED = (
    "stores/test_new_is_not_repeated.NewIsNotRepeatedTest"
    ".test_a_connection_that_breaks_behind_the_request"
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

MUTATIONS: tuple[Mutation, ...] = (*_SQLITE_STORE, *_REDIS_STORE, *_MYSQL_STORE)
