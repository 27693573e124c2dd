"""loadgen --series: a line for each second of a run."""

import csv
import signal
import subprocess
import time
from pathlib import Path

from ftp_peer import FtpPeer
from http_client import FLAG as FRONT
from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file, slow_file
from peers import Peer
from programs import BUILD, environment, run
from waiting import eventually

Row = dict[str, str]
COUNTS = ("t", "under_way", "started", "ended", "failed", "bytes")
TIMES = ("mean_ms", "p50_ms", "p99_ms", "max_ms")
HALF = 100_000


def _rows(path: Path) -> list[Row]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _total(rows: list[Row], column: str) -> int:
    return sum(int(row[column]) for row in rows)


class LoadgenSeriesTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.scene.folder / "series.csv"

    def start(self, *flags: object, server: object) -> subprocess.Popen:
        command = ("loadgen", *GET, "--series", self.path, *flags, "--server", server)
        running = subprocess.Popen(
            [str(BUILD / str(command[0])), *map(str, command[1:])],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        return running

    def series(self, *flags: object, server: object, status: int = 0) -> tuple[dict, list[Row]]:
        result = self.result("--series", self.path, *flags, server=server, status=status)
        rows = _rows(self.path)
        self.assert_whole(rows)
        self.assertEqual(_total(rows, "ended"), result["requests"])
        self.assertEqual(_total(rows, "failed"), result["errors"]["total"])
        return result, rows

    def assert_whole(self, rows: list[Row]) -> None:
        """Each second has a line, and what is under way follows from the others."""
        under_way = 0
        for number, row in enumerate(rows, 1):
            self.assertEqual(tuple(row), COUNTS + TIMES)
            under_way += int(row["started"]) - int(row["ended"]) - int(row["failed"])
            self.assertEqual((int(row["t"]), int(row["under_way"])), (number, under_way))
            times = [row[name] for name in TIMES if row[name]]
            self.assertEqual(len(times), 4 if int(row["ended"]) else 0)
        self.assertEqual(under_way, 0)

    def assert_sums(self, *flags: object, server: object) -> None:
        result, rows = self.series(*flags, server=server)
        self.assertEqual(_total(rows, "started"), result["requests"])
        self.assertEqual(_total(rows, "bytes"), result["bytes"])
        self.assertEqual(
            max(float(row["max_ms"]) for row in rows if row["max_ms"]),
            round(result["response_time_ms"]["max"], 3),
        )

    def test_the_sums_of_a_closed_loop_are_its_totals(self) -> None:
        self.serve()
        flags = ("--file", "file%d", "--unique", 6, "--threads", 2, "--seconds", 1.5)
        self.assert_sums(*GET, *flags, "--warmup", 0.3, server=self.fileserver)

    def test_the_sums_are_those_of_files_that_loadgen_looks_at(self) -> None:
        self.serve()
        flags = ("--file", "file12", "--requests", 30, "--connection", "keep-alive")
        compared = ("--verify", "--verify-root", self.scene.root)
        self.assert_sums(*GET, *flags, *compared, server=self.fileserver)

    def test_the_sums_of_uploads_are_their_totals(self) -> None:
        self.serve(*FRONT, "--uploads", "sink")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        flags = ("put", *GET[1:], "--protocol", "http", "--size", "300K", "--threads", 2)
        self.assert_sums(*flags, "--requests", 20, server=server)
        record = ("--transfers", self.scene.folder / "t.csv")
        self.assert_sums(*flags, "--requests", 20, *record, server=server)

    def test_the_sums_of_ftp_are_its_totals(self) -> None:
        peer = self.scene.keep(FtpPeer())
        flags = ("--protocol", "ftp", "--file", "a", "--requests", 5)
        self.assert_sums(*GET, *flags, server=peer)
        put = ("put", *GET[1:], "--protocol", "ftp", "--size", "300K", "--requests", 5)
        self.assert_sums(*put, server=peer)

    def test_the_sums_of_an_open_loop_are_its_totals(self) -> None:
        self.serve()
        flags = ("--file", "file3", "--rate", 200, "--seconds", 1.5, "--threads", 4)
        run("loadgen", *GET, *flags, "--series", self.path, "--server", self.fileserver)
        rows = _rows(self.path)
        self.assert_whole(rows)
        self.assertEqual(_total(rows, "ended"), 300)
        self.assertEqual(_total(rows, "bytes"), 300 * self.sizes["file3"])

    def test_the_sums_of_a_burst_are_its_totals(self) -> None:
        self.serve()
        flags = ("--file", "file12", "--threads", 4, "--requests", 5, "--release", "transfer")
        self.assert_sums(*GET, *flags, server=self.fileserver)

    def test_a_crowd_moves_its_bytes_between_the_ends_of_its_fetches(self) -> None:
        self.serve()
        users = ("--users", 5, "--pace", 4000, "--ramp", 0.2, "--seconds", 4.5)
        run("loadgen", *GET, "--file", "file12", *users, "--least-rate", 10, "--series", self.path,
            "--server", self.fileserver)  # fmt: skip
        rows = _rows(self.path)
        self.assertGreaterEqual(len(rows), 3)
        self.assertEqual((rows[0]["started"], rows[0]["under_way"]), ("5", "5"))
        self.assertEqual((rows[1]["ended"], rows[1]["p99_ms"]), ("0", ""))
        self.assertGreater(_total(rows[:2], "bytes"), 5 * 1000)
        self.assertGreater(_total(rows, "ended"), 4)
        self.assertGreater(_total(rows, "bytes"), _total(rows, "ended") * 12_000)

    def test_bytes_count_when_they_move_and_not_when_the_transfer_ends(self) -> None:
        def answer(line: bytes, connection) -> bytes:
            if line == GET_LINE:
                return b"OK\n"
            connection.sendall(b"OK %d\n" % (2 * HALF) + b"x" * HALF)
            time.sleep(1.5)
            return b"x" * HALF

        peer = self.scene.keep(Peer(answer))
        result, rows = self.series(*GET, "--file", "a", "--requests", 1, server=peer)
        self.assertEqual((rows[0]["under_way"], rows[0]["ended"]), ("1", "0"))
        self.assertEqual(int(rows[0]["bytes"]), HALF)
        self.assertEqual(_total(rows, "bytes"), result["bytes"])

    def test_failures_have_their_second(self) -> None:
        self.serve()
        flags = ("--file", "missing", "--requests", 3)
        _, rows = self.series(*GET, *flags, server=self.fileserver, status=1)
        self.assertEqual(
            (rows[0]["started"], rows[0]["failed"], rows[0]["mean_ms"]), ("3", "3", "")
        )

    def test_a_run_that_is_killed_leaves_its_lines(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        running = self.start("--file", "a", "--seconds", 60, server=peer)
        eventually(
            lambda: self.path.exists() and self.path.read_text().count("\n") >= 3, "two lines"
        )
        running.kill()
        running.wait()
        self.assertTrue(self.path.read_text().endswith("\n"))
        rows = _rows(self.path)
        self.assertEqual([row["t"] for row in rows], [str(n + 1) for n in range(len(rows))])

    def test_seconds_in_which_loadgen_stood_still_have_lines_of_their_own(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        running = self.start("--file", "a", "--seconds", 5, server=peer)
        eventually(lambda: self.path.exists() and self.path.read_text().count("\n") >= 2, "a line")
        running.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        running.send_signal(signal.SIGCONT)
        running.wait()
        rows = _rows(self.path)
        self.assert_whole(rows)
        self.assertGreaterEqual(len(rows), 5)
        self.assertIn("0", [row["ended"] for row in rows])

    def test_a_server_that_hangs_has_lines_without_times(self) -> None:
        peer = self.scene.keep(Peer(slow_file("a", 2.3)))
        _, rows = self.series(*GET, "--file", "a", "--requests", 1, server=peer)
        *waiting, last = [(row["under_way"], row["mean_ms"] != "") for row in rows]
        self.assertGreaterEqual(len(waiting), 2)
        self.assertEqual((set(waiting), last), ({("1", False)}, ("0", True)))

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        for path, seen in ((self.scene.folder / "no" / "series.csv", 0), ("/dev/full", 0)):
            ended = run("loadgen", *GET, "--file", "a", "--series", path, "--server", peer)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("loadgen: --series: ", ended.stderr)
            self.assertIn(str(path), ended.stderr)
            self.assertEqual(len(peer.lines), seen)

    def test_two_results_need_two_files(self) -> None:
        for other in ("--json", "--transfers"):
            ended = run("loadgen", *GET, "--file", "a", "--series", "x", other, "x")
            self.assertEqual(ended.returncode, 2)
            self.assertIn("--series and " + other, ended.stderr)
