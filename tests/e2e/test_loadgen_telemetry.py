"""loadgen --telemetry: the server's own count of the requests, beside that of loadgen."""

import json
import socket
import subprocess
from typing import Any

from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene, slow_file
from peers import HangUp, Peer
from programs import BUILD, environment, run
from telemetry import FLAG, address_of

FILE = ("--file", "file1")


def no_page(line: bytes, connection: socket.socket) -> bytes:
    if line == b"\r\n":
        raise HangUp
    return b"x"


class LoadgenTelemetryTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.serve(*FLAG, *FRONT, "--uploads", "folder")
        self.counters = "{}:{}".format(*address_of(self.fileserver))

    def counted(self, *flags: object, server: object = None) -> dict[str, Any]:
        where = ("--server", server or self.fileserver, "--telemetry", self.counters)
        ended = run("loadgen", *flags, *where, "--json", "-")
        count = json.loads(ended.stdout)["telemetry"]
        self.assertEqual(count["address"], self.counters)
        return count

    def assert_equal(self, count: dict) -> None:
        self.assertTrue(count["agrees"], count)
        self.assertEqual(count["server_requests"], count["loadgen_requests"])
        self.assertGreater(count["server_requests"], 0)

    def test_every_kind_of_run_counts_as_the_server_does(self) -> None:
        put = ("put", *GET[1:], "--size", 100)
        kinds: dict[str, tuple[object, ...]] = {
            "requests": (*GET, *FILE, "--threads", 3, "--requests", 40),
            "time, with a warm-up": (*GET, *FILE, "--warmup", 0.3, "--seconds", 0.3),
            "kept": (*GET, *FILE, "--requests", 50, "--connection", "keep-alive"),
            "open": (*GET, *FILE, "--rate", 100, "--warmup", 0.2, "--seconds", 0.5),
            "burst": (*GET, *FILE, "--threads", 4, "--release", "transfer", "--requests", 3),
            "ramp": (*GET, *FILE, "--threads", 2, "--ramp", 0.2, "--life", 0.4),
            "new": ("new", "--requests", 5),
        }
        for name, flags in kinds.items():
            with self.subTest(kind=name):
                self.assert_equal(self.counted(*flags))
        http = "{}:{}".format(*self.fileserver.further_address("http"))
        for flags in ((*GET, *FILE), put):
            with self.subTest(http=flags[0]):
                over = ("--protocol", "http", "--requests", 5)
                self.assert_equal(self.counted(*flags, *over, server=http))
        mix = ("--mix", "get:5,put:3,new:2", "--size", 100, "--seed", 3)
        over = ("--protocol", "http", "--requests", 60)
        self.assert_equal(self.counted(*GET, *FILE, *mix, *over, server=http))

    def test_a_crowd_knows_what_its_end_broke_off(self) -> None:
        users = ("--users", 5, "--pace", 4000, "--ramp", 0, "--seconds", 1.6, "--least-rate", 20)
        count = self.counted(*GET, *FILE, *users)
        self.assertTrue(count["agrees"], count)
        self.assertGreaterEqual(count["loadgen_requests"], 5)

    def test_requests_of_others_are_found(self) -> None:
        ours = (*GET, *FILE, "--server", self.fileserver)
        other = subprocess.Popen(
            [str(BUILD / "loadgen"), *map(str, ours), "--seconds", "60"],
            env=environment(),
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        ended = run("loadgen", *ours, "--seconds", 1, "--telemetry", self.counters)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("somebody else uses the server", ended.stderr)
        self.assertIn("  telemetry      the server answered ", ended.stderr)

    def test_failed_requests_are_no_difference(self) -> None:
        count = self.counted(*GET, "--file", "missing", "--requests", 5)
        self.assertEqual((count["server_requests"], count["loadgen_requests"]), (0, 0))
        self.assertTrue(count["agrees"])

    def test_without_counters_there_is_no_run(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        mute = self.scene.keep(Peer(lambda line, connection: None))
        strange = self.scene.keep(Peer(no_page))
        auth = self.scene.authserver(*FLAG)
        for at, named in (
            (port, "Connection refused"),
            (mute, "no answer"),
            (strange, "no page of metrics"),
            ("{}:{}".format(*address_of(auth)), "they are not those of a fileserver"),
        ):
            with self.subTest(named=named):
                ended = run(
                    *("loadgen", *GET, *FILE, "--server", self.fileserver, "--requests", 1),
                    *("--telemetry", at),
                )
                self.assertEqual(ended.returncode, 1, ended.stderr)
                self.assertIn("loadgen: --telemetry: the counters of 127.0.0.1:", ended.stderr)
                self.assertIn(named, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)

    def test_the_samples_of_a_closed_loop_are_about_its_threads(self) -> None:
        peer = self.scene.keep(Peer(slow_file("slow", 0.02)))
        flags = ("--file", "slow", "--threads", 3, "--seconds", 2)
        seen = self.result(*GET, *flags, server=peer)["under_way"]
        self.assertGreater(seen["samples"], 5)
        self.assertAlmostEqual(seen["mean"], 3, delta=0.5)
        self.assertAlmostEqual(seen["expected"], 3, delta=0.5)
