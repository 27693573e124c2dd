"""The whole system with its accounts in Redis."""

from on_a_store import OnAStore

STORE_MEMORY_BYTES = 1 << 30  # the default of docker-compose.yml
ASK_REDIS = "REDISCLI_AUTH=$(cat /run/secrets/store-password) redis-cli"


class OnRedis(OnAStore):
    STORE = "redis"

    def redis(self, command: str) -> list[str]:
        """The lines that Redis answers."""
        return self.system.inside("redis", f"{ASK_REDIS} {command}").split()

    def test_a_full_redis_keeps_its_accounts_and_refuses_new_ones(self) -> None:
        half = str(STORE_MEMORY_BYTES // 2)
        self.assertEqual(self.redis("CONFIG GET maxmemory"), ["maxmemory", half])
        self.make_account("early")
        self.redis("CONFIG SET maxmemory 1")
        self.addCleanup(self.redis, f"CONFIG SET maxmemory {half}")
        self.assertEqual(self.system.ask("new:late:wonderland"), "unavailable")
        self.assertEqual(self.system.ask("get:early:wonderland"), "OK")

    def test_a_load_of_many_threads_asks_only_for_files_that_exist(self) -> None:
        result = self.system.load("get", "--threads", "150", "--requests", "10", "--verify")
        self.require_no_fault(result, threads=150)
        self.assertEqual(result["requests"], 1500 - result["errors"]["total"])


del OnAStore  # Without this, unittest would run the base class too.
