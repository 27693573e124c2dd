"""What an authserver says of its store when it starts, and why it sometimes does not."""

from pathlib import Path
from subprocess import CompletedProcess

import e2e_path  # noqa: F401
import programs
from databases import Redis, secret_file
from store_scene import PATIENT, StoreTest


class StoreStartTest(StoreTest):
    def assert_refused(self, done: CompletedProcess[str], status: int, words: str) -> None:
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def secret(self, content: str, mode: int = 0o600) -> Path:
        return secret_file(self.scene.folder / "a-secret", content, mode)

    def run_plain(self, *flags: object, **options) -> CompletedProcess[str]:
        return programs.run("authserver", "--listen", "127.0.0.1:0", *flags, **options)

    def test_a_wrong_password_of_the_store(self) -> None:
        for kind, words in (("mysql", "Access denied"), ("redis", "without any password")):
            with self.subTest(kind):
                flags = [
                    f"--{kind}-port",
                    self.databases[kind].port,
                    f"--{kind}-password-file",
                    self.secret("wrong\n"),
                ]
                done = self.run_plain("--store", kind, *flags)
                self.assertNotIn("READY", done.stdout)
                self.assert_refused(done, 1, words)
                if kind == "mysql":
                    self.assert_refused(done, 1, "; scripts/setup-mysql makes the user")

    def test_a_store_that_does_not_run(self) -> None:
        nobody = ("--mysql-port", "1", "--mysql-host", "127.0.0.1")
        done = self.run_plain("--store", "mysql", *nobody)
        self.assert_refused(done, 1, "; is the server running?")

    def test_a_redis_whose_password_was_not_given_or_is_another_one(self) -> None:
        redis = Redis(self.scene.folder / "locked", password="secret")
        self.addCleanup(redis.close)
        done = self.run_plain("--store", "redis", "--redis-port", redis.port)
        self.assert_refused(done, 1, "; name the file of the password by --redis-password-file")
        wrong = ("--redis-password-file", self.secret("wrong\n"))
        done = self.run_plain("--store", "redis", *redis.authserver_flags, *wrong)
        self.assert_refused(done, 1, "--redis-password-file or --redis-password is another one")

    def test_a_database_that_is_not_there(self) -> None:
        self.assert_refused(
            self.run_authserver("mysql", "--mysql-database", "atlantis"), 1, "atlantis"
        )
        self.assert_refused(self.run_authserver("redis", "--redis-database", "999"), 1, "DB index")

    def test_a_user_who_may_not_do_enough(self) -> None:
        mysql = self.databases["mysql"]
        for privilege in ("SELECT", "INSERT"):
            with self.subTest(without=privilege):
                mysql.ask(
                    "".join(
                        f"REVOKE {privilege} ON turnstile.accounts FROM turnstile@'{host}';"
                        for host in ("127.0.0.1", "localhost")
                    )
                )
                try:
                    self.assert_refused(
                        self.run_authserver("mysql"), 1, f"{privilege} command denied"
                    )
                finally:
                    mysql.setup()

    def test_a_redis_user_who_may_not_do_enough(self) -> None:
        redis = self.databases["redis"]
        self.addCleanup(redis.ask, "acl", "setuser", "default", "+@all", "allkeys")
        for rules, command in (
            (("-@all", "+ping"), "get"),
            (("+get",), "set"),
            (("+set", "resetkeys", "~other:*"), "key"),
        ):
            with self.subTest(rules):
                # In one go, as the user who changes the rules is the one they are for.
                redis.ask("acl", "setuser", "default", *rules, "+acl")
                self.assert_refused(self.run_authserver("redis"), 1, "NOPERM")
                self.assertIn(command, self.run_authserver("redis").stderr)

    def test_a_redis_that_takes_no_accounts(self) -> None:
        redis = self.databases["redis"]
        self.addCleanup(redis.restart)
        redis.ask("replicaof", "127.0.0.1", "1")
        redis.ask("config", "set", "replica-serve-stale-data", "yes")
        self.assert_refused(self.run_authserver("redis"), 1, "READONLY")
        redis.ask("replicaof", "no", "one")
        server = self.authserver("redis")
        self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_a_table_that_is_not_there_and_may_not_be_made(self) -> None:
        mysql = self.databases["mysql"]
        mysql.ask("DROP TABLE turnstile.accounts")
        self.addCleanup(mysql.setup)
        done = self.run_authserver("mysql")
        self.assert_refused(done, 1, "doesn't exist")
        self.assertIn("CREATE command denied", done.stderr)

    def test_a_table_that_is_missing_is_made_where_the_user_may(self) -> None:
        mysql = self.databases["mysql"]
        mysql.ask(
            "CREATE DATABASE other; CREATE USER maker@'127.0.0.1' IDENTIFIED BY 'made';"
            "GRANT ALL ON other.* TO maker@'127.0.0.1'"
        )
        flags = (
            "--mysql-user",
            "maker",
            "--mysql-password-file",
            self.secret("made"),
            "--mysql-database",
            "other",
        )
        for reply in ("OK", "exists"):
            server = self.authserver("mysql", *flags, *PATIENT)
            self.assertEqual(self.client(server).ask("new:first:pw"), reply)
        self.assertEqual(mysql.ask("SELECT name FROM other.accounts"), "first")

    def test_a_table_of_another_kind(self) -> None:
        mysql = self.databases["mysql"]
        self.addCleanup(mysql.setup)
        self.addCleanup(mysql.ask, "DROP TABLE IF EXISTS turnstile.accounts")
        self.authserver("mysql")  # starts on the table as we make it
        name, record = "name VARBINARY(64) PRIMARY KEY", "record VARBINARY(255) NOT NULL"
        for table, words in (
            (f"({name}, {record}) ENGINE=MEMORY", "is MEMORY"),
            (f"({name}, {record}) ENGINE=MyISAM", "is MyISAM"),
            (f"(name VARCHAR(64) PRIMARY KEY, {record})", "name varchar(64)"),
            (f"(name VARBINARY(20) PRIMARY KEY, {record})", "name varbinary(20)"),
            (f"({name}, record VARBINARY(64) NOT NULL)", "record varbinary(64)"),
            (f"({name}, record VARCHAR(255) NOT NULL)", "record varchar(255)"),
            (f"(name VARBINARY(64), {record})", "name varbinary(64) ,"),
        ):
            with self.subTest(table):
                mysql.ask(f"CREATE OR REPLACE TABLE turnstile.accounts {table}")
                self.assert_refused(self.run_authserver("mysql"), 1, words)

    def test_a_password_file_that_others_can_read_is_used_with_a_warning(self) -> None:
        mysql = self.databases["mysql"]
        path = self.secret(mysql.password_file.read_text(), 0o444)
        server = self.authserver("mysql", "--mysql-password-file", path)
        self.assertIn(f"a password can be read by others path={path} mode=0444", server.log())
        self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_a_password_file_that_is_missing_or_empty_is_wrong_usage(self) -> None:
        for path in (self.scene.folder / "nowhere", self.secret(""), self.scene.folder):
            with self.subTest(path):
                self.assert_refused(
                    self.run_plain("--store", "mysql", "--mysql-password-file", path), 2, str(path)
                )

    def test_the_line_ending_of_a_password_file_does_not_count(self) -> None:
        mysql = self.databases["mysql"]
        password = mysql.password_file.read_text().strip()
        for ending in ("", "\n", "\r\n", "\nsecond line\n"):
            with self.subTest(ending):
                server = self.authserver(
                    "mysql", "--mysql-password-file", self.secret(password + ending)
                )
                self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_the_command_line_beats_the_environment_in_how_to_log_in(self) -> None:
        mysql = self.databases["mysql"]  # its port and its password file are on the command line
        env = {"AUTHSERVER_MYSQL_SOCKET": "/nowhere", "AUTHSERVER_MYSQL_PASSWORD": "wrong"}
        self.assertEqual(self.client(self.authserver("mysql", env=env)).ask("ping"), "OK")
        env = {"AUTHSERVER_MYSQL_PASSWORD_FILE": "/nowhere"}
        password = ("--mysql-password", mysql.password_file.read_text().strip())
        server = self.scene.authserver(
            "--store", "mysql", "--mysql-port", mysql.port, *password, env=env
        )
        self.assertEqual(self.client(server).ask("ping"), "OK")
        self.assert_refused(self.run_authserver("mysql", *password), 2, "excludes")

    def test_fewer_connections_than_may_be_needed(self) -> None:
        mysql = self.databases["mysql"]  # takes 400
        flags = ("--spare-workers", "4", "--max-connections")
        self.assertNotIn("max_connections = ", self.authserver("mysql", *flags, "396").log())
        log = self.authserver("mysql", *flags, "397").log()
        self.assertIn("SET GLOBAL max_connections = 401", log)
        mysql.ask("SET GLOBAL max_connections = 401")
        self.addCleanup(mysql.ask, "SET GLOBAL max_connections = 400")
        self.assertNotIn("SET GLOBAL", self.authserver("mysql", *flags, "397").log())

    def durable_line(self, kind: str) -> str:
        lines = [
            line for line in self.authserver(kind).log().splitlines() if f"store={kind}" in line
        ]
        self.assertEqual(len(lines), 1, lines)
        return lines[0].partition("durable=")[2]

    def test_what_redis_keeps(self) -> None:
        redis = self.databases["redis"]
        self.addCleanup(redis.restart)
        for settings, words in (
            (("appendonly", "yes", "appendfsync", "always"), "on disk before OK"),
            (("appendonly", "yes", "appendfsync", "everysec"), "last second"),
            (("appendonly", "yes", "appendfsync", "no"), "not written yet"),
            (("appendonly", "no", "save", "3600 1"), "since the last one are lost"),
            (("appendonly", "no", "save", ""), "lost when the server stops"),
        ):
            with self.subTest(settings):
                redis.ask("config", "set", *settings)
                self.assertIn(words, self.durable_line("redis"))

    def test_what_redis_keeps_where_it_may_evict_or_delay(self) -> None:
        redis = self.databases["redis"]
        self.addCleanup(redis.restart)
        policy, limit, delay = "maxmemory-policy", "maxmemory", "no-appendfsync-on-rewrite"
        for settings, words in (
            ((policy, "allkeys-lru", limit, "100mb"), "others may take their names"),
            ((policy, "allkeys-random"), "others may take their names"),
            ((policy, "volatile-lru"), "on disk before OK"),  # accounts never expire
            ((policy, "noeviction"), "on disk before OK"),
            ((policy, "allkeys-lru", limit, "0"), "on disk before OK"),
            ((delay, "yes"), "while the server saves or rewrites"),
            ((delay, "no"), "on disk before OK"),
        ):
            with self.subTest(settings):
                redis.ask("config", "set", *settings)
                self.assertIn(words, self.durable_line("redis"))

    def test_what_mariadb_keeps(self) -> None:
        mysql = self.databases["mysql"]
        self.addCleanup(mysql.restart)
        for value, words in (
            ("1", "on disk before OK"),
            ("2", "last second"),
            ("0", "last second"),
        ):
            with self.subTest(value):
                mysql.ask(f"SET GLOBAL innodb_flush_log_at_trx_commit = {value}")
                self.assertIn(words, self.durable_line("mysql"))

    def test_what_mariadb_keeps_with_a_binary_log(self) -> None:
        mysql = self.databases["mysql"]
        self.addCleanup(mysql.restart, "--skip-log-bin")
        mysql.restart("--log-bin", "--server-id=1")
        for value, words in (("0", "a power cut"), ("10", "a power cut"), ("1", "before OK")):
            with self.subTest(value):
                mysql.ask(f"SET GLOBAL sync_binlog = {value}")
                self.assertIn(words, self.durable_line("mysql"))

    def test_the_database_of_redis_has_a_number(self) -> None:
        redis = self.databases["redis"]
        server = self.authserver("redis", "--redis-database", "7", *PATIENT)
        self.assertEqual(self.client(server).ask("new:numbered:pw"), "OK")
        self.assertNotEqual(redis.ask("-n", "7", "get", "user:numbered"), "")
        self.assertEqual(redis.record_of("numbered"), "")


class SecretsTest(StoreTest):
    """Passwords of stores are in no log and in no list of processes."""

    PASSWORD = "Xyzzy-Plugh"

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.databases["redis"].close()
        cls.databases["redis"] = Redis(
            cls.databases["redis"].folder.parent / "locked", password=cls.PASSWORD
        )
        cls.addClassCleanup(cls.databases["redis"].close)
        mysql = cls.databases["mysql"]
        mysql.password_file.write_text(cls.PASSWORD)
        mysql.setup()

    def test_they_are_not_shown(self) -> None:
        for kind, database in self.databases.items():
            port = ("--store", kind, f"--{kind}-port", database.port)
            ways = {
                "file": (database.authserver_flags, {}),
                "variable": (port, {f"AUTHSERVER_{kind.upper()}_PASSWORD": self.PASSWORD}),
                "command line": ((*port, f"--{kind}-password", self.PASSWORD), {}),
                "command line with =": ((*port, f"--{kind}-password={self.PASSWORD}"), {}),
            }
            for way, (flags, env) in ways.items():
                for model in ("thread", "process"):
                    with self.subTest(kind=kind, way=way, model=model):
                        self.assert_silent(
                            database, *flags, "--model", model, "--log-level", "debug", env=env
                        )

    def assert_silent(self, database, *flags: object, env: dict[str, str]) -> None:
        server = self.scene.authserver(*flags, env=env)
        client = self.client(server)
        self.assertIn(client.ask("new:alice:pw"), ("OK", "exists"))
        database.disconnect_all()
        self.assertEqual(client.ask("auth:alice:pw"), "OK")
        self.assertNotIn(self.PASSWORD, Path(f"/proc/{server.pid}/cmdline").read_text())
        self.assertNotIn(self.PASSWORD, server.log())
        self.assertEqual(server.stop(), 0)
        self.assertNotIn(self.PASSWORD, server.log())

    def test_a_wrong_one_is_not_shown(self) -> None:
        wrong = secret_file(self.scene.folder / "wrong", "Hocus-Pocus")
        for kind, words in (("mysql", "Access denied"), ("redis", "WRONGPASS")):
            done = self.run_authserver(
                kind, f"--{kind}-password-file", wrong, "--log-level", "debug"
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Hocus-Pocus", done.stderr)

    def test_what_redis_repeats_is_not_shown(self) -> None:
        redis = Redis(self.scene.folder / "renamed", "--rename-command", "AUTH", "")
        self.addCleanup(redis.close)
        secret = secret_file(self.scene.folder / "wrong", "Hocus-Pocus")
        done = programs.run(
            "authserver",
            "--listen",
            "127.0.0.1:0",
            *redis.authserver_flags,
            "--redis-password-file",
            secret,
            "--log-level",
            "debug",
        )
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("unknown command", done.stderr)
        self.assertNotIn("Hocus-Pocus", done.stderr)
