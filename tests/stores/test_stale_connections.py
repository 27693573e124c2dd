"""A connection to the store that became stale between two requests is replaced unnoticed."""

import e2e_path  # noqa: F401
from databases import Database
from programs import Program
from store_scene import PATIENT, PLAIN, StoreTest, combinations, flags_of
from waiting import eventually

CLIENTS = 3


class StaleConnectionTest(StoreTest):
    def test_after_its_restart(self) -> None:
        self.on_each("restart", lambda database: database.restart())

    def test_after_its_sudden_death(self) -> None:
        def die(database: Database) -> None:
            database.kill()
            database.start()

        self.on_each("death", die)

    def test_after_its_administrator_ended_them(self) -> None:
        self.on_each("ended", lambda database: database.disconnect_all())

    def test_after_it_closed_them_as_idle(self) -> None:
        for database in self.databases.values():
            database.close_idle_after_1_s()
            self.addCleanup(database.restart)
        self.on_each(
            "idle",
            lambda database: eventually(lambda: database.connections() == 0, "they are closed"),
        )

    def on_each(self, name: str, make_stale) -> None:
        for kind, database in self.databases.items():
            servers = [
                (combination, self.authserver(kind, *flags_of(combination), *PATIENT, *PLAIN))
                for combination in combinations()
            ]
            askers = [
                self.connected(server, f"{name}.{'.'.join(combination)}")
                for combination, server in servers
            ]
            make_stale(database)
            for ask, (combination, _) in zip(askers, servers):
                with self.subTest(kind=kind, combination=combination):
                    ask()
            for _, server in servers:
                self.assertEqual(server.stop(), 0)

    def connected(self, server: Program, tag: str):
        """Clients whose connections to the store are made; returns what asks on each once more."""
        clients = [self.client(server) for _ in range(CLIENTS)]
        lines = [f"new:{tag}:pw", f"auth:{tag}:pw", f"auth:{tag}:pw"]
        self.assertEqual(
            [client.ask(line) for client, line in zip(clients, lines)], ["OK"] * CLIENTS
        )

        def ask_again() -> None:
            lines = [f"new:{tag}.more:pw", f"auth:{tag}:pw", f"auth:{tag}:wrong"]
            replies = [client.ask(line) for client, line in zip(clients, lines)]
            self.assertEqual(replies, ["OK", "OK", "denied"])
            self.assertEqual(clients[1].ask(f"auth:{tag}.more:pw"), "OK")

        return ask_again


class KeptConnectionTest(StoreTest):
    """How many connections the store sees."""

    def test_a_kept_one_is_used_again(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                client = self.client(self.authserver(kind, *PATIENT, *PLAIN))
                self.assertEqual(client.ask(f"new:{kind}:pw"), "OK")
                before = self.accepted(database)
                for line in [f"auth:{kind}:pw", f"auth:{kind}:wrong", f"new:{kind}:pw", "ping"] * 5:
                    self.assertIn(client.ask(line), ("OK", "denied", "exists"))
                self.assertEqual(
                    self.accepted(database) - before, 1, "only the one that asks for the count"
                )

    def test_per_request_makes_one_for_each(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                client = self.client(
                    self.authserver(kind, "--store-connection", "per-request", *PATIENT, *PLAIN)
                )
                before = self.accepted(database)
                for number in range(5):
                    self.assertEqual(client.ask(f"new:{kind}{number}:pw"), "OK")
                    self.assertEqual(client.ask(f"auth:{kind}{number}:pw"), "OK")
                self.assertEqual(self.accepted(database) - before, 11)
                eventually(lambda: database.connections() == 0, "none is left behind")

    @staticmethod
    def accepted(database: Database) -> int:
        """Connections so far, this one included."""
        if database.kind == "mysql":
            return int(database.ask("SHOW GLOBAL STATUS LIKE 'Connections'").split()[1])
        stats = dict(
            line.split(":") for line in database.ask("info", "stats").split() if ":" in line
        )
        return int(stats["total_connections_received"])
