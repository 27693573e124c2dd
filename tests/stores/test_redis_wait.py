"""--redis-wait N: an account is acknowledged when N replicas have it."""

import e2e_path  # noqa: F401
import programs
from databases import Redis
from fake_redis import FakeRedis, FakeSentinel
from programs import Program
from scene import for_each
from store_scene import MODELS, PLAIN, StoreTest
from waiting import eventually, time_s

SHORT = ("--store-timeout", "3")
LONG_S = 20.0


class WaitTest(StoreTest):
    kinds = ("redis",)

    def setUp(self) -> None:
        super().setUp()
        self.redis: Redis = self.databases["redis"]
        self.redis.ask("flushall")

    def replica(self, name: str = "replica", of: Redis | None = None) -> Redis:
        primary = of or self.redis
        replica = Redis(self.scene.folder / name)
        self.addCleanup(replica.close)
        before = primary.ask("info", "replication").count("state=online")
        replica.ask("replicaof", "127.0.0.1", str(primary.port))
        info = primary.ask
        eventually(
            lambda: info("info", "replication").count("state=online") > before, "it is linked"
        )
        return replica

    def durable(self, server: Program) -> str:
        return next(line for line in server.log().splitlines() if "durable=" in line)

    @for_each(MODELS)
    def test_without_a_replica_an_account_is_made_and_not_acknowledged(self, model: str) -> None:
        server = self.authserver("redis", *PLAIN, *SHORT, "--redis-wait", 1, "--model", model)
        self.assertIn("fewer replicas than --redis-wait asks for", server.log())
        self.assertIn(" replicas=0 wait=1", server.log())
        told = "no OK before 1 replicas have an account, and there are 0"
        self.assertIn(told, self.durable(server))
        client = self.client(server)
        user = f"amy.{model}"
        self.assertEqual(client.ask(f"new:{user}:pw"), "unavailable")
        self.assertEqual(self.redis.record_of(user), "$plain$pw")
        self.assertEqual(client.ask(f"new:{user}:pw"), "exists")
        self.assertEqual(client.ask(f"auth:{user}:pw"), "OK")
        log = server.log()
        self.assertEqual(log.count("the store takes no changes of accounts"), 1)
        self.assertIn("redis: 0 of 1 replicas have the change, which may stay or be lost", log)
        self.assertNotIn("takes changes of accounts again", log)  # not for what was refused
        self.assertNotIn("unreachable", log)

    def test_where_it_was_not_acknowledged_the_sentinels_are_asked_again(self) -> None:
        """The server may be an old primary, which has lost its replicas to another one."""
        sentinel = self.scene.keep(FakeSentinel(self.redis))
        by_sentinel = ("--store", "redis", "--redis-sentinel", str(sentinel))
        other = Redis(self.scene.folder / "other")
        self.addCleanup(other.close)
        flags = (*by_sentinel, *PLAIN, *SHORT, "--redis-wait", 1, "--redis-port", other.port)
        client = self.client(self.scene.authserver(*flags))
        self.assertEqual(client.ask("new:amy:pw"), "unavailable")
        self.replica("replica", of=other)
        sentinel.name(other)
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        self.assertEqual(other.record_of("amy"), "$plain$pw")

    def test_with_a_replica_it_is_there_when_it_is_acknowledged(self) -> None:
        replica = self.replica()
        server = self.authserver("redis", *PLAIN, "--redis-wait", 1)
        self.assertNotIn("fewer replicas", server.log())
        self.assertIn("1 of 1 replicas have an account before OK", self.durable(server))
        client = self.client(server)
        for number in range(20):
            self.assertEqual(client.ask(f"new:amy{number}:pw"), "OK")
            self.assertEqual(replica.record_of(f"amy{number}"), "$plain$pw")

    def test_a_replica_that_hangs_is_waited_for_by_changes_only(self) -> None:
        replica = self.replica()
        timeout = ("--store-timeout", LONG_S)
        client = self.client(self.authserver("redis", *PLAIN, *timeout, "--redis-wait", 1))
        other = self.client(self.authserver("redis", *PLAIN, *SHORT, "--redis-wait", 1))
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        replica.pause()
        try:
            self.assertEqual(other.ask("new:bob:pw"), "unavailable")
            quick = time_s(lambda: self.assertEqual(client.ask("new:amy:pw"), "exists"))
            self.assertEqual(client.ask("auth:bob:pw"), "OK")
            self.assertLess(quick, LONG_S / 2)
        finally:
            replica.resume()
        eventually(lambda: other.ask("new:eve:pw") in ("OK", "exists"), "accounts are made again")

    def test_other_changes_wait_too(self) -> None:
        replica = self.replica()
        flags = (*self.redis_flags(), *PLAIN, *SHORT, "--redis-wait", 1)
        self.assertEqual(self.change("--add-account", flags).returncode, 0)
        self.assertEqual(replica.record_of("amy"), "$plain$pw")
        replica.pause()
        try:
            for task in ("--set-password", "--remove-account"):
                done = self.change(task, flags)
                self.assertEqual(done.returncode, 1)
                self.assertIn(
                    "0 of 1 replicas have the change, which may stay or be lost", done.stderr
                )
        finally:
            replica.resume()
        self.assertEqual(self.redis.record_of("amy"), "")

    def redis_flags(self) -> list[str]:
        return self.redis.authserver_flags

    def change(self, task: str, flags: tuple[object, ...]):
        return programs.run("authserver", task, "amy", *flags, stdin="pw\n")

    def test_what_the_start_says_of_a_failover(self) -> None:
        sentinel = self.scene.keep(FakeSentinel(self.redis))
        by_sentinel = ("--store", "redis", "--redis-sentinel", str(sentinel), *PLAIN)
        for number in range(2):
            self.replica(f"replica{number}")
        for wait, words in (
            (0, "asynchronous: a failover may lose the last accounts, unless --redis-wait"),
            (1, "1 of 2 replicas have an account before OK: a failover to one that lags may lose"),
            (2, "2 of 2 replicas have an account before OK: a failover loses none"),
            (3, "no OK before 3 replicas have an account, and there are 2"),
        ):
            with self.subTest(wait):
                server = self.scene.authserver(*by_sentinel, "--redis-wait", wait)
                self.assertIn(words, self.durable(server))
                self.assertEqual("fewer replicas than" in server.log(), wait > 2)
        plain = self.durable(self.authserver("redis", *PLAIN))
        self.assertNotIn("failover", plain)
        self.assertNotIn("replicas", plain)

    def test_no_other_answer_than_a_number_that_is_enough_counts(self) -> None:
        redis = self.scene.keep(FakeRedis(SET=b"+OK\r\n", WAIT=b":2\r\n"))
        server = self.scene.authserver(*redis.flags(), *PLAIN, *SHORT, "--redis-wait", 2)
        for answer, told in (
            (b":2\r\n", "OK"),
            (b":3\r\n", "OK"),
            (b":1\r\n", "unavailable"),
            (b":0\r\n", "unavailable"),
            (b":-1\r\n", "unavailable"),
            (b"+OK\r\n", "unavailable"),
            (b"$1\r\n2\r\n", "unavailable"),
            (b"$-1\r\n", "unavailable"),
            (b"-ERR WAIT cannot be used with replica instances\r\n", "unavailable"),
            (b"-ERR unknown command\r\n", "unavailable"),
        ):
            with self.subTest(answer):
                redis.replies["WAIT"] = answer
                self.assertEqual(self.client(server).ask("new:bob:pw"), told)

    def test_a_login_that_may_not_wait_does_not_start(self) -> None:
        redis = self.scene.keep(FakeRedis(WAIT=b"-NOPERM no permissions to run 'wait'\r\n"))
        where = ("--listen", "127.0.0.1:0")
        done = programs.run("authserver", *where, *redis.flags(), "--redis-wait", 1)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("NOPERM", done.stderr)
