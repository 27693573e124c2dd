"""What sentinels are asked, and what becomes of their answers. The servers they name are real."""

import socket
import threading

import e2e_path  # noqa: F401
import programs
from databases import Redis, secret_file
from fake_redis import ASK, FakeSentinel, SilentSentinel, address
from programs import Program
from redis_group import NAME, Sentinel
from scene import for_each
from store_scene import MODELS, PATIENT, PLAIN, StoreTest
from waiting import eventually

LATER = "another server is the primary of the accounts now"


class SentinelsTest(StoreTest):
    kinds = ("redis",)
    first: Redis
    second: Redis

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.first = cls.databases["redis"]
        cls.second = Redis(cls.first.folder.parent / "second")
        cls.addClassCleanup(cls.second.close)

    def setUp(self) -> None:
        super().setUp()
        for server in (self.first, self.second):
            server.ask("replicaof", "no", "one")
            server.ask("flushall")

    def sentinel(self, server: Redis | None = None) -> FakeSentinel:
        return self.scene.keep(FakeSentinel(server))

    def flags(self, *sentinels: object) -> tuple[object, ...]:
        asked = ",".join(map(str, sentinels))
        return ("--store", "redis", "--redis-sentinel", asked)

    def start(self, *sentinels: object, more: tuple[object, ...] = ()) -> Program:
        return self.scene.authserver(*self.flags(*sentinels), *PLAIN, *more)

    def refuses_to_start(self, *sentinels: object, more: tuple[object, ...] = ()) -> str:
        where = ("--listen", "127.0.0.1:0")
        done = programs.run("authserver", *where, *self.flags(*sentinels), *more)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def swap(self) -> None:
        """The second one becomes the primary. Connections to the first one stay."""
        self.second.ask("replicaof", "no", "one")
        self.first.ask("replicaof", "127.0.0.1", str(self.second.port))

    @for_each(MODELS)
    def test_a_change_that_a_replica_refuses_is_made_on_the_primary(self, model: str) -> None:
        sentinel = self.sentinel(self.first)
        server = self.start(sentinel, more=("--model", model, "--redis-port", self.second.port))
        clients = [self.client(server) for _ in range(3)]
        for client in clients:
            self.assertEqual(client.ask("ping"), "OK")
        self.swap()
        sentinel.name(self.second)
        for number, client in enumerate(clients):
            self.assertEqual(client.ask(f"new:{model}{number}:pw"), "OK")
            self.assertEqual(self.second.record_of(f"{model}{number}"), "$plain$pw")
        self.assertEqual(server.log().count(LATER), 1)
        self.assertIn(f"primary=127.0.0.1:{self.second.port} name={NAME}", server.log())
        self.assertNotIn("unreachable", server.log())
        self.setUp()

    def test_a_server_that_is_no_primary_is_not_used(self) -> None:
        self.first.ask("replicaof", "127.0.0.1", str(self.second.port))
        late, other = self.sentinel(self.first), self.sentinel(self.second)
        self.assertIn(
            f"names 127.0.0.1:{self.first.port}, which is no primary", self.refuses_to_start(late)
        )
        client = self.client(self.start(late, other))
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        self.assertEqual(self.second.record_of("amy"), "$plain$pw")

    def test_an_answer_that_names_no_server_is_refused_and_the_next_one_is_asked(self) -> None:
        names = "it names no host with a port"
        for answer, why in (
            (b"*-1\r\n", "knows no primary with the name in --redis-primary"),
            (b"$-1\r\n", "knows no primary"),
            (b"-ERR No such master\r\n", "No such master"),
            (b"+OK\r\n", names),
            (b":7\r\n", names),
            (b"*0\r\n", names),
            (b"*1\r\n$1\r\na\r\n", names),
            (b"*2\r\n:1\r\n:2\r\n", names),
            (b"*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n", names),
            (address("", 1), names),
            (address("127.0.0.1", 0), names),
            (address("127.0.0.1", 65536), names),
            (address("127.0.0.1", -1), names),
            (address("127.0.0.1", "1 "), names),
            (address("127.0.0.1", ""), names),
            (address("unix:/run/redis.sock", 1), names),
            (address("unix:127.0.0.1", 1), names),
            (address("../a", 1), names),
            (address("a\x1b[2Jb", 1), names),
            (address("a\nb", 1), names),
            (address(254 * "a", 1), names),
            (b"*2\r\n$100000\r\n" + 100_000 * b"a", "the reply is too long"),
            (b"nonsense\r\n", "Protocol error"),
        ):
            with self.subTest(answer[:60]):
                sentinel = self.sentinel()
                sentinel.replies[ASK] = answer
                self.assertIn(why, self.refuses_to_start(sentinel))
                other = self.sentinel(self.first)
                client = self.client(self.start(sentinel, other, more=PATIENT))
                self.assertEqual(client.ask("ping"), "OK")

    def test_a_list_of_replicas_that_is_none_does_no_harm(self) -> None:
        sentinel = self.sentinel(self.first)
        for answer in (
            b":1\r\n",
            b"*1\r\n:1\r\n",
            b"*1\r\n*3\r\n$2\r\nip\r\n$1\r\na\r\n$4\r\nport\r\n",
            b"*1\r\n*2\r\n$2\r\nip\r\n:1\r\n",
            b"*2\r\n$-1\r\n*-1\r\n",
            b"*1\r\n*4\r\n$2\r\nip\r\n$2\r\n/a\r\n$4\r\nport\r\n$1\r\nx\r\n",
            b"$100000\r\n" + 100_000 * b"a",
        ):
            with self.subTest(answer[:60]):
                sentinel.replies["SENTINEL REPLICAS"] = answer
                self.assertEqual(self.client(self.start(sentinel)).ask("ping"), "OK")

    @for_each(MODELS)
    def test_of_sentinels_that_are_gone_or_silent_the_next_one_is_asked(self, model: str) -> None:
        gone = self.scene.keep(socket.socket())  # it does not listen, and nobody else gets its port
        gone.bind(("127.0.0.1", 0))
        gone_address = f"127.0.0.1:{gone.getsockname()[1]}"
        silent = self.scene.keep(SilentSentinel())
        more = ("--model", model, "--store-timeout", 3)
        server = self.start(gone_address, silent, self.sentinel(self.first), more=more)
        asked = silent.connections
        self.assertGreater(asked, 0)
        for _ in range(3):  # all begin with the one that has answered
            self.assertEqual(self.client(server).ask("ping"), "OK")
        self.assertEqual(silent.connections, asked)
        self.assertNotIn("unreachable", server.log())

    def test_a_silent_sentinel_leaves_the_others_time_to_name_their_servers(self) -> None:
        silent, other = self.scene.keep(SilentSentinel()), self.sentinel(self.first)
        self.start(silent, other, more=("--store-timeout", 3))
        self.assertGreater(silent.connections, 0)
        self.assertIn(["SENTINEL", "REPLICAS", NAME], other.commands)

    def test_without_sentinels_kept_connections_go_on(self) -> None:
        sentinel = self.sentinel(self.first)
        server = self.start(sentinel)
        client = self.client(server)
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        sentinel.close()
        self.assertEqual([client.ask(f"new:{name}:pw") for name in ("bob", "eve")], ["OK", "OK"])
        self.assertNotIn("unreachable", server.log())
        self.assertEqual(self.client(server).ask("auth:amy:pw"), "unavailable")
        where = f"at=redis {NAME} of the sentinels {sentinel} reason="
        self.assertIn(f"the store is unreachable {where}", server.log())
        self.assertIn(f"the sentinel {sentinel}: connect to", server.log())

    def test_the_password_is_for_the_server_and_for_a_sentinel_that_asks(self) -> None:
        password = "Xyzzy-Plugh"
        redis = Redis(self.scene.folder / "locked", password=password)
        self.addCleanup(redis.close)
        more = ("--redis-password-file", secret_file(self.scene.folder / "secret", password))
        open_one = self.sentinel(redis)
        self.assertEqual(self.client(self.start(open_one, more=more)).ask("new:a:pw"), "OK")
        self.assertNotIn("AUTH", [words[0] for words in open_one.commands])
        locked = Sentinel(self.scene.folder / "sentinel", redis, password=password)
        self.addCleanup(locked.close)
        server = self.start(f"127.0.0.1:{locked.port}", more=more)
        self.assertEqual(self.client(server).ask("auth:a:pw"), "OK")
        self.assertNotIn(password, server.log())
        other = Sentinel(self.scene.folder / "other", redis, password="another")
        self.addCleanup(other.close)
        told = self.refuses_to_start(f"127.0.0.1:{other.port}", more=more)
        self.assertIn(f"the sentinel 127.0.0.1:{other.port}: ", told)
        self.assertNotIn(password, told)

    def test_a_primary_with_another_name(self) -> None:
        sentinel = self.sentinel(self.first)
        server = self.start(sentinel, more=("--redis-primary", "accounts"))
        self.assertIn("primary=accounts sentinels=", server.log())
        asked = [words[2] for words in sentinel.commands if words[0] == "SENTINEL"]
        self.assertEqual(set(asked), {"accounts"})

    def test_a_server_that_is_added_later_needs_a_port_that_the_sandbox_allows(self) -> None:
        sentinel = self.sentinel(self.first)
        server = self.start(sentinel)
        if 'restricts="files, TCP' not in server.log():
            self.skipTest("the sandbox does not restrict TCP here")
        sentinel.name(self.second)
        self.assertEqual(self.client(server).ask("ping"), "unavailable")
        why = f"the sandbox forbids 127.0.0.1:{self.second.port}; see --redis-port"
        self.assertIn(why, server.log())
        sentinel.name(self.first)
        server = self.start(sentinel, more=("--redis-port", self.second.port))
        sentinel.name(self.second)
        self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_many_who_have_lost_the_primary_find_it_again(self) -> None:
        sentinel = self.sentinel(self.first)
        server = self.start(sentinel, more=("--redis-port", self.second.port, *PATIENT))
        clients = [self.client(server) for _ in range(40)]
        for client in clients:
            self.assertEqual(client.ask("ping"), "OK")
        sentinel.name(self.second)
        self.first.disconnect_all()
        answers: list[object] = []

        def ask(number: int) -> None:
            answers.append(clients[number].ask("ping"))  # a log-in would wait for its hash

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(answers, 40 * ["OK"])
        self.assertEqual(server.log().count(LATER), 1)

    def test_wrong_usage(self) -> None:
        for text in ("", "a", "a:", "a:0", "a:1,", ",a:1", "a:1,,b:1", "a:1 ,b:1", "unix:/a"):
            with self.subTest(text):
                done = programs.run("authserver", "--redis-sentinel", text)
                self.assertEqual(done.returncode, 2)
                self.assertIn("is not HOST:PORT, or several with commas", done.stderr)
        for flag, value in (("--redis-host", "localhost"), ("--redis-socket", "/run/a")):
            with self.subTest(flag):
                done = programs.run("authserver", "--redis-sentinel", "a:1", flag, value)
                self.assertEqual(done.returncode, 2)
                self.assertIn("excludes", done.stderr)

    def test_the_command_line_beats_the_environment(self) -> None:
        sentinel = self.sentinel(self.first)
        env = {"AUTHSERVER_REDIS_HOST": "nowhere.invalid", "AUTHSERVER_REDIS_SOCKET": "/nowhere"}
        for variable, value in env.items():
            server = self.scene.authserver(*self.flags(sentinel), *PLAIN, env={variable: value})
            self.assertEqual(self.client(server).ask("ping"), "OK")
        env = {"AUTHSERVER_REDIS_SENTINEL": "127.0.0.1:1"}
        where = ("--redis-host", "127.0.0.1", "--redis-port", self.first.port)
        server = self.scene.authserver("--store", "redis", *where, *PLAIN, env=env)
        self.assertEqual(self.client(server).ask("ping"), "OK")

    def test_accounts_are_changed_by_way_of_sentinels(self) -> None:
        flags = self.flags(self.sentinel(self.first))
        done = programs.run("authserver", "--add-account", "amy", *flags, *PLAIN, stdin="pw\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.first.record_of("amy"), "$plain$pw")
        eventually(lambda: f"redis {NAME} of the sentinels" in done.stderr, "the store is named")
