"""docs/scaling.md: haproxy spreads names over several fileservers."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPSConnection, RemoteDisconnected
from pathlib import Path

import telemetry
from http_client import HttpClient, basic
from prefetch_scene import SOON_S
from processes import connections_with_unread_bytes
from scaling_scene import HOSTS, NAMES, USER, SpreadTest, moved, of
from waiting import eventually

SIZE = 65_536


def cached_bytes(paths: Iterable[Path]) -> list[int]:
    """What the page cache of the system holds of each file, all at about the same time."""
    command = ["fincore", "--bytes", "--noheadings", "--output", "RES", *map(str, paths)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [int(line) for line in told.splitlines()]


def status(connection: HTTPSConnection, method: str, target: str, body: bytes = b"") -> int:
    """Of the answer, all of which is read."""
    connection.request(method, target, body, {"Authorization": basic(*USER)})
    answer = connection.getresponse()
    answer.read()
    return answer.status


class NamesTest(SpreadTest):
    """What is served says which host it is from."""

    def setUp(self) -> None:
        super().setUp()
        self.write_signed()
        self.start_hosts("--files", "disk")

    def test_every_name_has_one_host(self) -> None:
        first = self.places()
        self.assertEqual(set(first.values()), set(HOSTS))
        for count in Counter(first.values()).values():
            self.assertGreater(count, len(NAMES) / 5)
        self.assertEqual(self.places(), first)
        self.assertEqual(self.ask("file7?query")[1].decode(), first["file7"])

    def test_only_the_names_of_a_lost_host_move_and_they_come_back(self) -> None:
        before = self.places()
        self.hosts["two"].server.kill()
        # No answer is lost, although the checks have not seen it yet.
        during = self.places()
        self.assertEqual(moved(before, during), of("two", before))
        eventually(lambda: self.is_seen("DOWN"), "haproxy sees that it is gone")
        after = self.places()
        self.assertEqual(moved(before, after), of("two", before))
        self.assertEqual(of("two", after), set())
        two = self.hosts["two"]
        two.server = self.start_host(two.port, two.root, "--files", "disk")
        eventually(lambda: self.is_seen("UP"), "haproxy sees that it is back")
        self.assertEqual(self.places(), before)

    def test_only_a_get_goes_to_another_host_if_its_own_dies_before_it_answers(self) -> None:
        before = self.places()
        get, put, *_ = sorted(of("two", before))
        with ExitStack() as open_ones, ThreadPoolExecutor(2) as pool:
            while not (waiting := self.asked_of_paused(get, put, pool, open_ones)):
                self.hosts["two"].server.resume()
                eventually(lambda: self.places() == before, "haproxy sees that it is back")
            got, done = waiting
            self.hosts["two"].server.kill()
            self.assertEqual(got.result(), 200)
            with self.assertRaises(RemoteDisconnected):  # another host would have said 405
                done.result()

    def asked_of_paused(
        self, get: str, put: str, pool: Executor, open_ones: ExitStack
    ) -> list[Future[int]]:
        """A GET and a PUT that have come to the host, which stands still. None on a busy machine:
        haproxy's checks were quicker, and it has asked another host."""
        two, size = self.hosts["two"], 4000  # more than the checks send, which wait there too
        # A handshake with a host that stands still would fail, and nothing were sent to it.
        reader, writer = (self.connected_to(get, open_ones) for _ in range(2))
        two.server.pause()
        asked = [
            pool.submit(status, reader, "GET", f"/{get}?{'x' * size}"),
            pool.submit(status, writer, "PUT", f"/{put}", b"x" * size),
        ]

        def are_sent() -> bool:
            return connections_with_unread_bytes(two.port, size) >= 2

        eventually(lambda: are_sent() or any(one.done() for one in asked), "both are sent")
        return [] if any(one.done() for one in asked) else asked

    def connected_to(self, name: str, until: ExitStack) -> HTTPSConnection:
        """A connection for which haproxy has one to the host of the name."""
        connection = self.connected()
        until.callback(connection.close)
        self.assertEqual(status(connection, "GET", f"/{name}"), 200)
        return connection

    def test_an_impostor_gets_no_request(self) -> None:
        """It has the address, and a certificate for it that another authority has issued."""
        before = self.places()
        two = self.hosts["two"]
        two.server.kill()
        two.server = self.start_host(two.port, two.root, "--files", "disk", authority="stranger")
        after = self.places()
        self.assertEqual(of("two", after), set())
        self.assertEqual(moved(before, after), of("two", before))

    def test_a_line_that_is_taken_out_moves_only_its_names(self) -> None:
        before = self.places()
        self.start_haproxy(without="one")
        self.assertEqual(moved(before, self.places()), of("one", before))

    def test_another_haproxy_with_the_same_file_agrees(self) -> None:
        first = self.places()
        self.start_haproxy()
        self.assertEqual(self.places(), first)

    def test_without_an_authserver_nothing_is_served(self) -> None:
        self.authserver.kill()
        self.assertEqual(self.ask("file1")[0], 503)

    def test_a_wrong_password_counts_for_the_client(self) -> None:
        self.assertEqual(self.ask("file1", "wrong", X_Forwarded_For="203.0.113.9")[0], 401)
        logs = "".join(host.server.log() for host in self.hosts.values())
        self.assertIn('auth-failed address=127.0.0.1 user="alice" front=http', logs)

    def is_seen(self, state: str) -> bool:
        return f"fileservers/two is {state}" in (self.folder / "log").read_text()


class MemoryTest(SpreadTest):
    needs = (*SpreadTest.needs, "fincore", "rsync")

    def start_copies(self, *flags: object) -> None:
        for name in NAMES:
            self.scene.write(name, os.urandom(SIZE))
        for host in HOSTS:
            command = ["rsync", "-a", f"{self.scene.root}/", str(self.folder_of(host))]
            subprocess.run(command, check=True)
        self.start_hosts(*flags)

    def test_the_page_caches_of_the_hosts_hold_different_files(self) -> None:
        self.start_copies("--files", "disk")
        self.empty_page_cache()
        # The system may need some of that memory for others.
        eventually(self.all_are_held, "each file is in the memory of one host")
        self.assertEqual(set().union(*self.holders().values()), set(HOSTS))

    def all_are_held(self) -> bool:
        """Asks for all files. Whether each is in memory now; it must not be on two hosts."""
        for name, answer in self.get_all().items():
            self.assertEqual(answer, (200, (self.scene.root / name).read_bytes()))
        held = Counter(len(hosts) for hosts in self.holders().values())
        self.assertLessEqual(set(held), {0, 1})
        return held[0] == 0

    def empty_page_cache(self) -> None:
        for host in self.hosts.values():
            for name in NAMES:
                with (host.root / name).open("rb+") as file:
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached_bytes([self.hosts["one"].root / NAMES[0]]) != [0]:
            self.skipTest(f"the files of {self.scene.folder} stay in memory")

    def holders(self) -> dict[str, set[str]]:
        """The hosts that have something of a file in memory, of each name."""
        of_each: dict[str, set[str]] = {name: set() for name in NAMES}
        places = [(name, host) for host in HOSTS for name in NAMES]
        held = cached_bytes(self.hosts[host].root / name for name, host in places)
        for (name, host), count in zip(places, held, strict=True):
            if count:
                of_each[name].add(host)
        return of_each

    def test_prefetch_holds_as_many_files_on_each_but_not_those_that_it_is_asked_for(self) -> None:
        limit = len(NAMES) * (SIZE + 480) // 3
        self.start_copies("--memory-limit", limit)
        held = [self.metric(host, "turnstile_files_in_memory") for host in HOSTS]
        for count in held:
            self.assertAlmostEqual(count, len(NAMES) / 3, delta=10)
        self.assertEqual({status for status, _ in self.get_all().values()}, {200})
        from_memory = sum(
            self.metric(host, "turnstile_file_sends_total", "memory") for host in HOSTS
        )
        self.assertLess(from_memory, len(NAMES) / 2)

    def metric(self, host: str, *name: str) -> float:
        return telemetry.scrape(self.hosts[host].server).value(*name)


class ChangesTest(SpreadTest):
    """PUT and DELETE through haproxy."""

    def put(self, name: str, body: bytes) -> None:
        self.assertEqual(self.ask(name, method="PUT", body=body)[0], 201)

    def host_of(self, name: str) -> str:
        """Whose folder has the file."""
        (host,) = (host for host in HOSTS if (self.folder_of(host) / name).exists())
        return host

    def ask_each(self, path: str, *fields: str) -> list[bytes]:
        """What each host answers that runs, asked by itself."""
        found = []
        for host in self.hosts.values():
            client = self.scene.keep(HttpClient(host.server, *USER))
            found.append(client.ask(path, *fields).body)
        return found

    def listings(self) -> list[set[str]]:
        """As each host gives it."""
        said = self.ask_each("/", "Accept: application/json")
        return [{entry["name"] for entry in json.loads(one)} for one in said]

    def test_in_folders_of_their_own_an_upload_is_on_one_host_only(self) -> None:
        self.start_hosts("--uploads", "folder")
        for name in NAMES[:9]:
            self.put(name, name.encode())
            self.assertEqual(self.ask(name), (200, name.encode()))
        self.assertLess(max(map(len, self.listings())), 9)
        host = self.host_of("file1")
        self.hosts[host].server.kill()
        eventually(lambda: self.ask("file1")[0] == 404, "it is gone with its host")

    def test_in_a_shared_folder_an_upload_is_seen_by_all(self) -> None:
        self.start_hosts("--uploads", "folder", shared=True)
        for name in NAMES[:9]:
            self.put(name, b"first")
            status, _ = self.ask(name, method="PUT", body=name.encode())
            self.assertEqual((status, self.ask(name)), (204, (200, name.encode())))
        names = set(NAMES[:9])
        self.assertEqual(self.listings(), [names] * 3)
        last = NAMES[8]
        eventually(
            lambda: self.ask_each(f"/{last}") == [last.encode()] * 3, "all see it", within_s=SOON_S
        )
        self.hosts["two"].server.kill()
        for name in names:
            self.assertEqual(self.ask(name), (200, name.encode()))
        self.assertEqual(self.ask("file1", method="DELETE")[0], 204)
        self.assertEqual(self.ask("file1")[0], 404)


del SpreadTest  # Without this, unittest would run the base class too.
