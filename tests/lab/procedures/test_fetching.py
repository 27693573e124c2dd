"""Attempts to fetch a file for real, from a real fileserver: what counts as one that succeeded."""

import os
import secrets
import sys
import time
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples
from needs import missing
from real_lab import BUILD, why_no_run

from lab.kinds.client import fetching
from lab.kinds.client.fetching import Fetching
from lab.kinds.client.load import FetchLoad
from lab.observe.log_formats import Served
from lab.plan.catalog import Cell, Stage
from lab.plan.pinning import choose
from lab.procedures.server_log import ServerLog
from lab.systems import known as systems
from lab.systems.clients import known
from lab.systems.clients.client import Client, Wanted
from lab.systems.system import Running, Site
from lab.workloads.outcome import Result
from rig import private_folder, process_tree
from rig.cores import usable_cores
from rig.errors import Failed
from rig.place import Place
from rig.servers import Programs
from rig.transfer_log import NETLOGGER, TURNSTILE, XFERLOG, TransferLog

NAME, SIZE_BYTES = "a.bin", 3_000_000
STAGE = Stage(
    name="fetched", title="", store="sqlite", cold=False, authserver=(), fileserver=(), loadgen=()
)


SERVED = Served(
    start_s=0.0,
    end_s=0.0,
    bytes=SIZE_BYTES,
    peer_address="",
    name=NAME,
    is_whole=True,
    resolution_s=0.0,
)


class MadeUp(Client):
    """A Python program; its argument is the file that it should leave."""

    package = "made-up"

    def __init__(self, script: str, *, leaves_a_file: bool) -> None:
        self.script, self.leaves_a_file = script, leaves_a_file

    def saved(self, wanted: Wanted) -> list[Path]:
        return [wanted.folder / wanted.name] if self.leaves_a_file else []

    def command(self, wanted: Wanted) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", self.script, str(wanted.folder / wanted.name)]


@unittest.skipIf(why_no_run(), why_no_run())
class FetchingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)
        self.root = self.folder / "files"
        self.root.mkdir()
        (self.root / NAME).write_bytes(secrets.token_bytes(SIZE_BYTES))
        self.memory = self.folder / "memory"
        self.memory.mkdir()
        in_memory = mock.patch.object(private_folder, "_IN_MEMORY", str(self.memory))
        in_memory.start()
        self.addCleanup(in_memory.stop)

    def lose_no_time(self) -> None:
        """For clients of whom nothing is in the log."""
        patience = mock.patch("lab.procedures.server_log._PATIENCE_S", 0.0)
        patience.start()
        self.addCleanup(patience.stop)

    def fetch(self, client: Client, channels: int = 1, **changes: object) -> Result:
        """With servers of its own. Nothing is left of it."""
        programs, site = Programs(BUILD), Site(root=self.root, logs=self.folder / "logs")
        pinning = choose("none", usable_cores())
        system = systems.of(STAGE)
        with (
            system.prepared(STAGE, programs, self.folder, usable_cores()) as ready,
            ready.running(Cell("fetched", "3MB", workload="client"), pinning, site) as servers,
        ):
            self.load = self.loaded(servers, channels, **changes)
            before = process_tree.tree(os.getpid())
            attempt = Fetching(client, self.load, site, servers.transfer_log, ())
            self.command = attempt.command_line()
            try:
                found = attempt.finish()
            finally:
                attempt.stop()
            self.assertEqual(process_tree.tree(os.getpid()), before)
        self.assertEqual(list(self.memory.iterdir()), [])
        return found

    def loaded(self, servers: Running, channels: int, **changes: object) -> FetchLoad:
        usual = {"user": servers.user, "password": servers.password}
        return FetchLoad(
            threads=channels,
            server=str(servers.address),
            protocol="http",
            name=NAME,
            size_bytes=SIZE_BYTES,
            **{**usual, **changes},  # type: ignore[arg-type]
        )

    def require_failure(self, result: Result, why: str) -> None:
        self.assertEqual(result.requests, 0)
        self.assertRegex("; ".join(self.load.failures(result)), why)
        self.assertEqual(self.load.figures(result)["succeeded"], 0.0)

    def curl(self) -> Client:
        if reason := missing("curl"):
            self.skipTest(reason)
        return known.of("curl", self.folder, Programs(BUILD))

    def test_curl_fetches_it_on_one_connection_and_in_ranges_on_three(self) -> None:
        for channels in (1, 3):
            result = self.fetch(self.curl(), channels)
            self.assertEqual(self.load.failures(result), [])
            self.assertEqual((result.requests, result.bytes), (1, SIZE_BYTES))
            parts = [one["parts"] for one in result.raw["served"]]
            self.assertEqual(len(parts), channels)
            self.assertEqual(any(parts), channels > 1)
            figures = self.load.figures(result)
            self.assertEqual((figures["channels"], figures["succeeded"]), (channels, 1.0))
            for one in result.raw["served"]:
                self.assertGreaterEqual(one["start_s"], result.start_s - 0.001)
                self.assertLessEqual(one["end_s"], result.end_s + 0.001)

    def test_a_client_that_is_refused_has_failed(self) -> None:
        self.require_failure(
            self.fetch(self.curl(), password="wrong"),
            "^the fetch failed: curl ended with status 22: curl: .*401",
        )

    def test_a_client_that_says_it_succeeded_is_not_believed(self) -> None:
        self.lose_no_time()
        self.require_failure(
            self.fetch(MadeUp("", leaves_a_file=False)), "what the server sent is not the file"
        )
        self.require_failure(
            self.fetch(MadeUp("", leaves_a_file=True)), "what was saved is not the file"
        )

    def test_what_is_saved_is_compared_with_the_file(self) -> None:
        self.lose_no_time()
        copy = f"import shutil, sys; shutil.copy({str(self.root / NAME)!r}, sys.argv[1])"
        copied = self.fetch(MadeUp(copy, leaves_a_file=True))
        self.assertEqual(self.load.failures(copied), [])
        for change in ("file.seek(1_500_000); file.write(b'no')", "file.truncate(2_999_999)"):
            changed = f"{copy}\nwith open(sys.argv[1], 'r+b') as file: {change}"
            self.require_failure(
                self.fetch(MadeUp(changed, leaves_a_file=True)), "what was saved is not the file"
            )
        longer = f"{copy}\nwith open(sys.argv[1], 'ab') as file: file.write(b'x')"
        self.require_failure(
            self.fetch(MadeUp(longer, leaves_a_file=True)), "what was saved is not the file"
        )

    def test_a_client_that_takes_too_long_is_ended_and_has_failed(self) -> None:
        endless = MadeUp("import time; time.sleep(3600)", leaves_a_file=True)
        with mock.patch.object(FetchLoad, "timeout_s", 0.2):
            self.require_failure(self.fetch(endless), "made-up did not end within 0 s")

    def killed_once(self, script: str) -> dict[str, float | None]:
        """The figures of a client that is killed when it has left something, and started again."""
        self.lose_no_time()

        def something_is_there(*_: object) -> float:
            while not any(path.stat().st_size for path in self.memory.glob(f"*/{NAME}")):
                time.sleep(0.01)
            return 0.0

        with mock.patch.object(fetching.random, "uniform", side_effect=something_is_there):
            result = self.fetch(MadeUp(script, leaves_a_file=True), kills=1)
        self.assertEqual(self.load.failures(result), [])
        return self.load.figures(result)

    def test_what_a_killed_client_leaves_is_a_beginning_of_the_file_or_not(self) -> None:
        for place, share in ((0, 1.0), (1000, 0.0)):
            script = f"""
import os, shutil, sys, time
whole, part = {str(self.root / NAME)!r}, sys.argv[1]
if not os.path.exists(part):
    while time.process_time() < 0.3: pass
    with open(whole, 'rb') as source, open(part + '.new', 'wb') as target:
        target.seek({place})
        source.seek({place})
        target.write(source.read(1000))
    os.rename(part + '.new', part)
    time.sleep(3600)
shutil.copy(whole, part)
"""
            figures = self.killed_once(script)
            self.assertEqual((figures["kills"], figures["true_prefixes"]), (1, share))
            self.assertGreaterEqual(figures["cpu_s_per_gb"] or 0, 0.3 / (SIZE_BYTES / 1e9))

    def test_what_a_killed_client_had_and_asks_for_again_is_counted(self) -> None:
        script = f"""
import os, shutil, sys, time
if os.path.exists(sys.argv[1]):
    shutil.copy({str(self.root / NAME)!r}, sys.argv[1])
else:
    with open(sys.argv[1], 'wb') as part:
        part.write(bytes(600_000))
    time.sleep(3600)
"""

        def whole_file(*_: object) -> list[Served]:
            return [replace(SERVED, start_s=time.time())]

        with mock.patch.object(ServerLog, "of_file", side_effect=whole_file):
            self.assertEqual(self.killed_once(script)["fetched_again"], 0.2)

    def test_its_cpu_time_is_that_of_the_process(self) -> None:
        self.lose_no_time()
        copy = f"import shutil, sys; shutil.copy({str(self.root / NAME)!r}, sys.argv[1])"
        works = f"import time\nwhile time.process_time() < 0.3: pass\n{copy}"
        figures = self.load_figures(self.fetch(MadeUp(works, leaves_a_file=True)))
        self.assertGreaterEqual(figures["cpu_s_per_gb"] or 0, 0.3 / (SIZE_BYTES / 1e9))

    def load_figures(self, result: Result) -> dict[str, float | None]:
        self.assertEqual(self.load.failures(result), [])
        return self.load.figures(result)

    def test_where_no_connection_can_be_stuck_the_lab_has_failed(self) -> None:
        endless = MadeUp("import time; time.sleep(3600)", leaves_a_file=True)
        with self.assertRaisesRegex(Failed, "no connection can be stuck there"):
            self.fetch(endless, stuck_s=1.0)

    def test_a_connection_is_stuck_when_it_is_time_if_the_client_still_runs(self) -> None:
        self.lose_no_time()
        is_stuck = self.folder / "is-stuck"
        waits = f"import os, time\nwhile not os.path.exists({str(is_stuck)!r}): time.sleep(0.01)"
        for script, after_s, count in ((waits, 0.1, 1), ("", 3600.0, 0)):
            with mock.patch.object(Place, "stall", side_effect=lambda _: is_stuck.touch()) as stall:
                self.fetch(MadeUp(script, leaves_a_file=True), stuck_s=2.0, stuck_after_s=after_s)
            self.assertEqual(stall.call_args_list, [mock.call(2.0)] * count)

    def test_where_there_is_no_room_the_lab_has_failed_and_not_the_client(self) -> None:
        no_room = mock.Mock(f_bavail=0, f_frsize=4096)
        with (
            mock.patch("os.statvfs", return_value=no_room),
            self.assertRaisesRegex(Failed, "no room for 4 MB"),
        ):
            self.fetch(MadeUp("", leaves_a_file=True))

    def test_a_client_that_throws_away_saves_the_file_where_that_is_asked_for(self) -> None:
        result = self.fetch(self.curl(), is_saved=True)
        self.assertEqual(self.load.failures(result), [])
        self.assertIn("part0", self.command)

    def test_one_that_cannot_be_started_leaves_nothing(self) -> None:
        class Broken(MadeUp):
            def command(self, wanted: Wanted) -> list[str]:
                raise RuntimeError("no command")

        with self.assertRaisesRegex(RuntimeError, "no command"):
            self.fetch(Broken("", leaves_a_file=True))
        self.assertEqual(list(self.memory.iterdir()), [])


class ToldTest(unittest.TestCase):
    def test_only_our_log_has_ranges_but_one_transfer_is_told_by_any(self) -> None:
        many, one = MadeUp("", leaves_a_file=False), mock.Mock(is_one_transfer=True)
        for form, client, channels, is_told in (
            (TURNSTILE, many, 4, True),
            (XFERLOG, many, 1, True),
            (XFERLOG, many, 4, False),
            (NETLOGGER, many, 4, False),
            (NETLOGGER, one, 4, True),
        ):
            found = fetching.tells_the_whole(TransferLog(Path("log"), form), client, channels)
            self.assertEqual(found, is_told, (form, channels))
