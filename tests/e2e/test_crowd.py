"""Many clients at once, each with its own account and file: every reply goes to the right one."""

import random
import resource
import subprocess
import threading
import unittest
from pathlib import Path

from client import Client
from processes import mappings, threads
from programs import BUILD, SANITIZED, Program, environment
from scene import SceneTest
from waiting import eventually


class Visitor(threading.Thread):
    """Sends right and wrong requests at random, and collects every wrong reply in `mistakes`."""

    STEPS = 40 if SANITIZED else 120

    def __init__(self, server: Program, number: int) -> None:
        super().__init__()
        self._server = server
        self._user, self._password = f"visitor{number}", f"pw{number}"
        self._name, self._content = file_of(number)
        self._random = random.Random(number)
        self.mistakes: list[str] = []

    def run(self) -> None:
        try:
            self._visit()
        except (AssertionError, OSError) as failure:
            self.mistakes.append(f"{self._user}: {failure!r}")

    def _visit(self) -> None:
        client, is_granted = Client(self._server.address), False
        self._check(client, f"new:{self._user}:{self._password}", "OK")
        for _ in range(self.STEPS):
            match self._random.randrange(7):
                case 0:
                    self._check(client, f"get:{self._user}:{self._password}", "OK")
                    is_granted = True
                case 1:
                    self._check(client, f"get:{self._user}:wrong", "denied")
                    is_granted = False
                case 2:
                    self._check(client, f"new:{self._user}:other", "exists")
                case 3:
                    client.close()
                    client, is_granted = Client(self._server.address), False
                case 4:
                    self._check(client, "nothing", "not-found" if is_granted else "denied")
                case _:
                    self._check(client, self._name, self._content if is_granted else "denied")
        client.close()

    def _check(self, client: Client, line: str, expected: str | bytes) -> None:
        reply = client.ask(line)
        if reply != expected:
            self.mistakes.append(f"{line}: {reply[:60]!r} instead of {expected[:60]!r}")


def file_of(number: int) -> tuple[str, bytes]:
    return f"sub{number % 5}/{number}", random.Random(number).randbytes(number * 3001)


class CrowdTest(SceneTest):
    VISITORS = 24

    def test_every_reply_is_the_right_one(self) -> None:
        for number in range(self.VISITORS):
            self.scene.write(*file_of(number))
        for model, flags in (
            ("thread", ()),
            ("process", ("--files", "disk", "--auth-connection", "per-request")),
        ):
            # All visitors come from one address, and each sends a wrong password.
            flags = (*flags, "--wrong-passwords", "0")
            with self.subTest(model):
                authserver = self.scene.authserver(
                    "--model",
                    model,
                    "--password-scheme",
                    "plain",
                    "--sqlite-path",
                    self.scene.folder / f"{model}.db",
                )
                fileserver = self.scene.fileserver(authserver, *flags)
                visitors = [Visitor(fileserver, number) for number in range(self.VISITORS)]
                for visitor in visitors:
                    visitor.start()
                for visitor in visitors:
                    visitor.join()
                self.assertEqual(
                    [mistake for visitor in visitors for mistake in visitor.mistakes], []
                )


class ThreadsTest(SceneTest):
    """Threads that end, and threads that cannot be made."""

    def test_threads_that_ended_do_not_pile_up_without_idle_threads(self) -> None:
        limit = 64
        self.scene.write("a", b"x")
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = ("--spare-threads", "0", "--files", "disk", "--max-connections", limit)
        fileserver = self.scene.fileserver(authserver, *flags)
        most, idle = 0, threads(fileserver.pid)
        mappings_before = mappings(fileserver.pid)
        asks = f"get --server {fileserver} --file a --user alice --password wonderland"
        with subprocess.Popen(
            [BUILD / "loadgen", *asks.split(), "--threads", "38", "--seconds", "2"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as crowd:
            while crowd.poll() is None:
                most = max(most, threads(fileserver.pid))
        self.assertGreater(most, idle)
        # The kernel counts a thread for a moment after it was joined, and there may be as many of
        # them as there were connections.
        self.assertLessEqual(most, 2 * limit + idle)
        # The stack of a thread that nobody joined is never unmapped.
        self.assertLess(mappings(fileserver.pid), mappings_before + 1000)

    @unittest.skipIf(SANITIZED, "a sanitizer needs more address space than the limit leaves")
    def test_a_client_for_whom_no_thread_can_be_made_is_told_so_at_once(self) -> None:
        server = self.scene.authserver("--spare-workers", "1", "--idle-timeout", "0")
        first = self.scene.client(server)
        self.assertEqual(first.ask("ping"), "OK")
        eventually(lambda: threads(server.pid) == 3, "one thread serves, one waits")
        unlimited = resource.prlimit(server.pid, resource.RLIMIT_AS)
        no_room_for_a_stack = address_space(server.pid) + (256 << 10)
        resource.prlimit(server.pid, resource.RLIMIT_AS, (no_room_for_a_stack, unlimited[1]))
        refused = [self.scene.client(server) for _ in range(3)]
        self.assertEqual([client.reply() for client in refused], ["busy"] * 3)
        self.assertEqual(first.ask("ping"), "OK")
        resource.prlimit(server.pid, resource.RLIMIT_AS, unlimited)
        others = [self.scene.client(server) for _ in range(3)]
        self.assertEqual([client.ask("ping") for client in others], ["OK"] * 3)
        self.assertEqual(server.log().count("cannot start a thread"), 1)


_MANY = 5000


@unittest.skipIf(SANITIZED, "a sanitizer keeps megabytes for each thread")
class ManyConnectionsTest(SceneTest):
    """More of them than the bits of select(), where a server of the year 2000 stopped."""

    def setUp(self) -> None:
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < _MANY + 200:
            self.skipTest(f"the limit of descriptors is {hard}")
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def test_all_are_served_at_once(self) -> None:
        self.scene.write("a", b"x" * 1000)
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = ("--max-connections", _MANY, "--idle-timeout", 0)
        fileserver = self.scene.fileserver(authserver, *flags)
        clients: list[Client] = []
        for number in range(1, _MANY + 1):
            clients.append(self.scene.client(fileserver))
            if number in (1023, 1024, 1025, _MANY):
                self.check(clients[-1], fileserver)
        for client in clients[:: _MANY // 100]:
            self.check(client, fileserver)

    def check(self, client: Client, fileserver: Program) -> None:
        try:
            reply = client.ask("get:alice:wonderland")
        except (AssertionError, OSError):
            reply = "nothing"
        if reply != "OK" and "cannot start a thread" in fileserver.log():
            self.skipTest("this host does not give so many threads")
        self.assertEqual(reply, "OK")
        self.assertEqual(client.ask("a"), b"x" * 1000)


def address_space(pid: int) -> int:
    """The size of the process's address space in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages * resource.getpagesize()
