"""An authserver that is down, comes back, hangs, or is full."""

import signal
import threading

from client import Client, grant
from peers import Relay
from programs import Program
from scene import SceneTest, create_account, with_loops
from waiting import LONG_S, eventually, time_s

from rig.host import free_port

_CROWD = 300  # more than may ask at once, each on a connection of its own


def outage_lines(fileserver: Program) -> tuple[list[str], list[str]]:
    """The lines of the log that say that the authserver is away, and that it is back."""
    lines = fileserver.log().splitlines()
    return (
        [line for line in lines if " is unreachable " in line],
        [line for line in lines if " is reachable again " in line],
    )


@with_loops
class AuthOutageTest(SceneTest):
    connection = "persistent"

    def serve(self, auth: object, *flags: object) -> Program:
        self.scene.write("a.txt", b"content")
        return self.scene.fileserver(auth, "--auth-connection", self.connection, *flags)

    def test_the_fileserver_starts_without_it_and_finds_it_later(self) -> None:
        port = free_port()
        client = self.scene.client(self.serve(f"127.0.0.1:{port}"))
        self.assertEqual(
            client.ask_all(
                [b"ping", b"get:alice:pw", b"new:alice:pw", b"a.txt", b"get:", b"get::x"]
            ),
            ["unavailable", "unavailable", "unavailable", "denied", "syntax", "invalid"],
        )
        self.scene.authserver("--listen", f"127.0.0.1:{port}")
        eventually(lambda: client.ask("ping") == "OK", "the authserver is found")
        self.assertEqual(
            client.ask_all([b"new:alice:pw", b"get:alice:pw", b"a.txt"]), ["OK", "OK", b"content"]
        )

    def test_the_log_says_once_that_it_is_away_and_once_that_it_is_back(self) -> None:
        port = free_port()
        fileserver = self.serve(f"127.0.0.1:{port}")
        client = self.scene.client(fileserver)
        flags = ("--listen", f"127.0.0.1:{port}", "--password-scheme", "plain")
        for times in (1, 2):
            for line in ("ping", "get:alice:pw", "new:alice:pw", "ping"):
                self.assertEqual(client.ask(line), "unavailable")
            away, back = outage_lines(fileserver)
            self.assertEqual((len(away), len(back)), (times, times - 1))
            self.assertRegex(
                away[-1], rf"warning the authserver is unreachable at=127\.0\.0\.1:{port} reason="
            )
            self.assertIn("Connection refused", away[-1])
            authserver = self.scene.authserver(*flags)
            eventually(lambda: client.ask("ping") == "OK", "the authserver is found")
            self.assertEqual(client.ask("ping"), "OK")
            away, back = outage_lines(fileserver)
            self.assertEqual((len(away), len(back)), (times, times))
            self.assertRegex(
                back[-1],
                rf"info the authserver is reachable again at=127\.0\.0\.1:{port} outage_s=\d+\.\d$",
            )
            authserver.stop()

    def test_when_it_goes_down_a_get_logs_out_and_others_still_get_files(self) -> None:
        authserver = self.scene.authserver_of_alice()
        fileserver = self.serve(authserver)
        stays, asks = self.scene.client(fileserver), self.scene.client(fileserver)
        for client in (stays, asks):
            grant(client)
        authserver.stop()
        self.assertEqual(
            stays.ask_all([b"ping", b"new:bob:pw", b"a.txt"]),
            ["unavailable", "unavailable", b"content"],
        )
        self.assertEqual(
            asks.ask_all([b"get:alice:wonderland", b"a.txt"]), ["unavailable", "denied"]
        )

    def test_after_its_restart_every_kept_connection_works_at_once(self) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal_number):
                self.restart_and_ask(signal_number)

    def restart_and_ask(self, signal_number: int) -> None:
        # Twelve argon2id hashes at once would take longer than the time-out on a busy machine.
        authserver = self.scene.authserver("--password-scheme", "plain")
        user = f"user{int(signal_number)}"
        create_account(authserver, user, "pw")
        fileserver = self.serve(authserver)
        clients = [self.scene.client(fileserver) for _ in range(12)]
        for client in clients:
            client.send(f"get:{user}:pw\n")
        self.assertEqual([client.reply() for client in clients], ["OK"] * 12)
        authserver.signal(signal_number)
        authserver.wait()
        self.scene.authserver("--listen", authserver, "--password-scheme", "plain")
        for number, client in enumerate(clients):
            client.send(f"get:{user}:pw\n" if number % 2 else f"new:{user}.{number}:pw\n")
        self.assertEqual([client.reply() for client in clients], ["OK"] * 12)

    def test_a_crowd_is_unavailable_only_while_it_is_away(self) -> None:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = ("--auth-timeout", 4 * LONG_S, "--wrong-passwords", 1_000_000)
        fileserver = self.serve(authserver, *flags)
        clients = [self.scene.client(fileserver) for _ in range(_CROWD)]

        def ask_all() -> None:
            for client in clients:
                client.send("get:alice:wonderland\n")

        def replies() -> set[object]:
            return {client.reply() for client in clients}

        for _ in range(2):
            ask_all()
            self.assertEqual(replies(), {"OK"})
            authserver.signal(signal.SIGKILL)
            authserver.wait()
            ask_all()
            self.assertEqual(replies(), {"unavailable"})
            listen = ("--listen", authserver, "--password-scheme", "plain")
            authserver = self.scene.authserver(*listen)
            authserver.pause()  # so all of them wait for it, and no connection is kept yet
            ask_all()
            authserver.signal(signal.SIGCONT)
            self.assertEqual(replies(), {"OK"})

    def test_restarts_under_load_give_nobody_a_wrong_answer(self) -> None:
        listen = ("--listen", f"127.0.0.1:{free_port()}", "--password-scheme", "plain")
        authserver = self.scene.authserver(*listen)
        users = [f"user{i}" for i in range(12)]
        for user in users:
            create_account(authserver, user, f"pw-{user}")
        fileserver = self.serve(authserver, "--wrong-passwords", 1_000_000)
        has_ended = threading.Event()
        replies: dict[str, set[object]] = {"right": set(), "wrong": set()}

        def log_in(user: str) -> None:
            client = self.scene.client(fileserver)
            while not has_ended.is_set():
                replies["right"].add(client.ask(f"get:{user}:pw-{user}"))
                replies["wrong"].add(client.ask(f"get:{user}:pw-{users[0]}x"))

        threads = [threading.Thread(target=log_in, args=(user,)) for user in users]
        for thread in threads:
            thread.start()
        for signal_number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            eventually(lambda: "OK" in replies["right"], "log-ins are answered")
            authserver.signal(signal_number)
            authserver.wait()
            replies["right"].discard("OK")
            authserver = self.scene.authserver(*listen)
        eventually(lambda: "OK" in replies["right"], "log-ins are answered")
        has_ended.set()
        for thread in threads:
            thread.join()
        self.assertLessEqual(replies["right"], {"OK", "unavailable"})
        self.assertLessEqual(replies["wrong"], {"denied", "unavailable"})

    def test_one_that_hangs_is_unavailable_in_time_and_its_late_answers_are_dropped(self) -> None:
        authserver = self.scene.authserver_of_alice()
        fileserver = self.serve(authserver, "--auth-timeout", "2")
        clients = [self.scene.client(fileserver) for _ in range(4)]
        for client in clients:
            grant(client)
        authserver.pause()
        try:
            for client in clients:
                client.send("get:alice:wonderland\n")
            for client in clients:
                self.assert_unavailable_in_time(client)
        finally:
            authserver.signal(signal.SIGCONT)
        for _ in range(3):
            for client in clients:
                self.assertIn(client.ask("get:alice:wrong"), ("denied", "unavailable"))
                self.assertEqual(client.ask("a.txt"), "denied")
        eventually(lambda: clients[0].ask("ping") == "OK", "the authserver is asked again")
        grant(clients[0])
        away, back = outage_lines(fileserver)
        self.assertIn("did not answer in time", away[0])
        self.assertEqual(len(away), len(back))

    def assert_unavailable_in_time(self, client: Client) -> None:
        seconds = time_s(lambda: self.assertEqual(client.reply(), "unavailable"))
        self.assertLess(seconds, LONG_S / 2)

    def test_one_that_is_full_is_busy_and_closes_the_clients_connection(self) -> None:
        authserver = self.scene.authserver("--max-connections", "1")
        fileserver = self.serve(authserver)
        first = self.scene.client(authserver)
        self.assertEqual(first.ask("ping"), "OK")
        client = self.scene.client(fileserver)
        self.assertEqual(client.ask("get:alice:pw"), "busy")
        self.assertTrue(client.is_ended())
        pinging = self.scene.client(fileserver)
        self.assertEqual(pinging.ask("ping"), "unavailable")
        first.close()
        eventually(lambda: pinging.ask("ping") == "OK", "the authserver has room again")


class AuthOutagePerRequestTest(AuthOutageTest):
    connection = "per-request"


class ConnectionCountTest(SceneTest):
    """How many connections to the authserver the fileserver makes."""

    LINES = (b"get:alice:wonderland", b"get:alice:wrong", b"ping", b"new:bob:pw", b"new:bob:pw")

    def count(self, connection: str, ask) -> int:
        authserver = self.scene.authserver_of_alice(
            "--sqlite-path", self.scene.folder / f"{connection}.db"
        )
        relay = self.scene.keep(Relay(authserver.address))
        ask(self.scene.fileserver(relay, "--auth-connection", connection))
        return relay.connections

    def ask_in_turn(self, fileserver: Program) -> None:
        client = self.scene.client(fileserver)
        for _ in range(4):
            for line in self.LINES:
                self.assertIn(client.ask(line), ("OK", "denied", "exists"))

    def ask_on_connections_of_their_own(self, fileserver: Program) -> None:
        for _ in range(20):
            client = Client(fileserver.address)
            grant(client)
            client.close()

    def ask_side_by_side(self, fileserver: Program) -> None:
        clients = [self.scene.client(fileserver) for _ in range(6)]
        for _ in range(10):
            for client in clients:
                client.send("get:alice:wonderland\n")
            self.assertEqual([client.reply() for client in clients], ["OK"] * 6)

    def test_per_request_makes_one_for_every_validation(self) -> None:
        self.assertEqual(self.count("per-request", self.ask_in_turn), 4 * len(self.LINES))

    def test_persistent_keeps_one_for_requests_in_turn(self) -> None:
        self.assertEqual(self.count("persistent", self.ask_in_turn), 1)

    def test_persistent_keeps_one_for_clients_in_turn(self) -> None:
        self.assertEqual(self.count("persistent", self.ask_on_connections_of_their_own), 1)

    def test_persistent_needs_no_more_than_requests_side_by_side(self) -> None:
        self.assertLessEqual(self.count("persistent", self.ask_side_by_side), 6)

    def test_a_kept_connection_that_the_authserver_closed_as_idle_is_replaced(self) -> None:
        authserver = self.scene.authserver_of_alice("--idle-timeout", "1")
        relay = self.scene.keep(Relay(authserver.address))
        client = self.scene.client(self.scene.fileserver(relay))
        lines = ("get:alice:wonderland", "new:bob:pw", "ping", "get:bob:pw")
        for number, line in enumerate(lines, 1):
            self.assertEqual(client.ask(line), "OK", line)
            self.assertEqual(relay.connections, number)
            eventually(lambda: relay.open_connections() == 0, "the kept connection is closed")
