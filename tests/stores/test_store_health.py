"""/healthz and /livez of the authserver and turnstile_store_up: whether its store answers."""

import e2e_path  # noqa: F401
from programs import Program
from store_scene import PLAIN, StoreTest, combinations, flags_of
from telemetry import FLAG, get, scrape
from waiting import eventually


class StoreHealthTest(StoreTest):
    def test_a_store_that_ends_and_returns(self) -> None:
        for kind in self.kinds:
            for combination in combinations():
                with self.subTest(kind=kind, combination=combination):
                    self.check_outage(kind, combination)

    def check_outage(self, kind: str, combination: tuple[str, str]) -> None:
        database = self.databases[kind]
        server = self.authserver(kind, *PLAIN, *FLAG, *flags_of(combination))
        self.wait_until_healthy(server)
        self.assertEqual(scrape(server).value("turnstile_store_up"), 1)
        database.stop()
        self.assertEqual(get(server, "/healthz").status, 503)
        self.assertEqual(get(server, "/livez").status, 200)
        self.assertEqual(scrape(server).value("turnstile_store_up"), 0)
        database.start()
        self.wait_until_healthy(server)
        self.assertEqual(server.stop(), 0)

    def wait_until_healthy(self, server: Program) -> None:
        eventually(lambda: get(server, "/healthz").status == 200, "the store is seen again")

    def test_a_store_that_hangs(self) -> None:
        for kind in self.kinds:
            with self.subTest(kind):
                server = self.authserver(kind, *PLAIN, *FLAG, "--store-timeout", "60")
                self.wait_until_healthy(server)
                self.databases[kind].pause()
                try:
                    self.assertEqual(get(server, "/healthz").status, 503)
                    self.assertEqual(get(server, "/livez").status, 200)
                finally:
                    self.databases[kind].resume()
                self.wait_until_healthy(server)
