"""Logging in to MariaDB and MySQL: with TLS, without, and with MySQL's caching_sha2_password."""

import unittest

import e2e_path  # noqa: F401
from certificates import NO_OPENSSL, make_certificates
from databases import MariaDb, MySql, why_no_mysql
from store_scene import PATIENT, PLAIN, SERVERS, StoreTest

NO_MYSQL = why_no_mysql()


class LoginTest(StoreTest):
    kinds = ("mysql",)

    def setUp(self) -> None:
        super().setUp()
        self.mysql = self.databases["mysql"]
        assert isinstance(self.mysql, MariaDb)

    def ciphers(self) -> set[str]:
        """The cipher of every connection from authservers; "" for plain text."""
        return set(
            self.mysql.ask(
                "SELECT VARIABLE_VALUE FROM performance_schema.status_by_thread s "
                "JOIN performance_schema.threads t USING (THREAD_ID) "
                "WHERE VARIABLE_NAME = 'Ssl_cipher' AND PROCESSLIST_USER = 'turnstile'"
            ).split("\n")
        )

    def assert_works(self, *flags: object, is_encrypted: bool) -> None:
        server = self.authserver("mysql", *flags, *PATIENT, *PLAIN)
        client = self.client(server)
        self.assertIn(client.ask("new:alice:pw"), ("OK", "exists"))
        self.assertEqual(self.ciphers() != {""}, is_encrypted)
        before = self.connection_count()
        for reply in ("OK", "denied") * 3:
            self.assertEqual(client.ask(f"auth:alice:{'pw' if reply == 'OK' else 'wrong'}"), reply)
            self.assertEqual(client.ask("new:alice:pw"), "exists")
        self.assertEqual(self.connection_count() - before, 1, "the kept connection is good")
        self.mysql.disconnect_all()
        self.assertEqual(client.ask("auth:alice:pw"), "OK")
        self.assertEqual(server.stop(), 0)
        per_request = self.authserver(
            "mysql", "--store-connection", "per-request", *flags, *PATIENT
        )
        self.assertEqual(self.client(per_request).ask("auth:alice:pw"), "OK")

    def connection_count(self) -> int:
        return int(self.mysql.ask("SHOW GLOBAL STATUS LIKE 'Connections'").split()[1])

    def assert_refused(self, words: str, *flags: object) -> None:
        done = self.run_authserver("mysql", *flags)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn(words, done.stderr)

    def test_a_socket_file(self) -> None:
        self.assert_works(
            "--mysql-socket",
            self.mysql.socket,
            "--mysql-host",
            "nowhere.invalid",
            is_encrypted=False,
        )
        self.assert_refused("nowhere", "--mysql-socket", self.scene.folder / "nowhere")


@unittest.skipIf(NO_OPENSSL, NO_OPENSSL)
class MariaDbLoginTest(LoginTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        mysql = cls.databases["mysql"]
        make_certificates(mysql.folder)
        cls.authority = mysql.folder / "ca.pem"
        cls.other_authority = mysql.folder / "server-cert.pem"
        cls.show_certificate("server")

    @classmethod
    def show_certificate(cls, name: str, *options: str) -> None:
        mysql = cls.databases["mysql"]
        mysql.restart(
            f"--ssl-ca={cls.authority}",
            f"--ssl-cert={mysql.folder / f'{name}-cert.pem'}",
            f"--ssl-key={mysql.folder / f'{name}-key.pem'}",
            "--performance-schema",
            *options,
        )

    def require_tls(self) -> None:
        for host in ("127.0.0.1", "localhost"):
            self.mysql.ask(f"ALTER USER turnstile@'{host}' REQUIRE SSL")
            self.addCleanup(self.mysql.ask, f"ALTER USER turnstile@'{host}' REQUIRE NONE")

    def test_plain_text_is_the_default(self) -> None:
        self.assert_works(is_encrypted=False)

    def test_tls(self) -> None:
        self.require_tls()
        self.assert_works("--mysql-tls", "on", is_encrypted=True)

    def test_tls_with_an_authority(self) -> None:
        self.assert_works("--mysql-tls-ca", self.authority, is_encrypted=True)

    def test_a_server_that_the_authority_has_not_signed_is_refused(self) -> None:
        self.assert_refused("must be signed by", "--mysql-tls-ca", self.other_authority)
        self.assert_refused("(2026)", "--mysql-tls-ca", self.scene.folder / "nowhere")

    def test_a_server_whose_certificate_names_another_host_is_refused(self) -> None:
        """At 127.0.0.2, because Connector/C 3.4 does not compare the name at 127.0.0.1."""
        self.addCleanup(self.show_certificate, "server")
        self.show_certificate("other", "--bind-address=127.0.0.2")
        elsewhere = ("--mysql-host", "127.0.0.2")
        self.assert_refused("name the host", *elsewhere, "--mysql-tls-ca", self.authority)
        self.assert_works(*elsewhere, "--mysql-tls", "on", is_encrypted=True)

    def test_a_server_without_tls_is_refused_where_tls_is_wanted(self) -> None:
        self.addCleanup(self.show_certificate, "server")
        self.mysql.restart("--skip-ssl", "--performance-schema")
        self.assert_refused("the server offers no TLS", "--mysql-tls", "on")
        self.assert_refused("(2026)", "--mysql-tls-ca", self.authority)
        self.assert_works(is_encrypted=False)

    def test_tls_through_a_socket_file(self) -> None:
        self.assert_works(
            "--mysql-socket", self.mysql.socket, "--mysql-tls", "on", is_encrypted=True
        )

    def test_a_user_who_must_use_tls(self) -> None:
        self.require_tls()
        self.assert_refused("Access denied")


@unittest.skipIf(NO_MYSQL, NO_MYSQL)
class MySqlLoginTest(LoginTest):
    """The account has the default, caching_sha2_password. MySQL makes its keys and certificates."""

    @classmethod
    def setUpClass(cls) -> None:
        SERVERS["mysql"] = MySql
        cls.addClassCleanup(SERVERS.update, mysql=MariaDb)
        super().setUpClass()

    def setUp(self) -> None:
        super().setUp()
        self.forget_logins()

    def forget_logins(self) -> None:
        """Makes the next login a full one. A remembered login needs neither TLS nor a key."""
        self.mysql.ask("FLUSH PRIVILEGES")

    def test_the_account_is_of_the_default_kind(self) -> None:
        kinds = self.mysql.ask("SELECT DISTINCT plugin FROM mysql.user WHERE user = 'turnstile'")
        self.assertEqual(kinds, "caching_sha2_password")

    def test_the_servers_key_is_asked_for(self) -> None:
        self.assert_works(is_encrypted=False)

    def test_the_servers_key_in_a_file(self) -> None:
        self.assert_works(
            "--mysql-server-public-key", self.mysql.data / "public_key.pem", is_encrypted=False
        )

    def test_tls(self) -> None:
        self.assert_works("--mysql-tls", "on", is_encrypted=True)

    @unittest.skipIf(NO_OPENSSL, NO_OPENSSL)
    def test_tls_with_an_authority(self) -> None:
        """The certificate that the server has made itself names no host."""
        make_certificates(self.mysql.folder)
        self.mysql.ask(
            f"SET GLOBAL ssl_ca = '{self.mysql.folder / 'ca.pem'}';"
            f"SET GLOBAL ssl_cert = '{self.mysql.folder / 'server-cert.pem'}';"
            f"SET GLOBAL ssl_key = '{self.mysql.folder / 'server-key.pem'}';"
            "ALTER INSTANCE RELOAD TLS"
        )
        self.addCleanup(self.mysql.restart)
        self.assert_works("--mysql-tls-ca", self.mysql.folder / "ca.pem", is_encrypted=True)
        self.assert_refused("name the host", "--mysql-tls-ca", self.mysql.data / "ca.pem")

    def test_what_is_missing_is_said(self) -> None:
        other = self.scene.folder / "other.pem"
        other.write_text("not a key\n")
        self.assert_refused("--mysql-tls", "--mysql-server-public-key", other)
        self.mysql.ask("SET GLOBAL require_secure_transport = ON")
        self.addCleanup(self.mysql.ask, "SET GLOBAL require_secure_transport = OFF")
        self.assert_refused("--mysql-tls on")

    def test_more_connections_are_kept_over_a_restart(self) -> None:
        self.addCleanup(self.mysql.ask, "SET PERSIST max_connections = 400")
        self.mysql.setup("--max-connections", "450")
        self.assertEqual(
            self.mysql.ask(
                "SELECT VARIABLE_VALUE FROM performance_schema.persisted_variables "
                "WHERE VARIABLE_NAME = 'max_connections'"
            ),
            "450",
        )


del LoginTest  # a template
