"""The authserver, asked directly."""

import sqlite3

from client import Client
from processes import cpu_s
from scene import SceneTest, SharedSceneTest


class AuthserverTest(SharedSceneTest):
    flags: tuple = ()

    @classmethod
    def prepare(cls) -> None:
        cls.authserver = cls.scene.authserver(*cls.flags)

    def setUp(self) -> None:
        self.client = self.connect(self.authserver)

    def assert_replies(self, expected: dict[bytes, str]) -> None:
        for line, reply in expected.items():
            self.assertEqual(self.client.ask(line), reply, line)
        self.assertEqual(self.client.ask("ping"), "OK")

    def test_it_says_whether_a_password_is_right(self) -> None:
        self.assertEqual(self.client.ask("auth:ann:pw"), "denied")
        self.assert_replies(
            {
                b"new:ann:pw": "OK",
                b"auth:ann:pw": "OK",
                b"auth:ann:pW": "denied",
                b"auth:ann:pw ": "denied",
                b"auth:Ann:pw": "denied",
                b"new:ann:other": "exists",
                b"auth:ann:other": "denied",
            }
        )
        self.assertEqual(self.client.ask("auth:ann:pw"), "OK")

    def test_wrong_user_and_wrong_password_are_denied_in_the_same_words(self) -> None:
        self.client.ask("new:wally:pw")
        self.client.send("auth:wally:wrong\nauth:nobody:pw\n")
        self.assertEqual(self.client.reply_line(), self.client.reply_line())

    def test_it_accepts_the_compact_and_the_spaced_form(self) -> None:
        self.assert_replies(
            {
                b"new: sue: pw": "OK",
                b"auth:sue:pw": "OK",
                b"auth: sue: pw": "OK",
                b"auth: sue:pw": "OK",
                b"auth:sue: pw": "denied",
                b"auth: sue:  pw": "denied",
                b"auth:  sue: pw": "invalid",
            }
        )

    def test_a_line_without_a_known_verb_is_a_syntax_error(self) -> None:
        self.assert_replies(
            dict.fromkeys(
                (
                    *(b"get:ann:pw", b"AUTH:a:b", b"Auth:a:b", b"NEW:a:b", b"auth", b"new"),
                    *(b"ping ", b"PING", b" ping", b"pingx", b"a.txt", b"auth a:b"),
                    *("größe".encode(), b"\xff", b" ", b":"),
                ),
                "syntax",
            )
        )

    def test_what_a_page_makes_a_browser_send_makes_no_account(self) -> None:
        for head, replies in (
            (b"POST / HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n", 1),
            (b"patch / HTTP/1.1\r\nHost: a.example:9001\r\n", 1),  # a method of fetch() as it is
            (b"M-SEARCH * HTTP/2.0\r\nX: a.example\r\n", 1),
            (b"GET / HTTP/1.0\r\n", 1),
            (b"one\nhost: a.example\r\n", 2),
        ):
            with self.subTest(head):
                page = self.connect(self.authserver)
                page.send(head + b"Content-Length: 16\r\n\r\nnew:boss:secret\n")
                page.half_close()
                self.assertEqual(page.rest().count(b"ERR syntax "), replies)
        self.assertEqual(self.client.ask(b"auth:boss:secret"), "denied")
        self.assertEqual(self.client.ask("ping"), "OK")

    def test_a_known_verb_with_parts_missing_is_a_syntax_error(self) -> None:
        self.assert_replies(
            dict.fromkeys(
                (
                    *(b"auth:", b"auth:ann", b"auth: ", b"new:", b"new: ann"),
                    *(b"auth:ann\x01:pw", b"\x7fping"),
                ),
                "syntax",
            )
        )

    def test_a_user_or_password_that_is_not_acceptable_is_invalid(self) -> None:
        users = (b"", b"a b", b"a/b", b"a*", b"u" * 65, "ä".encode())
        passwords = (b"", b"p" * 129)
        lines = [verb + user + b":pw" for verb in (b"auth:", b"new:") for user in users]
        lines += [
            verb + b"ann:" + password for verb in (b"auth:", b"new:") for password in passwords
        ]
        self.assert_replies(dict.fromkeys(lines, "invalid"))

    def test_the_longest_user_and_password_are_kept_whole(self) -> None:
        user, password = b"U" * 64, bytes(range(0x80, 0x100))
        self.assertEqual(len(password), 128)
        self.assert_replies(
            {
                b"new:" + user + b":" + password: "OK",
                b"auth:" + user + b":" + password: "OK",
                b"auth:" + user + b":" + password[:-1]: "denied",
                b"auth:" + user[:-1] + b":" + password: "denied",
            }
        )

    def test_what_looks_like_sql_or_a_record_is_only_a_password(self) -> None:
        tricky = (
            b"' OR '1'='1",
            b'"; DROP TABLE accounts; --',
            b"$argon2id$v=19$m=19456,t=2,p=1$",
            b"plain:pw",
            b"%s%n",
            b"\\0",
        )
        for number, password in enumerate(tricky):
            user = b"tricky%d" % number
            self.assertEqual(self.client.ask(b"auth:" + user + b":" + password), "denied")
            self.assert_replies(
                {
                    b"new:" + user + b":" + password: "OK",
                    b"auth:" + user + b":" + password: "OK",
                    b"auth:" + user + b":pw": "denied",
                }
            )


class AuthserverOfProcessesTest(AuthserverTest):
    flags = ("--model", "process")


class AuthserverWithPlainPasswordsTest(AuthserverTest):
    flags = ("--password-scheme", "plain")


class AuthserverWithStoreConnectionPerRequestTest(AuthserverTest):
    flags = ("--store-connection", "per-request", "--password-scheme", "plain")


class SchemesTest(SceneTest):
    def test_accounts_of_both_schemes_are_verified_whatever_the_flag_says(self) -> None:
        made = []
        for number, scheme in enumerate(("plain", "argon2id", "plain")):
            authserver = self.scene.authserver("--password-scheme", scheme)
            client = self.scene.client(authserver)
            self.assertEqual(client.ask(f"new:user{number}:pw{number}"), "OK")
            made.append(number)
            for user in made:
                self.assertEqual(client.ask(f"auth:user{user}:pw{user}"), "OK")
                self.assertEqual(client.ask(f"auth:user{user}:pw"), "denied")
            client.close()
            self.assertEqual(authserver.stop(), 0)

    def test_an_unknown_user_takes_as_long_as_a_wrong_password(self) -> None:
        for scheme in ("argon2id", "plain"):
            with self.subTest(new_accounts=scheme):
                authserver = self.scene.authserver("--password-scheme", scheme)
                client = self.scene.client(authserver)
                self.assertIn(
                    client.ask("new:timed:pw"), ("OK", "exists")
                )  # the first server made it
                wrong = self.cost_s(authserver.pid, client, "auth:timed:wrong")
                unknown = self.cost_s(authserver.pid, client, "auth:untimed:wrong")
                # Without computing a hash, the reply to an unknown user would be 100 times faster.
                self.assertLess(wrong, 5 * unknown)
                self.assertLess(unknown, 5 * wrong)

    def cost_s(self, pid: int, client: Client, line: str) -> float:
        """The CPU time of several replies. Other processes lengthen the time until a reply."""
        before = cpu_s(pid)
        for _ in range(15):
            client.ask(line)
        return cpu_s(pid) - before

    def test_plain_passwords_are_warned_of_at_the_start(self) -> None:
        self.assertIn("plain", self.scene.authserver("--password-scheme", "plain").log())
        self.assertNotIn(
            "plain", self.scene.authserver("--sqlite-path", self.scene.folder / "other.db").log()
        )

    def test_an_argon2id_account_does_not_hold_its_password(self) -> None:
        authserver = self.scene.authserver()
        client = self.scene.client(authserver)
        self.assertEqual(client.ask("new:hidden:Tr0ub4dor"), "OK")
        self.assertEqual(client.ask("auth:hidden:Tr0ub4dor"), "OK")
        for file in self.scene.folder.glob("accounts.db*"):
            self.assertNotIn(b"Tr0ub4dor", file.read_bytes(), file)

    def test_a_store_that_is_locked_is_unavailable_in_time_and_comes_back(self) -> None:
        authserver = self.scene.authserver("--store-timeout", "1", "--password-scheme", "plain")
        client = self.scene.client(authserver)
        self.assertEqual(client.ask("new:early:pw"), "OK")
        lock = self.scene.keep(sqlite3.connect(self.scene.accounts, isolation_level=None))
        lock.execute("BEGIN EXCLUSIVE")
        self.assertEqual(client.ask("new:late:pw"), "unavailable")
        lock.execute("ROLLBACK")
        self.assertEqual(client.ask("new:late:pw"), "OK")
        self.assertEqual(client.ask("auth:late:pw"), "OK")
