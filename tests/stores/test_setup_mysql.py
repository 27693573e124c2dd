"""scripts/setup-mysql on a server of the tests' own."""

import os
import stat
import subprocess

import e2e_path  # noqa: F401
from databases import SCRIPTS, MariaDb, secret_file
from store_scene import StoreTest

GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE ON `turnstile`.`accounts` TO `turnstile`@`{}`"


class SetupMysqlTest(StoreTest):
    kinds = ("mysql",)
    mysql: MariaDb

    def setUp(self) -> None:
        super().setUp()
        self.mysql = self.databases["mysql"]

    script = SCRIPTS / "setup-mysql"

    def run_script(self, *flags: object, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.script, *map(str, flags)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.scene.folder,
            env=os.environ | env,
        )

    def assert_fails(self, status: int, words: str, *flags: object, **env: str) -> None:
        done = self.run_script(*flags, **env)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)
        self.assertIn(words, done.stderr)

    def grants(self, host: str) -> list[str]:
        lines = self.mysql.ask(f"SHOW GRANTS FOR turnstile@'{host}'").splitlines()
        return [
            line
            for line in lines
            if not line.startswith("GRANT USAGE ON *.* TO ") or "GRANT OPTION" in line
        ]

    def test_the_user_may_read_and_change_accounts_and_nothing_else(self) -> None:
        for host in ("localhost", "127.0.0.1", "::1"):
            self.assertEqual(self.grants(host), [GRANT.format(host)])
        done = subprocess.run(
            [
                "mariadb",
                "--no-defaults",
                f"--socket={self.mysql.socket}",
                "--user=turnstile",
                "--force",
                "turnstile",
            ],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"MYSQL_PWD": self.mysql.password_file.read_text().strip()},
            input="DROP TABLE accounts; ALTER TABLE accounts ADD x INT; TRUNCATE accounts;\n"
            "CREATE TABLE other (x INT); SELECT * FROM mysql.user;\n",
        )
        self.assertEqual(done.stderr.count("denied"), 5, done.stderr)

    def test_again_it_changes_nothing_that_is_right(self) -> None:
        password = self.mysql.password_file.read_text()
        client = self.client(self.authserver("mysql"))
        self.assertEqual(client.ask("new:stays:pw"), "OK")
        self.assertNotIn("revoked", self.mysql.setup().stdout)
        self.assertEqual(self.mysql.password_file.read_text(), password)
        self.assertEqual(client.ask("auth:stays:pw"), "OK")
        self.assertEqual(self.client(self.authserver("mysql")).ask("auth:stays:pw"), "OK")

    def test_it_may_be_called_through_a_link(self) -> None:
        self.script = self.scene.folder / "prepare"
        self.script.symlink_to(SCRIPTS / "setup-mysql")
        place = ("--socket", self.mysql.socket, "--password-file", self.mysql.password_file)
        done = self.run_script(*place)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_takes_away_what_was_granted_beyond_that(self) -> None:
        for surplus in (
            "ALL ON *.*",
            "ALL ON turnstile.*",
            "DELETE ON turnstile.accounts",
            "SUPER ON *.*",
        ):
            with self.subTest(surplus):
                self.mysql.ask(f"GRANT {surplus} TO turnstile@localhost WITH GRANT OPTION")
                self.assertIn("revoked from", self.mysql.setup().stdout)
                self.assertEqual(self.grants("localhost"), [GRANT.format("localhost")])

    def test_the_password_file_is_for_its_owner_and_new_where_it_was_removed(self) -> None:
        other = self.scene.folder / "mysql-password"
        self.addCleanup(self.mysql.setup)
        self.assertEqual(self.run_script("--socket", self.mysql.socket).returncode, 0)
        self.assertEqual(stat.S_IMODE(other.stat().st_mode), 0o600)
        self.assertGreaterEqual(len(other.read_text().strip()), 32)
        self.assertNotEqual(other.read_text(), self.mysql.password_file.read_text())
        server = self.authserver("mysql", "--mysql-password-file", other)
        self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_a_password_of_ones_own_may_have_any_character(self) -> None:
        own = secret_file(self.scene.folder / "own", "a'\\b\"c; -- $(x) `y` %s\n")
        self.addCleanup(self.mysql.setup)
        self.addCleanup(self.mysql.ask, "SET GLOBAL sql_mode = DEFAULT")
        self.mysql.ask("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
        self.mysql.setup(password_file=own)
        self.assertEqual(
            self.client(self.authserver("mysql", "--mysql-password-file", own)).ask("ping"), "OK"
        )

    def test_a_password_file_that_others_can_read_is_refused(self) -> None:
        exposed = secret_file(self.scene.folder / "exposed", "geheim", 0o644)
        self.assert_fails(
            1, "readable by others", "--socket", self.mysql.socket, "--password-file", exposed
        )

    def test_max_connections_is_raised_and_never_lowered(self) -> None:
        self.addCleanup(self.mysql.ask, "SET GLOBAL max_connections = 400")
        for wanted, now in (("500", "500"), ("450", "500"), ("500", "500")):
            done = self.mysql.setup("--max-connections", wanted)
            self.assertIn(f"max_connections = {now}", done.stdout)
            self.assertEqual(self.mysql.ask("SELECT @@GLOBAL.max_connections"), now)

    def test_over_tcp_with_a_password_of_the_administrator(self) -> None:
        self.mysql.ask(
            "CREATE OR REPLACE USER boss@'127.0.0.1' IDENTIFIED BY 'chief';"
            "GRANT ALL ON *.* TO boss@'127.0.0.1' WITH GRANT OPTION"
        )
        place = (
            "--host",
            "127.0.0.1",
            "--port",
            self.mysql.port,
            "--admin-user",
            "boss",
            "--password-file",
            self.mysql.password_file,
        )
        done = self.run_script(*place, MYSQL_PWD="chief")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"--mysql-port {self.mysql.port}", done.stdout)
        chief = secret_file(self.scene.folder / "chief", "chief\n")
        self.assertEqual(self.run_script(*place, "--admin-password-file", chief).returncode, 0)
        self.assert_fails(1, "Access denied", *place, MYSQL_PWD="wrong")

    def test_an_authserver_elsewhere(self) -> None:
        self.addCleanup(self.mysql.ask, "DROP USER turnstile@'10.0.0.%'")
        self.mysql.setup("--from", "10.0.0.%")
        self.assertEqual(self.grants("10.0.0.%"), [GRANT.format("10.0.0.%")])

    def test_without_a_server_it_says_what_to_do(self) -> None:
        self.assert_fails(1, "start it", "--socket", self.scene.folder / "no-socket")
        self.assertEqual(list(self.scene.folder.glob("mysql-password")), [])

    def test_wrong_usage(self) -> None:
        for flags in (
            ["--from"],
            ["word"],
            ["--unknown", "x"],
            ["--max-connections", "many"],
            ["--port", "x"],
            ["--from", "a'b"],
            ["--host", "a", "--socket", "b"],
        ):
            with self.subTest(flags):
                self.assert_fails(2, "", *flags)
        self.assertIn("usage:", self.run_script("--help").stdout)
