"""loadgen --transfers: a record of each transfer."""

import csv
import json
import socket
import time
from itertools import groupby
from pathlib import Path

from ftp_peer import FtpPeer, Script
from http_client import FLAG as FRONT
from http_peer import CREATED, HttpPeer
from loadgen_scene import GET, LoadgenScene, one_byte_file
from peers import Peer
from programs import run

Row = dict[str, str]
_MOMENTS = ("started_s", "opened_s", "asked_s", "first_byte_s", "last_byte_s")


def _seconds(row: Row, *names: str) -> list[float]:
    return [float(row[name]) for name in names]


class LoadgenTransfersTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.scene.folder / "transfers.csv"

    def record(self, *flags: object, server: object, status: int = 0) -> tuple[dict, list[Row]]:
        given = flags if flags[0] == "put" else (*GET, *flags)
        flags = (*given, "--transfers", self.path)
        result = self.result(*flags, server=server, status=status)
        with self.path.open(newline="") as lines:
            return result, list(csv.DictReader(lines))

    def test_each_transfer_of_the_window_has_a_line_with_its_moments_in_order(self) -> None:
        self.serve()
        files = ("--file", "file%d", "--unique", 6, "--threads", 2, "--requests", 150)
        result, rows = self.record(*files, "--warmup", 0.2, server=self.fileserver)
        self.assertGreater(result["warmup_requests"], 0)
        self.assertEqual(len(rows), result["requests"])
        self.assertEqual(sum(int(row["bytes"]) for row in rows), result["bytes"])
        for thread in ("0", "1"):
            mine = [row for row in rows if row["thread"] == thread]
            self.assertEqual([int(row["round"]) for row in mine], list(range(1, 151)))
        for row in rows:
            self.assertEqual(row["sent_s"], "")
            self.assertEqual(int(row["bytes"]), self.sizes[row["name"]])
            moments = _seconds(row, *_MOMENTS)
            self.assertEqual(moments, sorted(moments), row)
            self.assertGreaterEqual(moments[0], 0)
            self.assertLessEqual(moments[-1], result["elapsed_s"] + 0.000001)
            self.assertEqual(float(row["start_unix_s"]), result["started_unix_s"])

    def test_an_open_loop_has_a_line_for_each_request_that_was_sent_when_due(self) -> None:
        self.serve()
        due = ("--rate", 100, "--warmup", 0.3, "--seconds", 0.5, "--threads", 2)
        path = self.scene.folder / "open.json"
        flags = ("--file", "file2", *due, "--transfers", self.path, "--json", path)
        run("loadgen", *GET, *flags, "--server", self.fileserver)
        result = json.loads(path.read_text())
        with self.path.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual((len(rows), result["requests"]), (50, 50))
        self.assertGreaterEqual(min(float(row["started_s"]) for row in rows), 0)
        self.assertEqual({float(row["start_unix_s"]) for row in rows}, {result["started_unix_s"]})

    def test_the_figures_of_a_burst_follow_from_the_record(self) -> None:
        self.serve()
        flags = ("--file", "file12", "--threads", 4, "--requests", 5, "--release", "transfer")
        result, rows = self.record(*flags, server=self.fileserver)
        rows.sort(key=lambda row: int(row["round"]))
        rounds = [list(group) for _, group in groupby(rows, key=lambda row: row["round"])]
        self.assertEqual([len(group) for group in rounds], [4] * 5)
        for group, figures in zip(rounds, result["burst"]["per_round"], strict=True):
            times = [_seconds(row, "asked_s", "last_byte_s") for row in group]
            span = max(last for _, last in times) - min(asked for asked, _ in times)
            share = sum(last - asked for asked, last in times) / (len(group) * span)
            self.assertAlmostEqual(figures["span_s"], span, delta=3e-6)
            self.assertAlmostEqual(figures["simultaneity"], share, delta=0.05)
            self.assertEqual(figures["bytes"], sum(int(row["bytes"]) for row in group))

    def test_a_failed_transfer_has_its_cause(self) -> None:
        self.serve()
        flags = ("--file", "missing", "--requests", 2)
        _, rows = self.record(*flags, server=self.fileserver, status=1)
        self.assertEqual([row["failure"] for row in rows], ["not-found"] * 2)
        for row in rows:
            self.assertEqual((row["bytes"], row["first_byte_s"]), ("0", ""))
            self.assertLessEqual(float(row["asked_s"]), float(row["last_byte_s"]))

    def test_ftp_names_are_quoted_and_the_data_connection_is_timed(self) -> None:
        name = 'a, "b"'
        peer = self.scene.keep(FtpPeer())
        flags = ("--protocol", "ftp", "--file", name, "--requests", 2)
        for connection in ("per-request", "keep-alive"):
            _, rows = self.record(*flags, "--connection", connection, server=peer)
            self.assertEqual([row["name"] for row in rows], [name] * 2)
            for row in rows:
                moments = _seconds(row, *_MOMENTS)
                self.assertEqual(moments, sorted(moments), row)

    def check_put(self, protocol: str, server: object) -> list[Row]:
        flags = ("put", *GET[1:], "--protocol", protocol, "--size", "300K", "--requests", 2)
        result, rows = self.record(*flags, server=server)
        self.assertEqual([row["bytes"] for row in rows], [str(300 << 10)] * 2)
        for row in rows:
            moments = _seconds(row, *_MOMENTS)
            self.assertEqual(moments, sorted(moments), row)
            self.assertLessEqual(moments[-1], result["elapsed_s"] + 0.000001)
        return rows

    def test_a_put_has_the_moments_of_its_reply(self) -> None:
        self.serve(*FRONT, "--uploads", "sink")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        names = [row["name"] for row in self.check_put("http", server)]
        self.assertEqual(len(set(names)), 2)

    def test_a_put_has_been_sent_before_it_is_answered(self) -> None:
        def answer_late(_request: bytes, _connection: socket.socket) -> bytes:
            time.sleep(0.5)
            return CREATED

        for size in (5, 300_000):
            http, ftp = HttpPeer(answer_late), FtpPeer(Script(pauses_s={"DONE": 0.5}))
            for protocol, peer in (("http", http), ("ftp", ftp)):
                with self.subTest(size=size, protocol=protocol):
                    flags = ("--protocol", protocol, "--size", size, "--requests", 2)
                    _, rows = self.record("put", *GET[1:], *flags, server=self.scene.keep(peer))
                    for row in rows:
                        asked, sent, first = _seconds(row, "asked_s", "sent_s", "first_byte_s")
                        self.assertLessEqual(asked, sent)
                        self.assertGreaterEqual(first - sent, 0.1)

    def test_a_put_that_was_not_sent_as_a_whole_has_no_such_moment(self) -> None:
        peer = self.scene.keep(HttpPeer(lambda *_: CREATED, takes_bodies=False))
        flags = ("--protocol", "http", "--size", "100M", "--requests", 1)
        _, rows = self.record("put", *GET[1:], *flags, server=peer, status=1)
        self.assertEqual([(row["sent_s"], row["failure"]) for row in rows], [("", "protocol")])
        with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never reads
            server = f"127.0.0.1:{silent.getsockname()[1]}"
            late = (*flags, "--timeout", 0.3)
            _, rows = self.record("put", *GET[1:], *late, server=server, status=1)
        self.assertEqual([(row["sent_s"], row["failure"]) for row in rows], [("", "timeout")])

    def test_the_cpu_time_of_a_thread_is_that_of_its_transfers(self) -> None:
        self.serve(*FRONT, "--uploads", "sink")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        flags = ("--protocol", "http", "--size", "5M", "--requests", 3, "--threads", 2)
        result, rows = self.record("put", *GET[1:], *flags, server=server)
        times = [float(row["cpu_us"] or "nan") for row in rows]
        if self.shares_threads:
            self.assertEqual([row["cpu_us"] for row in rows], [""] * 6)
            return
        self.assertGreater(min(times), 0)
        of_run_us = result["cpu"]["us_per_request"] * result["requests"]
        self.assertLessEqual(sum(times), of_run_us + 10_000)  # the run's is in ticks
        for row, us in zip(rows, times, strict=True):
            took_us = 1e6 * (float(row["last_byte_s"]) - float(row["started_s"]))
            self.assertLessEqual(us, took_us + 50_000)

    def test_a_put_over_ftp_ends_with_the_reply_behind_the_file(self) -> None:
        pauses = {"DONE": 0.1, "QUIT": 0.2}
        peer = self.scene.keep(FtpPeer(Script(pauses_s=pauses)))
        one, next_one = self.check_put("ftp", peer)
        self.assertEqual([one["name"], next_one["name"]], list(peer.files))
        asked, first, last = _seconds(one, "asked_s", "first_byte_s", "last_byte_s")
        self.assertGreaterEqual(first - asked, 0.099)
        self.assertGreaterEqual(float(next_one["started_s"]) - last, 0.199)

    def test_a_kept_connection_was_opened_before(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--requests", 2, "--connection", "keep-alive")
        _, rows = self.record(*flags, server=peer)
        self.assertEqual([row["opened_s"] for row in rows], ["", ""])

    def test_the_moment_of_asking_is_after_the_log_in(self) -> None:
        def slow_log_in(line: bytes, connection: socket.socket) -> bytes:
            if line != b"a\n":
                time.sleep(0.2)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(slow_log_in))
        _, rows = self.record("--file", "a", "--requests", 1, server=peer)
        opened, asked = _seconds(rows[0], "opened_s", "asked_s")
        self.assertGreaterEqual(asked - opened, 0.199)

    def test_standard_output(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--requests", 3, "--transfers", "-", "--server", peer)
        lines = run("loadgen", *GET, *flags).stdout.splitlines()
        self.assertEqual((lines[0][:12], len(lines)), ("round,thread", 4))

    def test_a_record_that_cannot_be_written_ends_the_run_as_failed(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        json = self.scene.folder / "result.json"
        for path, why in (
            (Path("/dev/full"), "No space left on device"),
            (self.scene.folder / "missing" / "t.csv", "No such file or directory"),
            (self.scene.folder, "Is a directory"),
        ):
            flags = ("--transfers", path, "--json", json, "--file", "a", "--seconds", 3600)
            ended = run("loadgen", *GET, *flags, "--server", peer)
            self.assertEqual(ended.returncode, 1)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
            self.assertIn("--transfers: ", ended.stderr)
            self.assertIn(why, ended.stderr)
            self.assertFalse(json.exists())
