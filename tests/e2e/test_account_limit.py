"""--accounts-per-address: an address that makes accounts without end is told `busy`.

All clients here are on loopback. They have a limit because they are a trusted proxy. One account is
forgiven every minute, which no test here takes.
"""

import json

from client import Client
from http_client import FLAG, Answer, HttpClient
from programs import Program
from scene import SceneTest, create_account, with_loops, with_processes

PROXY = ("--trusted-proxy", "127.0.0.1")
LIMIT = 3
LIMITED = ("--accounts-per-address", LIMIT)


class AccountLimitScene(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        self.users = 0

    def next_user(self) -> str:
        self.users += 1
        return f"user{self.users}"

    def new(self, client: Client) -> object:
        return client.ask(f"new:{self.next_user()}:pw")


@with_loops
@with_processes
class NativeAccountLimitTest(AccountLimitScene):
    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver(self.authserver, *flags)

    def new_alone(self, server: Program) -> object:
        """The answer to a `new:` on a connection of its own."""
        client = Client(server.address)
        try:
            return self.new(client)
        finally:
            client.close()

    def test_each_account_is_made_on_a_connection_of_its_own(self) -> None:
        server = self.serve(*PROXY, *LIMITED)
        self.assertEqual([self.new_alone(server) for _ in range(LIMIT)], ["OK"] * LIMIT)
        self.assertEqual([self.new_alone(server) for _ in range(3)], ["busy"] * 3)
        client = self.scene.client(server)
        self.assertEqual(client.ask("get:user1:pw"), "OK", "who has an account still logs in")
        self.assertEqual(self.new(client), "busy")
        self.assertTrue(client.is_ended())

    def test_a_client_on_this_machine_has_no_limit(self) -> None:
        server = self.serve(*LIMITED)
        self.assertEqual([self.new_alone(server) for _ in range(3 * LIMIT)], ["OK"] * 3 * LIMIT)

    def test_zero_means_no_limit(self) -> None:
        server = self.serve(*PROXY, "--accounts-per-address", 0)
        self.assertEqual([self.new_alone(server) for _ in range(120)], ["OK"] * 120)


class AccountLimitTest(AccountLimitScene):
    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver(self.authserver, *FLAG, *flags)

    def post(self, server: Program, forwarded_for: str, user: str = "") -> Answer:
        client = HttpClient(server)
        try:
            return client.ask(
                "/-/accounts",
                f"X-Forwarded-For: {forwarded_for}",
                method="POST",
                body=json.dumps({"user": user or self.next_user(), "password": "pw"}).encode(),
            )
        finally:
            client.close()

    def statuses(self, server: Program, forwarded_for: str, count: int) -> list[int]:
        return [self.post(server, forwarded_for).status for _ in range(count)]

    def test_a_client_behind_a_proxy_makes_as_many_as_the_limit(self) -> None:
        server = self.serve(*PROXY, *LIMITED)
        self.assertEqual(self.statuses(server, "198.51.100.7", LIMIT), [201] * LIMIT)
        for _ in range(5):
            refused = self.post(server, "198.51.100.7", "one-too-many")
            self.assertEqual((refused.status, refused.closes()), (429, False))
            self.assertEqual(refused.fields["retry-after"], "60")
        self.assertEqual(self.statuses(server, "198.51.100.8", LIMIT), [201] * LIMIT)
        self.assertEqual(self.post(server, "198.51.100.8").status, 429)
        client = self.scene.client(server)
        self.assertEqual(client.ask("get:one-too-many:pw"), "denied")
        self.assertEqual(client.ask("get:user1:pw"), "OK", "who has an account still logs in")

    def test_what_makes_no_account_does_not_count(self) -> None:
        create_account(self.authserver)
        server = self.serve(*PROXY, *LIMITED)
        for user, status in (("alice", 409), ("not acceptable", 422)):
            for _ in range(2 * LIMIT):
                self.assertEqual(self.post(server, "198.51.100.7", user).status, status)
        self.assertEqual(self.statuses(server, "198.51.100.7", LIMIT), [201] * LIMIT)
        for user, status in (("alice", 429), ("not acceptable", 422)):
            self.assertEqual(self.post(server, "198.51.100.7", user).status, status)

    def test_natively_the_answer_is_busy(self) -> None:
        server = self.serve(*PROXY, *LIMITED)
        client = self.scene.client(server)
        self.assertEqual([self.new(client) for _ in range(LIMIT)], ["OK"] * LIMIT)
        self.assertEqual(client.ask("get:user1:pw"), "OK")
        self.assertEqual(self.new(client), "busy")
        self.assertTrue(client.is_ended())
        self.assertEqual(self.new(self.scene.client(server)), "busy")
        self.assertEqual(self.post(server, "127.0.0.1").status, 429, "both fronts count together")

    def test_a_client_on_this_machine_has_no_limit(self) -> None:
        for flags in ((), ("--trusted-proxy", "198.51.100.0/24")):
            server = self.serve(*flags, *LIMITED)
            client = self.scene.client(server)
            self.assertEqual([self.new(client) for _ in range(3 * LIMIT)], ["OK"] * 3 * LIMIT)
            forged = self.statuses(server, "198.51.100.7", 3 * LIMIT)
            self.assertEqual(forged, [201] * 3 * LIMIT)

    def test_zero_means_no_limit(self) -> None:
        server = self.serve(*PROXY, "--accounts-per-address", 0)
        self.assertEqual(self.statuses(server, "198.51.100.7", 120), [201] * 120)

    def test_a_class_room_fits_the_default(self) -> None:
        server = self.serve(*PROXY)
        self.assertEqual(self.statuses(server, "198.51.100.7", 101), [201] * 100 + [429])

    def test_closed_accounts_are_denied_and_do_not_count(self) -> None:
        server = self.serve(*PROXY, *LIMITED, "--new-accounts", "closed")
        client = self.scene.client(server)
        self.assertEqual([self.new(client) for _ in range(2 * LIMIT)], ["denied"] * 2 * LIMIT)
