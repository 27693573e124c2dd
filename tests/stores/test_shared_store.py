"""Several authservers, and others, work on one store."""

import e2e_path  # noqa: F401
from store_scene import PATIENT, PLAIN, StoreTest, combinations, flags_of

CLIENTS = 8
NAMES = 10


class SharedStoreTest(StoreTest):
    def test_of_many_who_want_one_name_exactly_one_is_told_ok(self) -> None:
        for kind in self.kinds:
            with self.subTest(kind):
                servers = [
                    self.authserver(kind, "--model", model, *PATIENT, *PLAIN)
                    for model in ("thread", "process")
                ]
                clients = [self.client(servers[number % 2]) for number in range(CLIENTS)]
                for name in range(NAMES):
                    for number, client in enumerate(clients):
                        client.send(f"new:name{name}:pw{number}\n")
                    replies = [client.reply() for client in clients]
                    self.assertEqual(sorted(map(str, replies)), ["OK"] + ["exists"] * (CLIENTS - 1))
                    winner = replies.index("OK")
                    self.assertEqual(clients[winner - 1].ask(f"auth:name{name}:pw{winner}"), "OK")
                    self.assertEqual(
                        clients[winner - 1].ask(f"auth:name{name}:pw{winner - 1}"), "denied"
                    )

    def test_a_password_changed_in_the_store_is_honoured_at_once(self) -> None:
        """In spite of what the authserver remembers of credentials that were right."""
        for kind, database in self.databases.items():
            for combination in combinations():
                with self.subTest(kind=kind, combination=combination):
                    client = self.client(self.authserver(kind, *flags_of(combination), *PATIENT))
                    user, other = (f"{'.'.join(combination)}.{name}" for name in ("user", "other"))
                    self.assertEqual(
                        client.ask_all([f"new:{user}:old".encode(), f"new:{other}:new".encode()]),
                        ["OK"] * 2,
                    )
                    asked = [f"auth:{user}:old".encode(), f"auth:{user}:new".encode()]
                    self.assertEqual(client.ask_all(asked * 2), ["OK", "denied"] * 2)
                    old = database.record_of(user)
                    for record, replies in (
                        (database.record_of(other), ["denied", "OK"]),
                        (old, ["OK", "denied"]),
                        ("$plain$new", ["denied", "OK"]),
                    ):
                        database.overwrite(user, record)
                        self.assertEqual(client.ask_all(asked * 2), replies * 2)

    def test_records_are_kept_as_the_scheme_says_and_say_it_themselves(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                plain, hashed = (
                    self.authserver(kind, "--password-scheme", scheme, *PATIENT)
                    for scheme in ("plain", "argon2id")
                )
                self.assertEqual(self.client(plain).ask("new:plain:pw"), "OK")
                self.assertEqual(self.client(hashed).ask("new:hashed:pw"), "OK")
                self.assertEqual(database.record_of("plain"), "$plain$pw")
                self.assertTrue(
                    database.record_of("hashed").startswith("$argon2id$v=19$m=19456,t=2,p=1$")
                )
                for server in (plain, hashed):
                    lines = [b"auth:plain:pw", b"auth:hashed:pw", b"auth:plain:x", b"auth:hashed:x"]
                    self.assertEqual(
                        self.client(server).ask_all(lines), ["OK", "OK", "denied", "denied"]
                    )
