"""The requests new: and get:, as a client of the fileserver sees them."""

from client import Client
from scene import SharedSceneTest

USER_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+"
PRINTABLE = bytes(value for value in range(0x20, 0x100) if value != 0x7F)


class AccountsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("a.txt", b"content")
        # All tests of the class log in from one address, and many of them with wrong passwords.
        flags = ("--wrong-passwords", "0")
        cls.fileserver = cls.scene.fileserver(cls.scene.authserver(), *flags)

    def setUp(self) -> None:
        self.client = self.connect(self.fileserver)

    def assert_replies(self, expected: dict[bytes, str]) -> None:
        """Sends each line on one connection and checks its reply. The connection must stay open."""
        for line, reply in expected.items():
            self.assertEqual(self.client.ask(line), reply, line)
        self.assertEqual(self.client.ask("ping"), "OK")

    def is_granted(self, client: Client | None = None) -> bool:
        reply = (client or self.client).ask("a.txt")
        self.assertIn(reply, (b"content", "denied"))
        return reply == b"content"

    def test_an_account_is_made_once_and_opens_the_files(self) -> None:
        self.assert_replies({b"new:once:pw": "OK", b"a.txt": "denied", b"get:once:pw": "OK"})
        self.assertTrue(self.is_granted())
        self.assert_replies(
            {b"new:once:pw": "exists", b"new:once:other": "exists", b"get:once:other": "denied"}
        )

    def test_an_account_is_there_for_other_connections(self) -> None:
        self.assertEqual(self.client.ask("new:shared:pw"), "OK")
        self.assertEqual(self.connect(self.fileserver).ask("get:shared:pw"), "OK")

    def test_wrong_user_and_wrong_password_are_denied_in_the_same_words(self) -> None:
        self.client.ask("new:known:pw")
        lines = []
        for line in (b"get:known:wrong\n", b"get:unknown:pw\n", b"get:unknown:wrong\n"):
            self.client.send(line)
            lines.append(self.client.reply_line())
        self.assertEqual(len(set(lines)), 1, lines)
        self.assertTrue(lines[0].startswith(b"ERR denied "), lines)

    def test_the_spaced_form_means_the_same(self) -> None:
        self.assert_replies(
            {
                b"new: spaced: pw": "OK",
                b"get:spaced:pw": "OK",
                b"get: spaced: pw": "OK",
                b"get: spaced:pw": "OK",
                b"get:spaced: pw": "denied",
                b"new:spaced:pw": "exists",
            }
        )

    def test_the_spaced_form_drops_one_space_and_no_more(self) -> None:
        self.assert_replies(
            {
                b"new: roomy:  pw": "OK",
                b"get:roomy: pw": "OK",
                b"get: roomy: pw": "denied",
                b"get:roomy:pw": "denied",
                b"new:  roomy: pw": "invalid",
                b"get: roomy : pw": "invalid",
            }
        )

    def test_the_compact_form_drops_nothing(self) -> None:
        self.assert_replies(
            {
                b"new:tight: pw ": "OK",
                b"get:tight:pw": "denied",
                b"get:tight: pw": "denied",
                b"get:tight: pw ": "OK",
                b"get: tight:  pw ": "OK",
                b"get: tight: pw ": "denied",
            }
        )

    def test_everything_behind_the_second_colon_is_the_password(self) -> None:
        self.assert_replies(
            {
                b"new:colons:a:b::": "OK",
                b"get:colons:a": "denied",
                b"get:colons:a:b": "denied",
                b"get:colons:a:b::": "OK",
                b"get: colons: a:b::": "OK",
                b"new:colon::": "OK",
                b"get:colon::": "OK",
                b"get: colon: :": "OK",
            }
        )

    def test_a_missing_second_colon_is_a_syntax_error(self) -> None:
        self.assert_replies(
            dict.fromkeys(
                (
                    *(b"new:", b"get:", b"new: ", b"get: ", b"new:bob", b"get: bob", b"new:a b"),
                    b"get:" + b"u" * 65,
                ),
                "syntax",
            )
        )

    def test_an_empty_user_or_password_is_invalid(self) -> None:
        self.assert_replies(
            dict.fromkeys(
                (
                    *(b"new::", b"get::", b"new::pw", b"get:bob:", b"new: :pw", b"new: : "),
                    *(b"get: bob: ", b"new: bob:", b"new:::"),
                ),
                "invalid",
            )
        )

    def test_every_byte_of_the_alphabet_makes_a_user(self) -> None:
        self.assertEqual(len(USER_BYTES), 67)
        users = [bytes([value]) for value in USER_BYTES] + [USER_BYTES[:64], USER_BYTES[3:]]
        self.assertEqual(
            self.client.ask_all([b"new:" + user + b":pw" for user in users]), ["OK"] * len(users)
        )
        self.assertEqual(
            self.client.ask_all([b"get:" + user + b":pw" for user in users]), ["OK"] * len(users)
        )

    def test_every_other_byte_makes_no_user(self) -> None:
        others = [value for value in PRINTABLE if value not in USER_BYTES + b":"]
        lines = [b"new:a" + bytes([value]) + b"b:pw" for value in others]
        lines += [b"get:" + bytes([value]) + b":pw" for value in others if value != 0x20]
        lines += ["new:ärger:pw".encode(), "get:пользователь:pw".encode()]
        self.assertEqual(self.client.ask_all(lines), ["invalid"] * len(lines))

    def test_users_that_look_alike_are_different(self) -> None:
        users = [b"Case", b"case", b"CASE", b"case.", b"case+", b"case@", b".case"]
        self.assertEqual(
            self.client.ask_all([b"new:" + user + b":" + user for user in users]),
            ["OK"] * len(users),
        )
        self.assertEqual(
            self.client.ask_all([b"get:" + user + b":" + user for user in users]),
            ["OK"] * len(users),
        )
        self.assertEqual(self.client.ask("get:case:Case"), "denied")

    def test_a_user_is_64_bytes_at_the_most(self) -> None:
        longest, one_more = b"l" * 64, b"l" * 65
        self.assert_replies(
            {
                b"new:" + longest + b":pw": "OK",
                b"get: " + longest + b": pw": "OK",
                b"new:" + one_more + b":pw": "invalid",
                b"get:" + one_more + b":pw": "invalid",
            }
        )

    def test_a_password_is_128_bytes_at_the_most_and_every_one_counts(self) -> None:
        longest = b"p" * 128
        self.assert_replies(
            {
                b"new:patient:" + longest: "OK",
                b"get:patient:" + longest: "OK",
                b"get: patient: " + longest: "OK",
                b"get:patient:" + longest[:-1]: "denied",
                b"get:patient:" + longest[:-1] + b"q": "denied",
                b"get:patient:" + longest + b"p": "invalid",
                b"new:patient2:" + longest + b"p": "invalid",
                b"get:patient:q" + longest[1:]: "denied",
            }
        )

    def test_every_printable_byte_and_every_high_byte_may_be_in_a_password(self) -> None:
        first, second = PRINTABLE[:128], PRINTABLE[128:]
        for user, password in ((b"bytes1", first), (b"bytes2", second)):
            changed = password[:-1] + b"!"
            self.assert_replies(
                {
                    b"new:" + user + b":" + password: "OK",
                    b"get:" + user + b":" + password: "OK",
                    b"get:" + user + b":" + changed: "denied",
                }
            )

    def test_a_refused_new_makes_no_account(self) -> None:
        self.assert_replies(
            {
                b"new:nobody:": "invalid",
                b"new:nobody:p\tw": "syntax",
                b"new:nobody": "syntax",
                b"new:nobody:" + b"p" * 129: "invalid",
                b"new:nobody:pw": "OK",
            }
        )

    def test_new_changes_nothing_about_the_connection(self) -> None:
        self.assert_replies({b"new:keeper:pw": "OK"})
        self.assertFalse(self.is_granted())
        self.assert_replies({b"get:keeper:pw": "OK"})
        forms_of_new = (b"new:keeper:pw", b"new:another:pw", b"new::", b"new:", b"new:\x01:x")
        for line in (*forms_of_new, b"ping", b"", b"none"):
            self.client.ask(line)
            self.assertTrue(self.is_granted(), line)

    def test_a_refused_get_logs_the_connection_out(self) -> None:
        self.client.ask("new:leaver:pw")
        for line in (
            b"get:leaver:wrong",
            b"get:unknown:pw",
            b"get:leaver",
            b"get:",
            b"get:leaver:",
            b"get::pw",
            b"get:lea ver:pw",
            b"get:leaver:" + b"p" * 129,
            b"get:\x01",
            b"get:leaver:pw\x7f",
            b"get:leaver:pw\r\r",
            b"get:leaver:p\0w",
        ):
            self.assertEqual(self.client.ask(b"get:leaver:pw"), "OK")
            self.assertTrue(self.is_granted())
            self.assertNotEqual(self.client.ask(line), "OK")
            self.assertFalse(self.is_granted(), line)

    def test_a_line_that_does_not_begin_with_get_does_not_log_out(self) -> None:
        self.assert_replies({b"new:stayer:pw": "OK", b"get:stayer:pw": "OK"})
        for line in (b"\x01get:", b"GET:stayer:wrong", b"get", b" get:stayer:wrong", b"get\x01:"):
            self.client.ask(line)
            self.assertTrue(self.is_granted(), line)

    def test_each_connection_is_logged_in_separately(self) -> None:
        other = self.connect(self.fileserver)
        self.assert_replies({b"new:single:pw": "OK", b"get:single:pw": "OK"})
        self.assertTrue(self.is_granted())
        self.assertFalse(self.is_granted(other))
        self.assertEqual(other.ask("get:single:wrong"), "denied")
        self.assertTrue(self.is_granted())

    def test_a_new_connection_on_a_reused_thread_is_not_logged_in(self) -> None:
        self.client.ask("new:before:pw")
        for _ in range(40):
            client = Client(self.fileserver.address)
            self.assertFalse(self.is_granted(client))
            self.assertEqual(client.ask("get:before:pw"), "OK")
            client.close()

    def test_only_lower_case_new_get_and_ping_are_requests(self) -> None:
        names = [
            *b"NEW:a:b New:a:b GET:a:b PING Ping pings new get auth:a:b".split(),
            *(b"ping ", b" ping", b" new:a:b", b"new a:b"),
        ]
        self.assert_replies(dict.fromkeys(names, "denied"))
        self.assert_replies({b"new:caller:pw": "OK", b"get:caller:pw": "OK"})
        self.assert_replies(dict.fromkeys(names, "not-found"))
