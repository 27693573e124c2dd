"""--wrong-passwords: who guesses the password of a user is told `busy`, and nobody else is.

One wrong password of a user is forgiven every six seconds, one of an address every second. So a
slow test may see one more of them reach the authserver for each of these times that it took; no
limit here depends on the speed of the machine.
"""

import socket
import time

from client import Client
from http_client import FLAG, HttpClient, basic
from peers import Peer
from programs import Program
from scene import SceneTest, with_loops, with_processes
from waiting import eventually

_FORGIVE_ONE_S, _FORGIVE_ONE_OF_ADDRESS_S = 6, 1
_OF_ADDRESS = 100
_ELSEWHERE = "127.0.0.2"


def _answer(line: bytes, _: socket.socket) -> bytes:
    """An authserver that knows one password, and cannot check another one."""
    password = line.strip().split(b":")[-1]
    if password == b"right":
        return b"OK\n"
    return b"ERR unavailable x\n" if password == b"hard" else b"ERR denied no\n"


class ThrottleScene(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.keep(Peer(_answer))
        self.guesses = 0
        self.start = time.monotonic()

    def serve(self, *flags: object) -> Program:
        self.fileserver = self.scene.fileserver(self.authserver, *flags)
        return self.fileserver

    def log_in(self, password: str, source: str = "127.0.0.1", user: str = "amy") -> object:
        """The answer to a log-in on a connection of its own."""
        client = Client(self.fileserver.address, source=source)
        try:
            answer = client.ask(f"get:{user}:{password}")
            if answer == "busy":
                self.assertTrue(client.is_ended())
            return answer
        finally:
            client.close()

    def guess(self, source: str = "127.0.0.1") -> object:
        """The answer to a wrong password that was not sent before."""
        self.guesses += 1
        return self.log_in(f"wrong{self.guesses}", source)

    def guess_until_busy(self, source: str = "127.0.0.1") -> int:
        """How many guesses were denied before one was busy."""
        for denied in range(1000):
            if (answer := self.guess(source)) == "busy":
                return denied
            self.assertEqual(answer, "denied")
        raise AssertionError("1000 guesses were denied")

    def guess_users_until_busy(self) -> int:
        """The same with another user for each guess."""
        for denied in range(100 * _OF_ADDRESS):
            if (answer := self.log_in("wrong", user=f"user{denied}")) == "busy":
                return denied
            self.assertEqual(answer, "denied")
        raise AssertionError("no guess was busy")

    def most_allowed(self, limit: int = 10) -> int:
        """How many guesses one address may have made since the test began."""
        return limit + int((time.monotonic() - self.start) / _FORGIVE_ONE_S) + 1


@with_loops
@with_processes
class ThrottleTest(ThrottleScene):
    def test_after_ten_wrong_passwords_the_authserver_is_not_asked(self) -> None:
        self.serve()
        self.assertGreaterEqual(self.guess_until_busy(), 10)
        for _ in range(30):
            self.assertIn(self.guess(), ("busy", "denied"))
        self.assertLessEqual(len(self.authserver.lines), self.most_allowed())

    def test_at_the_limit_a_right_password_is_only_accepted_from_another_address(self) -> None:
        self.serve()
        self.assertEqual(self.log_in("right"), "OK")

        def is_locked_out() -> bool:
            self.guess_until_busy()
            self.assertEqual(self.log_in("right", _ELSEWHERE), "OK")
            return self.log_in("right") == "busy"

        eventually(is_locked_out, "the address is told busy before a password is forgiven")
        eventually(lambda: self.log_in("right") == "OK", "a wrong password is forgiven")

    def test_a_neighbour_at_the_same_address_is_not_locked_out(self) -> None:
        self.serve()

        def is_locked_out() -> bool:
            self.guess_until_busy()
            self.assertEqual(self.log_in("right", user="ben"), "OK")
            self.assertEqual(self.log_in("wrong", user="ben"), "denied")
            return self.log_in("right") == "busy"

        eventually(is_locked_out, "the user is told busy before a password is forgiven")

    def test_after_a_hundred_of_any_users_an_address_is_locked_out(self) -> None:
        self.serve()
        self.assertEqual(self.log_in("right", user="ben"), "OK")
        self.assertGreaterEqual(self.guess_users_until_busy(), _OF_ADDRESS)
        took_s = time.monotonic() - self.start
        most = _OF_ADDRESS + int(took_s / _FORGIVE_ONE_OF_ADDRESS_S) + 1
        self.assertLessEqual(len(self.authserver.lines), most + 1)

        def is_locked_out() -> bool:
            self.guess_users_until_busy()
            self.assertEqual(self.log_in("right", _ELSEWHERE), "OK")
            return self.log_in("right", user="ben") == "busy"

        eventually(is_locked_out, "the address is told busy before a password is forgiven")
        eventually(lambda: self.log_in("right", user="ben") == "OK", "one is forgiven")

    def test_guesses_at_once_reach_the_authserver_no_more_often(self) -> None:
        self.serve()
        clients = [self.scene.client(self.fileserver) for _ in range(64)]
        for number, client in enumerate(clients):
            client.send(f"get:amy:wrong{number}\n")
        answers = [client.reply() for client in clients]
        self.assertEqual(set(answers), {"denied", "busy"})
        self.assertEqual(answers.count("denied"), len(self.authserver.lines))
        self.assertLessEqual(len(self.authserver.lines), self.most_allowed())

    def test_right_passwords_at_once_are_all_accepted(self) -> None:
        self.serve()
        clients = [self.scene.client(self.fileserver) for _ in range(64)]
        for _ in range(3):
            for number, client in enumerate(clients):
                client.send(f"get:user{number}:right\n")
            self.assertEqual([client.reply() for client in clients], ["OK"] * 64)

    def test_what_is_no_guess_does_not_count(self) -> None:
        self.serve()
        client = self.scene.client(self.fileserver)
        lines = (b"get:", b"get::x", b"get:amy:", b"get:amy:\x01", b"get:amy:hard", b"get:amy:typo")
        for _ in range(30):
            self.assertEqual(
                client.ask_all(list(lines)),
                ["syntax", "invalid", "invalid", "syntax", "unavailable", "denied"],
            )
        self.assertGreaterEqual(self.guess_until_busy(), 9)

    def test_the_limit_is_a_flag(self) -> None:
        self.serve("--wrong-passwords", 2)
        self.guess_until_busy()
        self.assertLessEqual(len(self.authserver.lines), self.most_allowed(2))

    def test_zero_means_no_limit(self) -> None:
        self.serve("--wrong-passwords", 0)
        self.assertEqual([self.guess() for _ in range(50)], ["denied"] * 50)

    def test_with_a_table_of_eight_addresses_each_still_has_its_limit(self) -> None:
        self.serve("--wrong-password-addresses", 8)
        for host in range(1, 5):
            self.assertGreaterEqual(self.guess_until_busy(f"127.0.0.{host}"), 10)


@with_loops
class ThrottledHttpTest(ThrottleScene):
    def test_by_http_it_is_the_user_and_not_the_neighbour_too(self) -> None:
        client = self.scene.keep(HttpClient(self.serve(*FLAG)))

        def status(user: str, password: str) -> int:
            return client.ask("/", f"Authorization: {basic(user, password)}").status

        def is_locked_out() -> bool:
            self.guesses += 1
            if (answer := status("amy", f"wrong{self.guesses}")) == 401:
                return False
            self.assertEqual(answer, 429)
            self.assertEqual(status("ben", "right"), 200)
            return status("amy", "right") == 429

        eventually(is_locked_out, "the user is told 429 before a password is forgiven")
