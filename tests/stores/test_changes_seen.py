"""scripts/accounts changes accounts while clients are connected: their next request sees it."""

import threading
import time

from accounts_scene import STORES, AccountsScene
from client import Client, Reply
from programs import Program
from store_scene import PATIENT, PLAIN, combinations, flags_of
from waiting import LONG_S

FILE = b"a.txt"
CLIENTS = 8


def replies(client: Client, lines: list[str]) -> list[Reply]:
    """The replies to lines that were sent.

    If a busy machine had no time for one, all are asked again one by one: the last `get` decides
    what the connection may read.
    """
    found = client.replies(len(lines))
    return [answer_to(client, line) for line in lines] if "unavailable" in found else found


def answer_to(client: Client, line: str) -> Reply:
    deadline = time.monotonic() + 4 * LONG_S
    while (answer := client.ask(line)) == "unavailable":
        assert time.monotonic() < deadline, "the store answers nothing"
    return answer


class Asker(threading.Thread):
    """Logs in over and over until it is told that the account was removed, and then once more."""

    def __init__(self, client: Client, line: str) -> None:
        super().__init__(daemon=True)
        self.was_answered, self.is_removed = threading.Event(), threading.Event()
        self.first: set[Reply] = set()
        self.last: set[Reply] = set()
        # Each of them that is denied costs a hash.
        self._client, self._lines = client, [line.encode()] * 4

    def run(self) -> None:
        self.first = set(self._client.ask_all(self._lines))
        self.was_answered.set()
        while not self.is_removed.wait(0.01):
            self._client.ask_all(self._lines)
        self.last = set(self._client.ask_all([*self._lines, FILE]))


class ChangesSeenTest(AccountsScene):
    def fileservers(self, kind: str, combination: tuple[str, str]) -> list[Program]:
        """Two authservers on the store, with a fileserver in front of each."""
        self.scene.write("a.txt", b"content")
        servers = []
        for _ in range(2):
            auth = self.scene.authserver(*self.store(kind), *flags_of(combination), *PATIENT)
            # Right pairs are asked together, and no guess has to wait.
            flags = ("--wrong-passwords", 10_000, "--auth-timeout", 4 * LONG_S)
            servers.append(self.scene.fileserver(auth, *flags))
        return servers

    def test_the_next_request_of_every_connection_sees_the_change(self) -> None:
        for kind in STORES:
            for combination in combinations():
                with self.subTest(kind=kind, combination=combination):
                    user, store = ".".join((kind, *combination)), self.store(kind)
                    store += () if combination == ("thread", "persistent") else PLAIN
                    servers = self.fileservers(kind, combination)
                    clients = [self.client(server) for server in servers * 2]
                    self.assert_done("add", user, *store, said="old\n")

                    def assert_answers(old: str, new: str, user=user, clients=clients) -> None:
                        # The second of each finds what is remembered.
                        lines = [f"get:{user}:{password}" for password in ("old", "new")] * 2
                        for one in clients:
                            one.send("\n".join([*lines, ""]))
                        for one in clients:
                            self.assertEqual(replies(one, lines), [old, new] * 2)

                    assert_answers("OK", "denied")
                    self.assert_done("password", user, *store, said="new\n")
                    assert_answers("denied", "OK")
                    self.assert_done("remove", user, *store)
                    assert_answers("denied", "denied")
                    self.assert_done("add", user, *store, said="old\n")
                    assert_answers("OK", "denied")
                    self.assert_done("remove", user, *store)
                    self.assertEqual({one.ask(FILE) for one in clients}, {"denied"})

    def test_a_removed_account_is_refused_while_log_ins_are_asked_together(self) -> None:
        for kind in STORES:
            for model in ("thread", "process"):
                with self.subTest(kind=kind, model=model):
                    user = f"{kind}.{model}.busy"
                    servers = self.fileservers(kind, (model, "persistent"))
                    self.assert_done("add", user, *self.store(kind), said="pw\n")
                    crowd = [
                        Asker(self.client(servers[number % 2]), f"get:{user}:pw")
                        for number in range(CLIENTS)
                    ]
                    for asker in crowd:
                        asker.start()
                    for asker in crowd:
                        self.assertTrue(asker.was_answered.wait(4 * LONG_S), "it was answered")
                    self.assert_done("remove", user, *self.store(kind))
                    for asker in crowd:
                        asker.is_removed.set()
                    for asker in crowd:
                        asker.join(4 * LONG_S)
                        # A busy machine may have no time for some of them.
                        self.assertEqual(asker.first - {"unavailable"}, {"OK"})
                        self.assertEqual(asker.last - {"unavailable"}, {"denied"})
