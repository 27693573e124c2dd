"""--idle-timeout: idle connections are closed without a reply, moving transfers are not.

A test sees that the server closed a connection by its end, or by the place under
--max-connections that is free again. These tests have to sleep; their limits are generous.
"""

import time

import servers
from client import Client, ConnectionEndedError, grant
from processes import asks_after_peer_in_s, unacknowledged_bytes
from programs import Program
from scene import SceneTest
from waiting import LONG_S, eventually

BIG = 32_000_000


class IdleTest(SceneTest):
    """Tests all kinds of servers at the same time, because each test has to wait."""

    def clients(self, *flags: object) -> dict[str, Client]:
        """A connection to a server of each kind."""
        all_servers = {kind: servers.start(self.scene, kind, *flags) for kind in servers.KINDS}
        return {kind: self.scene.client(server) for kind, server in all_servers.items()}

    def test_a_client_that_sends_nothing_is_closed_without_a_reply(self) -> None:
        for kind, client in self.clients("--idle-timeout", "0.2").items():
            self.assertTrue(client.is_ended(), kind)

    def test_a_client_that_sends_nothing_after_a_reply_is_closed(self) -> None:
        asked = self.asked_anew("ping\n")
        for kind, client in asked.items():
            self.assertTrue(client.is_ended(), kind)

    def test_the_system_asks_after_idle_peers(self) -> None:
        for kind, client in self.clients("--idle-timeout", "0").items():
            self.assertEqual(client.ask("ping"), "OK", kind)
            self.assert_system_asks(client.socket.getpeername()[1], client.port(), kind)

    def test_the_system_asks_after_an_authserver_that_is_not_needed_now(self) -> None:
        authserver = self.scene.authserver("--idle-timeout", "0")
        client = self.scene.client(self.scene.fileserver(authserver))
        self.assertEqual(client.ask("ping"), "OK")
        self.assert_system_asks(None, authserver.address[1], "the kept connection")

    def assert_system_asks(self, local_port: int | None, remote_port: int, who: str) -> None:
        in_s = eventually(
            lambda: asks_after_peer_in_s(local_port, remote_port), f"{who} is watched"
        )
        self.assertLessEqual(in_s or 0.0, 60, who)

    def test_a_client_that_does_not_finish_a_line_is_closed(self) -> None:
        asked = self.asked_anew("ping\npin")
        for kind, client in asked.items():
            self.assertTrue(client.is_ended(), kind)

    def asked_anew(self, text: str) -> dict[str, Client]:
        """New connections to a server of each kind, which answered OK to the line in the text.

        The time-outs of all of them pass together.
        """
        first = self.clients("--idle-timeout", "1")
        clients = {
            kind: self.scene.client(client.socket.getpeername()) for kind, client in first.items()
        }
        for kind, client in clients.items():
            client.send(text)
            self.assertEqual(client.reply(), "OK", kind)
        return clients

    def test_a_client_that_sends_a_line_too_slowly_is_closed(self) -> None:
        still_open = self.clients("--idle-timeout", "1")
        for client in still_open.values():
            client.socket.settimeout(0.01)
        start = time.monotonic()
        # To send all 511 bytes of a line would take half a minute.
        for value in b"p" * 511:
            still_open = {
                kind: client
                for kind, client in still_open.items()
                if self.is_open_for(client, value)
            }
            if not still_open:
                break
        self.assertEqual(list(still_open), [])
        self.assertLess(time.monotonic() - start, 15)

    def is_open_for(self, client: Client, value: int) -> bool:
        """Sends one byte. Returns false if the server has closed the connection."""
        try:
            client.send(bytes([value]))
            self.assertEqual(client.socket.recv(100), b"")
            return False
        except TimeoutError:
            return True
        except (ConnectionResetError, BrokenPipeError):
            return False

    def test_every_reply_restarts_the_time(self) -> None:
        clients = self.clients("--idle-timeout", "2")
        for _ in range(5):
            for kind, client in clients.items():
                self.assertEqual(client.ask("ping"), "OK", kind)
            time.sleep(0.5)

    def test_zero_is_never(self) -> None:
        clients = self.clients("--idle-timeout", "0")
        for client in clients.values():
            client.send("pi")
        time.sleep(2)
        for kind, client in clients.items():
            client.send("ng\n")
            self.assertEqual(client.reply(), "OK", kind)


class ClientThatDoesNotReadTest(SceneTest):
    """The server has one place. When it is free again, the client that did not read was cut."""

    def serve(self, *flags: object) -> tuple[Program, Client]:
        self.scene.write("big", b"1" * BIG)
        authserver = self.scene.authserver_of_alice()
        server = self.scene.fileserver(
            authserver, "--max-connections", "1", "--idle-timeout", "1", *flags
        )
        return server, self.scene.client(server, receive_buffer=1 << 16)

    def wait_until_cut(self, server: Program) -> None:
        def has_room() -> bool:
            client = Client(server.address)
            client.send("ping\n")
            reply = client.reply()
            client.close()
            return reply == "OK"

        eventually(has_room, "the connection is cut")

    def test_one_that_takes_no_byte_of_a_file_is_cut(self) -> None:
        for mode in ("prefetch", "disk"):
            with self.subTest(mode):
                server, client = self.serve("--files", mode)
                grant(client)
                client.send("big\n")
                self.wait_until_cut(server)
                self.assertEqual(client.begin_file(), BIG)
                with self.assertRaises(ConnectionEndedError):
                    client.take(BIG)

    def test_one_that_stops_in_the_middle_of_a_file_is_cut(self) -> None:
        server, client = self.serve()
        grant(client)
        client.send("big\n")
        self.assertEqual(client.begin_file(), BIG)
        client.take(3_000_000)
        self.wait_until_cut(server)

    def test_one_that_sends_lines_and_reads_no_reply_is_cut(self) -> None:
        server, client = self.serve()
        client.socket.settimeout(0.2)
        # Sending fails when the buffers are full, or when the server has closed the connection.
        with self.assertRaises(OSError):
            for _ in range(int(LONG_S / 0.2)):
                client.send(b"\n" * 1_000_000)
        self.wait_until_cut(server)

    def test_the_kernel_holds_little_for_one_that_does_not_read(self) -> None:
        self.scene.write("big", b"1" * BIG)
        authserver = self.scene.authserver_of_alice()
        for mode in ("prefetch", "disk"):
            with self.subTest(mode):
                server = self.scene.fileserver(authserver, "--files", mode)
                client = self.scene.client(server, receive_buffer=1 << 14)
                grant(client)
                client.send("big\n")
                client.begin_file()
                held = [0, 1]
                while held[-1] != held[-2]:  # until the server cannot send any more
                    time.sleep(0.3)
                    held.append(unacknowledged_bytes(client))
                self.assertGreater(held[-1], 0)
                self.assertLess(held[-1], 1_000_000)


class SlowClientTest(SceneTest):
    def test_a_slow_reader_is_not_cut_and_may_ask_again(self) -> None:
        size = 6_000_000
        self.scene.write("slow", b"1" * size)
        authserver = self.scene.authserver_of_alice()
        modes = ("prefetch", "disk")
        clients = {mode: self.slow_client(authserver, mode, idle_s=2) for mode in modes}
        left = size  # in at least 5 s
        while left > 0:
            piece = min(left, 60_000)
            for mode, client in clients.items():
                self.assertEqual(client.take(piece), b"1" * piece, mode)
            left -= piece
            time.sleep(0.05)
        for mode, client in clients.items():
            self.assertEqual(client.ask("ping"), "OK", mode)

    def test_one_that_is_slower_than_the_least_rate_is_cut(self) -> None:
        self.scene.write("slow", b"1" * BIG)
        authserver = self.scene.authserver_of_alice()
        taken, pauses = 10_000, 100  # each pause is shorter than the idle time-out
        for mode in ("prefetch", "disk"):
            client = self.slow_client(authserver, mode, "--min-rate", "100M")
            with self.subTest(mode), self.assertRaises(ConnectionEndedError):
                for _ in range(pauses):
                    client.take(taken)
                    time.sleep(0.05)
                client.take(BIG - pauses * taken)

    def test_one_that_takes_the_least_rate_is_not_cut(self) -> None:
        self.scene.write("slow", b"1" * BIG)
        authserver = self.scene.authserver_of_alice()
        for mode in ("prefetch", "disk"):
            client = self.slow_client(authserver, mode, "--min-rate", "1", idle_s=3)
            self.assertEqual(len(client.take(BIG)), BIG, mode)
            self.assertEqual(client.ask("ping"), "OK", mode)

    def slow_client(
        self, authserver: Program, mode: str, *flags: object, idle_s: int = 1
    ) -> Client:
        limits = ("--idle-timeout", idle_s, *flags)
        server = self.scene.fileserver(authserver, "--files", mode, *limits)
        client = self.scene.client(server, receive_buffer=1 << 15)
        grant(client)
        client.send("slow\n")
        client.begin_file()
        return client
