"""A server that answers in Redis's place with replies that Redis would never give."""

import contextlib
import socket
import time

import e2e_path  # noqa: F401
import programs
from fake_redis import FakeRedis, command_in
from scene import SceneTest
from waiting import eventually

PAGE_WITHOUT_KEYS = b"*1\r\n$1\r\n0\r\n"
PAGE_OF_NUMBERS = b"*2\r\n:0\r\n*1\r\n:7\r\n"
PAGE_OF_ACCOUNTS = b"*2\r\n$1\r\n0\r\n*1\r\n$7\r\nuser:ab\r\n"
PAGE_OF_OTHERS = b"*2\r\n$1\r\n0\r\n*1\r\n$2\r\nab\r\n"


class SlowRedis(FakeRedis):
    """Answers look-ups only if it `may_answer`; otherwise it answers one and keeps quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = True
        self.opened = self.closed = 0

    def serve(self, connection: socket.socket) -> None:
        self.opened += 1
        with connection.makefile("rb") as stream:
            is_first = True
            while command := command_in(stream):
                if command != "GET" or self.may_answer or is_first:
                    connection.sendall(self.replies.get(command, b"$-1\r\n"))
                is_first = is_first and (command != "GET" or self.may_answer)
            self.closed += 1


class LateRedis(FakeRedis):
    """Each of its replies to a look-up takes `pause_s`."""

    pause_s = 0.0

    def reply_to(self, words: list[str]) -> bytes:
        if words[0] == "GET":
            time.sleep(self.pause_s)
        return super().reply_to(words)


class TricklingRedis(FakeRedis):
    """While it trickles, a look-up is answered byte by byte, one each 0.2 s, for half a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.trickles = False

    def serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream, contextlib.suppress(OSError):
            while command := command_in(stream):
                if command == "GET" and self.trickles:
                    connection.sendall(b"$150\r\n")
                    for _ in range(150):
                        connection.sendall(b"a")
                        time.sleep(0.2)
                else:
                    connection.sendall(self.replies.get(command, b"$-1\r\n"))


class HostileRedisTest(SceneTest):
    def redis(self, **replies: bytes) -> FakeRedis:
        server = FakeRedis(**replies)
        self.addCleanup(server.close)
        return server

    def test_an_account_is_acknowledged_for_no_reply_but_ok(self) -> None:
        redis = self.redis()
        server = self.scene.authserver(*redis.flags())
        for reply, words in (
            (b"+OK\r\n", "OK"),
            (b"$-1\r\n", "exists"),
            (b":0\r\n", "internal"),
            (b"+QUEUED\r\n", "internal"),
            (b"$2\r\nOK\r\n", "internal"),
            (b"*0\r\n", "internal"),
        ):
            with self.subTest(reply):
                redis.replies["SET"] = reply
                self.assertEqual(self.scene.client(server).ask("new:bob:pw"), words)

    def test_nobody_is_let_in_for_a_record_that_is_none(self) -> None:
        for reply in (b":0\r\n", b"+$plain$pw\r\n", b"*1\r\n$9\r\n$plain$pw\r\n"):
            with self.subTest(reply):
                server = self.scene.authserver(*self.redis(GET=reply).flags())
                self.assertEqual(self.scene.client(server).ask("auth:bob:pw"), "internal")

    def test_after_a_time_out_all_that_were_asked_together_are_unavailable(self) -> None:
        redis = SlowRedis()
        self.addCleanup(redis.close)
        redis.replies["GET"] = b"$9\r\n$plain$pw\r\n"
        server = self.scene.authserver(*redis.flags(), "--store-timeout", 1)
        client = self.scene.client(server)
        self.assertEqual(client.ask("auth:ann:pw"), "OK")
        redis.may_answer = False
        together = [f"auth:{name}:pw".encode() for name in ("ann", "bob", "eve")]
        self.assertEqual(client.ask_all(together), ["unavailable"] * 3)
        eventually(lambda: redis.closed == redis.opened, "no connection is kept")
        redis.may_answer = True
        redis.replies["GET"] = b"$-1\r\n"
        self.assertEqual(client.ask_all(together), ["denied"] * 3)

    def test_a_reply_that_trickles_has_the_time_out_as_a_whole(self) -> None:
        redis = TricklingRedis()
        self.addCleanup(redis.close)
        server = self.scene.authserver(*redis.flags(), "--store-timeout", 1)
        client = self.scene.client(server)
        redis.trickles = True
        self.assertEqual(client.ask("auth:ann:pw"), "unavailable")
        together = [f"auth:{name}:pw".encode() for name in ("ann", "bob")]
        self.assertEqual(client.ask_all(together), ["unavailable"] * 2)
        self.assertIn("no whole reply in time", server.log())
        redis.trickles = False
        eventually(lambda: client.ask("auth:ann:pw") == "denied", "the store is asked again")

    def test_several_replies_have_the_time_out_together(self) -> None:
        redis = LateRedis()
        self.addCleanup(redis.close)
        redis.replies["GET"] = b"$9\r\n$plain$pw\r\n"
        server = self.scene.authserver(*redis.flags(), "--store-timeout", 1)
        client = self.scene.client(server)
        self.assertEqual(client.ask("auth:ann:pw"), "OK")
        redis.pause_s = 0.7
        together = [f"auth:{name}:pw".encode() for name in ("ann", "bob", "eve")]
        self.assertEqual(client.ask_all(together), ["unavailable"] * 3)

    def test_an_error_is_the_answer_to_one_of_several(self) -> None:
        redis = self.redis(GET=b"$9\r\n$plain$pw\r\n")
        client = self.scene.client(self.scene.authserver(*redis.flags()))
        redis.replies["GET user:bob"] = b"-ERR no\r\n"
        redis.replies["GET user:eve"] = b"$-1\r\n"
        together = [f"auth:{name}:pw".encode() for name in ("ann", "bob", "eve")]
        for _ in range(3):
            self.assertEqual(client.ask_all(together), ["OK", "unavailable", "denied"])

    def test_a_connection_that_did_not_select_its_database_is_not_used(self) -> None:
        record = b"$9\r\n$plain$pw\r\n"
        redis = self.redis(SELECT=b"+OK\r\n", GET=record)
        server = self.scene.authserver(*redis.flags(), "--redis-database", 1)
        client = self.scene.client(server)
        self.assertEqual(client.ask("auth:bob:pw"), "OK")
        redis.replies["GET"] = b"no reply\r\n"  # ends the connection
        self.assertEqual(client.ask("auth:bob:pw"), "unavailable")
        redis.replies |= {"SELECT": b"-ERR no such database\r\n", "GET": record}
        tries = redis.selected + 3

        def was_tried() -> bool:
            self.assertEqual(client.ask("auth:bob:pw"), "unavailable")
            return redis.selected >= tries

        eventually(was_tried, "the database is selected again and again")

    def test_a_reply_of_more_than_64_kib_is_refused(self) -> None:
        redis = self.redis(GET=b"$100000\r\n" + 100_000 * b"a" + b"\r\n")
        ended = programs.run("authserver", "--listen", "127.0.0.1:0", *redis.flags())
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("the reply is too long", ended.stderr)

    def test_an_export_ends_with_a_list_that_is_none(self) -> None:
        for page in (b":0\r\n", PAGE_WITHOUT_KEYS, PAGE_OF_NUMBERS, PAGE_OF_OTHERS):
            with self.subTest(page):
                done = programs.run("authserver", "--export", "-", *self.redis(SCAN=page).flags())
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                self.assertIn("unexpected type", done.stderr)

    def test_an_export_passes_over_an_account_that_was_removed_meanwhile(self) -> None:
        redis = self.redis(SCAN=PAGE_OF_ACCOUNTS)
        done = programs.run("authserver", "--export", "-", *redis.flags())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_an_account_is_removed_for_no_reply_but_a_number_over_0(self) -> None:
        for reply, status, why in (
            (b":1\r\n", 0, "removed"),
            (b":0\r\n", 1, "no such user"),
            (b":-1\r\n", 1, "no such user"),
            (b"+OK\r\n", 1, "unexpected type"),
            (b"-READONLY replica\r\n", 1, "READONLY"),
        ):
            with self.subTest(reply):
                flags = self.redis(DEL=reply).flags()
                done = programs.run("authserver", "--remove-account", "bob", *flags)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertIn(why, done.stderr)

    def test_its_error_cannot_write_control_bytes_to_a_terminal(self) -> None:
        redis = self.redis(GET=b"-ERR \x1b[2J\x07no\r\n")
        ended = programs.run("authserver", "--listen", "127.0.0.1:0", *redis.flags())
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("ERR ?[2J?no", ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)

    def test_a_store_that_failed_is_not_asked_at_once_again_on_a_new_connection(self) -> None:
        redis = self.redis(SELECT=b"+OK\r\n", SET=b"+OK\r\n")
        each = ("--store-connection", "per-request", "--log-level", "debug")
        server = self.scene.authserver(*redis.flags(), "--redis-database", 1, *each)
        client = self.scene.client(server)
        self.assertEqual([client.ask("ping") for _ in range(2)], ["OK", "OK"])
        redis.replies["SELECT"] = b"-ERR no such database\r\n"

        def was_not_asked() -> bool:
            self.assertEqual(client.ask("new:bob:pw"), "unavailable")
            return "waiting before the next one" in server.log()

        eventually(was_not_asked, "the store is not asked")
        redis.replies["SELECT"] = b"+OK\r\n"
        eventually(lambda: client.ask("new:bob:pw") == "OK", "the store is asked again")
