"""--memory-limit: files that do not fit into it are served from disk."""

import os
import random
import re
import shutil
import threading
import time
import unittest

from client import Client, Reply, grant
from processes import file_memory_bytes, resident_bytes
from programs import SANITIZED
from scene import SceneTest, with_loops
from telemetry import FLAG, scrape
from waiting import eventually


@with_loops
class MemoryLimitTest(SceneTest):
    SIZE = 100_000
    COUNT = 10

    def setUp(self) -> None:
        super().setUp()
        generator = random.Random(4)
        self.contents = {
            b"sub/%d" % number: generator.randbytes(self.SIZE) for number in range(self.COUNT)
        }
        for name, content in self.contents.items():
            self.scene.write(name, content)
        self.authserver = self.scene.authserver_of_alice()

    def serve(self, limit: object, *flags: object) -> Client:
        self.fileserver = self.scene.fileserver(self.authserver, "--memory-limit", limit, *flags)
        client = self.scene.client(self.fileserver)
        grant(client)
        return client

    def assert_soon(self, client: Client, name: bytes, reply: Reply) -> None:
        eventually(lambda: client.ask(name) == reply, f"{name!r} is answered {reply[:40]!r}")

    def files_over_the_limit(self) -> list[int]:
        """The numbers of files in the lines of the log that name the limit."""
        lines = [line for line in self.fileserver.log().splitlines() if "memory-limit" in line]
        return [int(count) for line in lines for count in re.findall(r"files=(\d+)", line)]

    def test_files_over_it_are_served_and_the_log_says_how_many(self) -> None:
        for limit, over in (("0", self.COUNT), ("1", self.COUNT), ("250K", 8), ("450K", 6)):
            with self.subTest(limit):
                client = self.serve(limit)
                self.assertEqual(client.ask_all(list(self.contents)), list(self.contents.values()))
                self.assertEqual(self.files_over_the_limit(), [over])

    def test_the_log_says_nothing_when_there_is_room_for_all(self) -> None:
        client = self.serve("2M")
        self.assertEqual(client.ask_all(list(self.contents)), list(self.contents.values()))
        self.assertEqual(self.files_over_the_limit(), [])

    def test_many_empty_files_are_served_though_their_names_do_not_fit(self) -> None:
        shutil.rmtree(self.scene.root / "sub")
        names = [b"empty/%d" % number for number in range(500)]
        for name in names:
            self.scene.write(name, b"")
        client = self.serve("64K")
        self.assertEqual(client.ask_all(names), [b""] * len(names))
        (over,) = self.files_over_the_limit()
        self.assertGreater(over, 100)
        self.assertLess(over, len(names))

    def test_the_files_that_are_asked_for_most_have_the_memory(self) -> None:
        client = self.serve("450K", *FLAG)
        self.assertEqual(scrape(self.fileserver).value("turnstile_files_in_memory"), 4)
        wanted = [b"sub/%d" % number for number in (1, 4, 6, 9)]

        def from_memory() -> float:
            before = self.sends()
            for name in wanted:
                self.assertEqual(client.ask(name), self.contents[name])
            after = self.sends()
            return after["memory"] - before["memory"]

        eventually(lambda: from_memory() == 4, "all of them are sent from memory")
        self.assertEqual(scrape(self.fileserver).value("turnstile_files_in_memory"), 4)
        self.assertEqual(client.ask_all(list(self.contents)), list(self.contents.values()))

    def test_those_that_came_first_keep_the_memory_if_told(self) -> None:
        client = self.serve("450K", *FLAG, "--evict", "off")
        outside = next(name for name in self.contents if self.was_read_from_disk(client, name))
        for _ in range(50):
            client.ask(outside)
        time.sleep(1)  # four looks at what is asked for
        self.assertTrue(self.was_read_from_disk(client, outside))

    def was_read_from_disk(self, client: Client, name: bytes) -> bool:
        before = self.sends()["disk"]
        self.assertEqual(client.ask(name), self.contents[name])
        return self.sends()["disk"] > before

    def sends(self) -> dict[str, float]:
        samples = scrape(self.fileserver).samples["turnstile_file_sends_total"]
        return {source: samples.get((source,), 0) for source in ("memory", "disk")}

    @unittest.skipIf(SANITIZED, "a sanitizer keeps memory that was freed")
    def test_the_memory_of_the_process_stays_within_it_while_a_file_is_replaced(self) -> None:
        shutil.rmtree(self.scene.root / "sub")
        self.contents = {}
        size, limit = 60_000_000, 64 << 20
        path = self.scene.write("large", b"1" * size)
        os.utime(path, (1, 1))
        client = self.serve(limit, "--debuggable")
        fresh = self.scene.folder / "fresh"
        most = [0]
        is_over = threading.Event()
        watcher = threading.Thread(target=self.watch_memory, args=(most, is_over))
        watcher.start()
        try:
            for digit in (b"2", b"3"):
                fresh.write_bytes(digit * size)
                fresh.rename(path)
                eventually(lambda: client.ask("large")[:1] == digit, f"version {digit!r} is seen")
                eventually(lambda: file_memory_bytes(self.fileserver.pid) > size, "it is loaded")
        finally:
            is_over.set()
            watcher.join()
        self.assertGreater(most[0], size)
        self.assertLess(most[0], limit + (16 << 20))
        self.assertLess(resident_bytes(self.fileserver.pid, "VmHWM"), limit + (32 << 20))

    def watch_memory(self, most: list[int], is_over: threading.Event) -> None:
        while not is_over.wait(0.001):
            most[0] = max(most[0], file_memory_bytes(self.fileserver.pid))

    def test_a_file_over_it_is_followed_when_it_changes_grows_or_goes(self) -> None:
        client = self.serve("250K")
        for name in self.contents:
            self.scene.write(name, b"changed")
            self.assert_soon(client, name, b"changed")
        for name, content in self.contents.items():
            self.scene.write(name, content + b"grown")
            self.assert_soon(client, name, content + b"grown")
        for name in self.contents:
            (self.scene.root / name.decode()).unlink()
            self.assert_soon(client, name, "not-found")

    def test_files_that_come_when_it_is_full_are_served(self) -> None:
        client = self.serve("1M")
        for number in range(20):
            content = b"%d" % number * self.SIZE
            self.scene.write(f"late/{number}", content)
            self.assert_soon(client, b"late/%d" % number, content)
