"""One load from many hosts, for real: loadgens in namespaces and by ssh, against our servers."""

import csv
import json
import os
import socket
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import examples
import networks
from real_lab import BUILD, why_no_run
from ssh_host import SshHost, why_no_ssh_host

from lab.kinds.ramp import gathered
from lab.kinds.ramp.gathered import Gathered
from rig import hosts, nodes, process_tree, servers, stores
from rig.cores import Cores
from rig.errors import Failed
from rig.nodes import Group, Nodes
from rig.place import Place
from rig.processes import Program
from rig.servers import Pair, Programs, Server
from rig.testers import Testers

_LONG_S = 120.0
_SIZE = 1000
_WHY_NOT: list[str] = []


# Runs a loadgen as on a host whose clock is ahead by the first argument.
_AHEAD = """
import json, subprocess, sys
ahead, command = float(sys.argv[1]), sys.argv[2:]
at = command.index("--start-at") + 1
command[at] = str(float(command[at]) - ahead)
status = subprocess.call(["setpriv", "--pdeathsig", "KILL", *command])
result, transfers = (command[command.index(flag) + 1] for flag in ("--json", "--transfers"))
with open(result) as file:
    raw = json.load(file)
raw["started_unix_s"] += ahead
with open(result, "w") as file:
    json.dump(raw, file)
with open(transfers) as file:
    lines = [line.split(",") for line in file]
for words in lines[1:]:
    words[4] = str(float(words[4]) + ahead)
with open(transfers, "w") as file:
    file.writelines(",".join(words) for words in lines)
sys.exit(status)
"""
_CLOCK = "import sys, time\nfor _ in sys.stdin: print(time.time() + {}, flush=True)"


@dataclass(frozen=True, kw_only=True)
class _Ahead(Place):
    by_s: float

    def start(
        self,
        name: str,
        command: list[str],
        log_path: Path,
        *,
        cores: Cores = (),
        secrets: dict[str, str] | None = None,
    ) -> Program:
        moved = [sys.executable, "-c", _AHEAD, str(self.by_s), *command]
        return super().start(name, moved, log_path, cores=cores, secrets=secrets)

    def clock_command(self) -> list[str]:
        return [sys.executable, "-c", _CLOCK.format(self.by_s)]


def _local(*names: str) -> Nodes:
    """Places on this machine, without links."""
    places = tuple(Place(name=name) for name in names)
    return Nodes(places=places, name="", title="", host="127.0.0.1", interface="lo")


def setUpModule() -> None:
    _WHY_NOT.append(why_no_run() or networks.why_not_in_own())


class TestersTest(unittest.TestCase):
    def setUp(self) -> None:
        if _WHY_NOT[0]:
            self.skipTest(_WHY_NOT[0])
        self.folder = examples.folder(self)

    @contextmanager
    def served(self, host: str) -> Iterator[Pair]:
        root = self.folder / "root"
        root.mkdir()
        (root / "a").write_bytes(bytes(_SIZE))
        store = stores.start("sqlite", self.folder / "store", ())
        try:
            with servers.running(
                Programs(BUILD),
                store_flags=store.authserver_flags,
                root=root,
                logs=self.folder / "logs",
                host=host,
                fileserver=Server(("--transfer-log", str(self.folder / "transfers.json"))),
            ) as pair:
                servers.make_account(pair.address, "amy", "secret")
                yield pair
        finally:
            store.stop()

    @contextmanager
    def started(self, made: Nodes, pair: Pair, *flags: str) -> Iterator[Testers]:
        """flags are those of the whole load."""
        command = ["get", "--server", str(pair.address), "--user", "amy", "--file", "a", *flags]
        testers = Testers(
            made, BUILD / "loadgen", command, self.folder / "testers", password="secret"
        )
        try:
            yield testers
        finally:
            testers.stop()

    @contextmanager
    def loaded(self, *flags: str, count: int) -> Iterator[Testers]:
        """From so many nodes."""
        with (
            nodes.laid([Group(name="a", count=count)], "", self.folder) as made,
            self.served(made.host) as pair,
            self.started(made, pair, *flags) as testers,
        ):
            yield testers

    def ended(self, testers: Testers) -> Gathered:
        _, output = testers.wait_for_output(_LONG_S)
        return gathered.of(testers, json.loads(output))

    def served_files(self) -> int:
        """By the server's own log. Requires: it has stopped."""
        return (self.folder / "transfers.json").read_text().count("\n")

    def test_130_testers_begin_together_and_every_request_is_counted(self) -> None:
        groups = (Group(name="far", count=100, link="10mbit"), Group(name="near", count=30))
        with nodes.laid(groups, "360mbit", self.folder) as made:
            flags = ("--threads", "260", "--requests", "3")
            with self.served(made.host) as pair, self.started(made, pair, *flags) as testers:
                self.assertEqual(len(testers.process_ids()), 130)
                found = self.ended(testers)
                self.assertFalse(testers.is_running())
            self.assertEqual(self.served_files(), 780)
        self.assertEqual((found.lost, found.testers, found.clocks), ([], 130, []))
        self.assertEqual((found.raw["merged_from"], found.raw["threads"]), (130, 260))
        self.assertEqual((found.raw["requests"], found.raw["bytes"]), (780, 780 * _SIZE))
        self.assertEqual(sum(second.ended for second in found.seconds), 780)
        self.assertEqual(sum(second.bytes for second in found.seconds), 780 * _SIZE)
        self.assertEqual([second.t for second in found.seconds][:1], [1])
        self.assertEqual(len(found.transfers), 780)
        self.assertEqual(sum(one.group == "far" for one in found.transfers), 600)
        self.assertEqual(len({one.tester for one in found.transfers}), 130)
        self.assertTrue(all(one.asked_s >= 0 for one in found.transfers))
        self.assertEqual(len(found.start_late_ms), 130)
        self.assertEqual([name for _, name in socket.if_nameindex()], ["lo"])
        self.assertEqual(process_tree.tree(os.getpid()), [os.getpid()])

    def test_a_killed_third_is_told_and_the_result_is_of_those_left(self) -> None:
        flags = ("--threads", "9", "--seconds", "3", "--think", "fixed:0.05")
        with self.loaded(*flags, count=9) as testers:
            self.wait_for_series(testers)
            killed = testers.kill(1 / 3, seed=7)
            found = self.ended(testers)
        self.assertEqual(len(killed), 3)
        self.assertEqual({one.tester for one in found.lost}, set(killed))
        self.assertEqual({one.why for one in found.lost}, {"killed by signal 9"})
        self.assertEqual({one.group for one in found.lost}, {"a"})
        self.assertTrue(all(0.9 < (one.last_heard_s or 0) < 3.5 for one in found.lost), found.lost)
        self.assertEqual((found.testers, found.raw["merged_from"]), (9, 6))
        self.assertEqual(set(found.start_late_ms) & set(killed), set())
        self.assertEqual(sum(one.ended for one in found.seconds), found.raw["requests"])
        self.assertGreater(sum(one.ended for one in found.seconds_of_lost), 0)
        self.assertLess(len(found.seconds_of_lost), 1 + len(found.seconds))

    def wait_for_series(self, testers: Testers) -> None:
        """Until each has told of a second in which requests ended."""
        deadline = time.monotonic() + _LONG_S
        for one in testers.testers:
            while not one.series.exists() or not self.told_of_one_that_ended(one.series):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)

    def told_of_one_that_ended(self, series_file: Path) -> bool:
        whole = series_file.read_text().rpartition("\n")[0]
        return any(int(row["ended"]) > 0 for row in csv.DictReader(whole.splitlines()))

    def test_those_that_begin_when_the_server_has_ended_give_up_and_are_not_lost(self) -> None:
        made, flags = _local("a", "b", "c"), ("--threads", "3", "--ramp", "7.5", "--life", "9")
        with self.served(made.host) as pair, self.started(made, pair, *flags) as testers:
            time.sleep(max(0.0, testers.start_unix_s + 1.5 - time.time()))  # b begins at 2.5
            pair.fileserver.kill()
            found = self.ended(testers)
        self.assertEqual((found.lost, found.gave_up), ([], ["b", "c"]))
        self.assertEqual((found.raw["merged_from"], found.testers), (1, 3))
        self.assertGreater(found.raw["requests"], 0)

    def test_who_is_killed_depends_on_the_seed_only(self) -> None:
        made = _local("a", "b", "c", "d", "e", "f")
        chosen = []
        with self.served(made.host) as pair:
            for seed in (1, 1, 2):
                with self.started(made, pair, "--threads", "6", "--seconds", "60") as testers:
                    chosen.append(testers.kill(0.5, seed))
                    self.assertTrue(testers.is_running())
                self.assertFalse(testers.is_running())
        self.assertEqual([len(names) for names in chosen], [3, 3, 3])
        self.assertEqual(chosen[0], chosen[1])
        self.assertNotEqual(chosen[0], chosen[2])

    def test_if_all_are_lost_the_first_one_says_why(self) -> None:
        flags = ("--threads", "2", "--nonsense")
        with self.loaded(*flags, count=2) as testers, self.assertRaises(Failed) as caught:
            testers.wait_for_output(_LONG_S)
        self.assertRegex(str(caught.exception), "^all 2 testers were lost; a-1: exit status 2: ")

    def test_who_does_not_end_in_time_is_lost(self) -> None:
        flags = ("--threads", "2", "--seconds", "500")
        with self.loaded(*flags, count=2) as testers, self.assertRaises(Failed) as caught:
            testers.wait_for_output(1)
        self.assertIn("did not end in time", str(caught.exception))
        self.assertFalse(testers.is_running())

    def test_testers_whose_clocks_differ_begin_together_and_are_set_on_our_clock(self) -> None:
        places = (_Ahead(name="ahead", by_s=1000.0), _Ahead(name="behind", by_s=-1000.0))
        made = replace(_local("here"), places=(Place(name="here"), *places))
        flags = ("--threads", "3", "--requests", "4")
        with self.served(made.host) as pair, self.started(made, pair, *flags) as testers:
            begin_s = testers.start_unix_s
            found = self.ended(testers)
        self.assertEqual((found.lost, len(found.transfers)), ([], 12))
        last_ms = max(found.start_late_ms.values())
        error_s = max(one.error_s for one in found.clocks)
        most_s = 0.01 + last_ms / 1000 + 2 * error_s  # what clocks and a busy machine can do
        self.assertLess(abs(found.start_unix_s - begin_s), most_s)
        self.assertLess(found.raw["start_spread_ms"], 1000 * most_s)
        by_tester = {one.tester: one for one in reversed(found.transfers)}
        for one in by_tester.values():
            self.assertLess(abs(one.started_s), most_s + 5)

    @unittest.skipIf(why_no_ssh_host(), why_no_ssh_host())
    def test_testers_on_hosts_that_ssh_reaches(self) -> None:
        file = self.folder / "hosts"
        file.write_text("bench far\nbench-2 far\nbench-3 near\n")
        with SshHost(self.folder) as host:
            path = os.pathsep.join([str(host.bin), os.environ["PATH"]])
            with mock.patch.dict(os.environ, {"PATH": path}), hosts.logged_in_all(file) as made:
                flags = ("--threads", "3", "--requests", "5")
                with self.served(made.host) as pair, self.started(made, pair, *flags) as testers:
                    found = self.ended(testers)
                    self.assertEqual(testers.process_ids(), [])
            self.assertEqual(host.left_behind(), [])
        self.assertEqual(self.served_files(), 15)
        self.assertEqual((found.lost, found.raw["requests"]), ([], 15))
        self.assertEqual([one.group for one in found.transfers], ["far"] * 10 + ["near"] * 5)
        read = {one.tester for one in found.clocks}
        self.assertEqual(read, {"bench", "bench-2", "bench-3"})
        for one in found.clocks:  # the hosts are this machine
            self.assertLessEqual(abs(one.ahead_s), one.error_s + 1e-6)
        self.assertNotIn("LOADGEN_PASSWORD=", host.log())

    @unittest.skipIf(why_no_ssh_host(), why_no_ssh_host())
    def test_a_tester_whose_ssh_broke_is_lost(self) -> None:
        file = self.folder / "hosts"
        file.write_text("bench\nbench-2\nbench-3\n")
        with SshHost(self.folder) as host:
            path = os.pathsep.join([str(host.bin), os.environ["PATH"]])
            with mock.patch.dict(os.environ, {"PATH": path}), hosts.logged_in_all(file) as made:
                flags = ("--threads", "3", "--seconds", "2")
                with self.served(made.host) as pair, self.started(made, pair, *flags) as testers:
                    (killed,) = testers.kill(1 / 3, seed=1)
                    found = self.ended(testers)
            self.assertEqual(host.left_behind(), [])
        self.assertEqual([one.tester for one in found.lost], [killed])
        self.assertEqual(found.raw["merged_from"], 2)
