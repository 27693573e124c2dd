"""A server that runs out of file descriptors neither ends nor spins, and recovers later."""

import resource
import time
import unittest

import servers
from client import Client, grant
from http_client import FLAG as HTTP
from http_client import HttpClient
from processes import cpu_s, thread_states
from programs import BUILD, Program
from scene import SceneTest, for_each
from waiting import eventually

# Each of 32 idle threads in accept holds the number of a descriptor; a server needs 16 more.
LIMIT = 48
THREAD_KINDS = [kind for kind in servers.KINDS if kind not in servers.PROCESS_KINDS]
# The sanitizer of undefined behaviour checks with a pipe whether memory can be read. Without a
# descriptor for the pipe it reports an object that is intact.
SANITIZER_NEEDS_DESCRIPTORS = "the sanitizer of undefined behaviour needs descriptors itself"


def with_few_descriptors(limit: int) -> list[str]:
    """A command prefix that lowers the hard limit too, because a server raises the soft one."""
    return ["sh", "-c", f'ulimit -n {limit} && exec "$0" "$@"']


def take_descriptors(server: Program) -> None:
    """From now on the server has few. It does not know that, so it keeps none for itself.

    It has looked at its limit before it answers its first client.
    """
    client = Client(server.address)
    client.ask("ping")
    client.close()
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


@unittest.skipIf(BUILD.name == "address", SANITIZER_NEEDS_DESCRIPTORS)
class KeptDescriptorsTest(SceneTest):
    """Connections leave 16 descriptors to the server, for the authserver and for files.

    A thread of the authserver has a few of its own, for the store, so 16 are not enough there.
    """

    _CROWD = 150

    @for_each([kind for kind in servers.KINDS if "authserver with threads" not in kind])
    def test_who_is_let_in_is_served_and_the_others_are_busy(self, kind: str) -> None:
        server = servers.start(self.scene, kind, prefix=with_few_descriptors(80))
        crowd = [self.scene.client(server) for _ in range(self._CROWD)]
        replies = [client.ask("ping") for client in crowd]
        self.assertEqual(set(replies) - {"OK", "busy"}, set())
        has_own = kind in servers.PROCESS_KINDS  # descriptors, each process
        self.assertEqual("busy" in replies, not has_own)
        self.assertGreaterEqual(replies.count("OK"), self._CROWD if has_own else 20)
        self.assertEqual(server.log().count("few descriptors are left"), 0 if has_own else 1)
        served = [client for client, reply in zip(crowd, replies, strict=True) if reply == "OK"]
        self.assertEqual({client.ask("ping") for client in served}, {"OK"})
        for client in crowd:
            client.close()
        eventually(lambda: self.is_served(server), "there is room again")

    @for_each(["fileserver", "fileserver without idle threads", "fileserver with loops"])
    def test_by_http_the_others_are_told_so_too(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *HTTP, prefix=with_few_descriptors(80))
        crowd = [self.scene.keep(HttpClient(server)) for _ in range(self._CROWD)]
        statuses = [client.ask("/-/live").status for client in crowd]
        self.assertEqual(set(statuses), {200, 503})
        self.assertGreaterEqual(statuses.count(200), 20)

    def is_served(self, server: Program) -> bool:
        client = Client(server.address)
        client.send("ping\n")
        reply = client.reply()
        client.close()
        return reply == "OK"


@unittest.skipIf(BUILD.name == "address", SANITIZER_NEEDS_DESCRIPTORS)
class OutOfDescriptorsTest(SceneTest):
    def crowd(self, server: Program) -> list[Client]:
        return [self.scene.client(server) for _ in range(LIMIT + 20)]

    def is_served(self, server: Program) -> bool:
        """Whether a new connection is answered OK.

        While descriptors are short, the fileserver may be unable to connect to the authserver.
        """
        client = Client(server.address)
        reply = client.ask("ping")
        client.close()
        self.assertIn(reply, ("OK", "unavailable"))
        return reply == "OK"

    @for_each(THREAD_KINDS)
    def test_it_waits_without_spinning_and_serves_again(self, kind: str) -> None:
        server = servers.start(self.scene, kind)
        take_descriptors(server)
        self.assertTrue(self.is_served(server))
        crowd = self.crowd(server)
        eventually(lambda: "cannot accept" in server.log(), "the log says so")
        cpu_before, time_before = cpu_s(server.pid), time.monotonic()
        time.sleep(1)
        share = (cpu_s(server.pid) - cpu_before) / (time.monotonic() - time_before)
        self.assertLess(share, 0.5)
        # On a loaded machine, one that spins may get less than that, but it never sleeps.
        eventually(lambda: thread_states(server.pid) == {"S"}, "all of its threads sleep")
        self.assertLess(server.log().count("cannot accept"), 5)
        for client in crowd:
            client.close()
        eventually(lambda: self.is_served(server), "it serves again")

    @for_each(THREAD_KINDS)
    def test_a_connection_that_came_meanwhile_is_served_in_the_end(self, kind: str) -> None:
        server = servers.start(self.scene, kind)
        take_descriptors(server)
        crowd = self.crowd(server)
        eventually(lambda: "cannot accept" in server.log(), "the log says so")
        late = self.scene.client(server)
        late.send("ping\n")
        for client in crowd:
            client.close()
        self.assertIn(late.reply(), ("OK", "unavailable"))
        eventually(lambda: late.ask("ping") == "OK", "the one that waited is served")

    @for_each(THREAD_KINDS)
    def test_it_stops_when_told_to(self, kind: str) -> None:
        server = servers.start(self.scene, kind)
        take_descriptors(server)
        self.crowd(server)
        eventually(lambda: "cannot accept" in server.log(), "the log says so")
        self.assertEqual(server.stop(), 0)


@unittest.skipIf(BUILD.name == "address", SANITIZER_NEEDS_DESCRIPTORS)
class NoDescriptorForAFileTest(SceneTest):
    def serve(self, *flags: object) -> None:
        """A fileserver with no descriptor left, and a client that has logged in."""
        self.scene.write("a.txt", b"content")
        authserver = self.scene.authserver_of_alice()
        server = self.scene.fileserver(authserver, *flags)
        take_descriptors(server)
        self.fileserver, self.client = server, self.scene.client(server)
        grant(self.client)
        self.crowd = [self.scene.client(server) for _ in range(LIMIT + 20)]
        eventually(lambda: "cannot accept" in server.log(), "the log says so")

    def free_descriptors(self) -> None:
        for other in self.crowd:
            other.close()

    def test_a_file_that_cannot_be_opened_is_internal_and_not_not_found(self) -> None:
        self.serve("--files", "disk")
        self.assertEqual(self.client.ask("a.txt"), "internal")
        self.assertTrue(self.client.is_ended())
        self.free_descriptors()
        eventually(lambda: self.fetch() == b"content", "the file is served again")

    def fetch(self) -> bytes | str:
        client = Client(self.fileserver.address)
        granted = client.ask("get:alice:wonderland")
        reply = client.ask("a.txt") if granted == "OK" else granted
        client.close()
        return reply

    def test_an_authserver_that_cannot_be_connected_to_is_unavailable(self) -> None:
        self.serve("--auth-connection", "per-request")
        log_in = "get:alice:wonderland"
        self.assertEqual(self.client.ask(log_in), "unavailable")
        self.free_descriptors()
        eventually(lambda: self.client.ask(log_in) == "OK", "the authserver is asked again")
