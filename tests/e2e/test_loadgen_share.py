"""loadgen --share: several testers send one load, and their results are those of one run."""

import csv
import json
import subprocess
import time
from pathlib import Path

from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene
from peers import Peer
from programs import BUILD, environment, run
from waiting import LONG_S

_ANY = ("get", "--user", "u%d", "--password", "p")


def _any_file(line: bytes, _connection: object) -> bytes:
    """Answers as a server that lets everybody log in and has the same file under every name."""
    return b"OK\n" if line.startswith(b"get:") else b"OK 1\nx"


def _slow(line: bytes, connection: object) -> bytes:
    time.sleep(0.02)
    return _any_file(line, connection)


class _Testers(LoadgenScene):
    def measure(self, testers: int, *flags: object, server: object) -> list[dict]:
        """The results of all testers, which run at the same time. They stay as 1.json, 2.json..."""
        flags = self.adapted(*flags)
        command = [str(BUILD / "loadgen"), *map(str, flags), "--server", str(server)]
        running = [
            subprocess.Popen(
                [*command, "--share", f"{tester}/{testers}", *self.outputs_of(tester)],
                env=environment(),
                stderr=subprocess.DEVNULL,
            )
            for tester in range(1, testers + 1)
        ]
        for one in running:
            self.addCleanup(one.wait)
            self.addCleanup(one.kill)
        for one in running:
            one.wait(timeout=LONG_S)
        return [json.loads(self.result_of(tester).read_text()) for tester in range(1, testers + 1)]

    def result_of(self, tester: int) -> Path:
        return self.scene.folder / f"{tester}.json"

    def transfers_of(self, tester: int) -> Path:
        return self.scene.folder / f"{tester}.csv"

    def outputs_of(self, tester: int) -> list[str]:
        paths = {"--json": self.result_of(tester), "--transfers": self.transfers_of(tester)}
        return [word for flag, path in paths.items() for word in (flag, str(path))]

    def rows(self, tester: int) -> list[dict[str, str]]:
        with self.transfers_of(tester).open(newline="") as lines:
            return list(csv.DictReader(lines))

    def merged(self, testers: int) -> dict:
        out = self.scene.folder / "all.json"
        parts = [self.result_of(tester) for tester in range(1, testers + 1)]
        ended = run("loadgen", "merge", *parts, "--json", out)
        self.assertTrue(out.exists(), ended.stderr)
        return json.loads(out.read_text())

    def clients_of(self, result: dict) -> int:
        return result["users"]["asked"] if self.shares_threads else result["threads"]


class LoadgenShareTest(_Testers):
    def test_the_testers_ask_for_what_one_run_asks_for(self) -> None:
        files = ("--file", "f%d", "--unique", 3, "--accounts", 50, "--seed", 7)
        flags = (*_ANY, *files, "--threads", 5, "--requests", 4)
        alone, together = (self.scene.keep(Peer(_any_file)) for _ in range(2))
        whole = self.result(*flags, server=alone)
        parts = self.measure(3, *flags, server=together)
        self.assertEqual([part["requests"] for part in parts], [8, 8, 4])
        self.assertEqual(sorted(together.lines), sorted(alone.lines))
        found = self.merged(3)
        for name in ("requests", "bytes", "connections"):
            self.assertEqual(found[name], whole[name], name)
        self.assertEqual(self.clients_of(found), 5)

    def test_the_threads_of_a_share_have_their_numbers_among_all(self) -> None:
        peer = self.scene.keep(Peer(_any_file))
        self.measure(2, *GET, "--file", "a", "--threads", 5, "--requests", 1, server=peer)
        self.assertEqual({row["thread"] for row in self.rows(1)}, {"0", "2", "4"})
        self.assertEqual({row["thread"] for row in self.rows(2)}, {"1", "3"})

    def test_the_threads_of_a_share_pause_as_those_of_the_whole(self) -> None:
        """Fixed pauses begin with a part of one, by the number of the thread among all."""
        peer = self.scene.keep(Peer(_any_file))
        flags = (*GET, "--file", "a", "--threads", 4, "--requests", 1, "--think", "fixed:2")
        self.measure(2, *flags, server=peer)
        for tester in (1, 2):
            for row in self.rows(tester):
                pause_s = 2 * (int(row["thread"]) + 1) / 4
                self.assertGreaterEqual(float(row["started_s"]), pause_s - 0.000001)
                self.assertLess(float(row["started_s"]), pause_s + 0.5)


class UsersShareTest(LoadgenShareTest):
    shares_threads = True


class LoadgenShareOfRampTest(_Testers):
    def test_the_shares_of_a_ramp_are_that_ramp(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        flags = (*GET, "--file", "a", "--threads", 5, "--ramp", 1, "--life", 2)
        parts = self.measure(2, *flags, server=peer)
        for tester in (1, 2):
            rows = self.rows(tester)
            for thread in range(tester - 1, 5, 2):
                mine = [float(row["started_s"]) for row in rows if row["thread"] == str(thread)]
                self.assertGreaterEqual(mine[0], thread / 5)
                self.assertLess(mine[-1], thread / 5 + 2.5)
        for part, threads in zip(parts, (3, 2), strict=True):
            plateau = part["plateau"]
            self.assertEqual((plateau["start_s"], plateau["elapsed_s"]), (0.8, 1.2))
            self.assertEqual((part["threads"], plateau["threads_started"]), (threads, threads))
            self.assertEqual(
                sum(count for _, count in part["plateau_distribution"]), plateau["requests"]
            )
            self.assertEqual(part["n_check"], plateau["n_check"])
            self.assertGreater(part["n_check"], 0.5)
            self.assertLess(part["n_check"], 1.01)

    def test_the_plateau_of_the_sum_is_that_of_the_whole(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        flags = (*GET, "--file", "a", "--threads", 5, "--ramp", 1, "--life", 2)
        parts = [part["plateau"] for part in self.measure(3, *flags, server=peer)]
        found = self.merged(3)
        plateau = found["plateau"]
        self.assertEqual((plateau["start_s"], plateau["elapsed_s"]), (0.8, 1.2))
        self.assertEqual((found["threads"], plateau["threads_started"]), (5, 5))
        requests = sum(part["requests"] for part in parts)
        self.assertEqual(plateau["requests"], requests)
        self.assertEqual(sum(count for _, count in found["plateau_distribution"]), requests)
        self.assertAlmostEqual(plateau["throughput_rps"], requests / 1.2, places=3)
        times = [part["response_time_ms"] for part in parts]
        self.assertEqual(plateau["response_time_ms"]["max"], max(one["max"] for one in times))
        self.assertEqual(plateau["response_time_ms"]["min"], min(one["min"] for one in times))
        busy = sum(
            part["n_check"] * threads for part, threads in zip(parts, (2, 2, 1), strict=True)
        )
        self.assertAlmostEqual(plateau["n_check"], busy / 5, places=4)
        self.assertEqual(found["n_check"], plateau["n_check"])

    def test_a_ramp_of_uploads_is_shared(self) -> None:
        self.serve(*FRONT, "--uploads", "sink")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        flags = ("--protocol", "http", "--size", "100K", "--threads", 5, "--ramp", 0.5)
        parts = self.measure(2, "put", *GET[1:], *flags, "--life", 1, server=server)
        for part, threads in zip(parts, (3, 2), strict=True):
            self.assertEqual(part["plateau"]["threads_started"], threads)
            self.assertEqual(part["plateau"]["start_s"], 0.4)
            self.assertEqual(part["errors"]["total"], 0)
        total = sum(part["plateau"]["requests"] for part in parts)
        self.assertEqual(self.merged(2)["plateau"]["requests"], total)

    def test_a_share_is_added_once(self) -> None:
        parts = self.measure(
            2,
            *GET,
            "--file",
            "a",
            "--threads",
            2,
            "--requests",
            1,
            server=self.scene.keep(Peer(_slow)),
        )
        self.assertEqual([one["settings"]["share"] for one in parts], ["1/2", "2/2"])
        self.assertEqual(self.merged(2)["requests"], 2)
        first, second = self.result_of(1), self.result_of(2)
        out = self.scene.folder / "none.json"
        ended = run("loadgen", "merge", first, second, second, "--json", out)
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (1, 1), ended.stderr)
        self.assertIn(f"{second}: it has the share 2/2, which {second} has too", ended.stderr)
        self.assertFalse(out.exists())

    def test_another_ramp_does_not_add_up(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        for number, life in ((1, 1), (2, 1.2), (3, None)):
            ramp = ("--ramp", 0.2, "--life", life) if life else ("--requests", 1)
            flags = ("--file", "a", "--threads", 2, *ramp, "--server", peer)
            run("loadgen", *GET, *flags, "--json", self.result_of(number))
        for number in (2, 3):
            paths = (self.result_of(1), self.result_of(number))
            ended = run("loadgen", "merge", *paths, "--json", self.scene.folder / "none.json")
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (1, 1), ended.stderr)
            self.assertIn(f"{paths[1]}: it has another plateau than {paths[0]}", ended.stderr)

    def test_what_cannot_be_shared_is_wrong_usage(self) -> None:
        needs_loop = "--share has no effect in this run: it needs a closed loop"
        for share, flags, words in (
            ("1/2", ("--rate", 5), needs_loop),
            ("1/2", ("--users", 5, "--pace", 100), needs_loop),
            ("1/2", ("--release", "transfer", "--requests", 1), needs_loop),
            ("3/4", ("--threads", 2), "tester 3 of 4 has nothing to do, because --threads is 2"),
            ("2/2", ("--users", 1), "tester 2 of 2 has nothing to do, because --users is 1"),
        ):
            ended = run("loadgen", *GET, "--file", "a", *flags, "--share", share)
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1), ended.stderr)
            self.assertIn(words, ended.stderr)
        accounts = ("--user", "u%d", "--password", "p", "--accounts", 9)
        ended = run("loadgen", "new", *accounts, "--share", "1/2")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("it needs get, put, or new without --user", ended.stderr)
