"""loadgen get --channels against the fileserver: one file by several connections at once."""

import itertools
import os
import threading

import server_pairs
from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene
from programs import run
from threads import run_threads

BIG = bytes(range(251)) * 16_000  # four million bytes


class LoadgenChannelsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("big", BIG)
        self.scene.write("big2", BIG[::-1])
        self.scene.write("empty", b"")
        self.serve(*(server_pairs.https_flags() if self.encrypts else FRONT))
        front = self.fileserver.further_address("https" if self.encrypts else "http")
        self.front = "{}:{}".format(*front)
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()

    def get(self, file: str, *flags: object, status: int = 0) -> dict:
        asked = (*GET, "--protocol", "http", "--file", file)
        compared = ("--verify", "--verify-root", self.scene.root)
        return self.result(*asked, *compared, *flags, server=self.front, status=status)

    def assert_connections(self, made: int, channels: int) -> None:
        self.assertEqual(made, channels)

    def test_any_number_of_channels_brings_the_same_bytes(self) -> None:
        for write in ("in-order", "in-place"):
            for channels in (1, 2, 3, 5, 8, 16, 32):
                with self.subTest(write=write, channels=channels):
                    flags = ("--channels", channels, "--save", self.saved, "--write", write)
                    result = self.get("big", *flags, "--requests", 1)
                    self.assertEqual(result["bytes"], len(BIG))
                    self.assert_connections(result["connections"], channels)
                    self.assertEqual(result["channels"]["asked"], channels)
                    self.assertEqual(result["channels"]["lost"], 0)
                    self.assertEqual((self.saved / "big").read_bytes(), BIG)
                    self.assertEqual([path.name for path in self.saved.iterdir()], ["big"])

    def test_small_and_empty_files_come_whole(self) -> None:
        for file, size in (("empty", 0), ("file1", 1000), ("file12", 12_000)):
            for flags in (("--connection", "keep-alive"), ()):
                result = self.get(file, "--channels", 4, "--requests", 3, *flags)
                self.assertEqual((result["requests"], result["bytes"]), (3, 3 * size))
                self.assertEqual(result["channels"]["used"], int(size > 0))

    def test_kept_connections_bring_all_files(self) -> None:
        flags = ("--channels", 3, "--connection", "keep-alive", "--threads", 2)
        result = self.get("big", *flags, "--requests", 4)
        self.assertEqual((result["requests"], result["connections"]), (8, 6))

    def test_each_file_is_one_transfer_whose_bytes_are_in_all_outputs(self) -> None:
        lines, series = self.scene.folder / "t.csv", self.scene.folder / "s.csv"
        flags = ("--channels", 4, "--threads", 2, "--unique", 1, "--requests", 2)
        outputs = ("--transfers", lines, "--series", series, "--save", self.saved)
        self.scene.write("two1", BIG)
        self.scene.write("two2", BIG[::-1])
        result = self.get("two%d", *flags, *outputs)
        self.assertEqual((result["requests"], result["bytes"]), (4, 4 * len(BIG)))
        transfers = lines.read_text().splitlines()
        self.assertEqual(len(transfers), 1 + 4)
        head = transfers[0].split(",")
        for transfer in transfers[1:]:
            self.assertEqual(transfer.split(",")[head.index("bytes")], str(len(BIG)))
        seconds = [line.split(",") for line in series.read_text().splitlines()]
        moved = seconds[0].index("bytes")
        self.assertEqual(sum(int(second[moved]) for second in seconds[1:]), 4 * len(BIG))
        self.assertEqual((self.saved / "two1").read_bytes(), BIG)
        self.assertEqual((self.saved / "two2").read_bytes(), BIG[::-1])

    def test_refusals_of_the_server_have_their_own_cause(self) -> None:
        asked = (*GET, "--protocol", "http", "--channels", 4, "--requests", 2)
        missing = self.result(*asked, "--file", "nothing", server=self.front, status=1)
        self.assertEqual(self.errors(missing), {"not-found": 2})
        other = ("get", "--user", "alice", "--password", "wrong", *asked[5:], "--file", "big")
        denied = self.result(*other, server=self.front, status=1)
        self.assertEqual(self.errors(denied), {"denied": 2})

    def test_an_open_loop_can_have_channels(self) -> None:
        flags = ("--channels", 2, "--rate", 10, "--threads", 8, "--seconds", 1)
        result = self.get("file12", *flags)
        self.assertEqual(result["bytes"], result["requests"] * 12_000)
        self.assertEqual(result["channels"]["asked"], 2)

    def test_the_files_of_a_run_are_never_of_two_versions(self) -> None:
        """The file is replaced all the time. Each one that is saved is of one version."""
        size = 3_000_000
        path, new = self.scene.root / "turned", self.scene.folder / "new"

        def replace(is_over: threading.Event) -> None:
            for version in itertools.cycle(range(256)):
                new.write_bytes(bytes([version]) * size)
                os.replace(new, path)
                if is_over.wait(0.01):
                    return

        def fetch(is_over: threading.Event) -> None:
            for _ in range(15):
                ended = run("loadgen", *command)
                if ended.returncode == 0:
                    saved = (self.saved / "turned").read_bytes()
                    self.assertEqual((len(saved), len(set(saved))), (size, 1))
                else:
                    self.assertIn("changed", ended.stderr)
            is_over.set()

        path.write_bytes(bytes(size))
        asked = (*GET, "--protocol", "http", "--file", "turned", "--channels", 8)
        flags = self.adapted("--requests", 1, "--save", self.saved)
        command = (*asked, *flags, "--server", self.front)
        run_threads([replace, fetch])

    def test_what_has_no_effect_or_cannot_be_is_wrong_usage(self) -> None:
        http = (*GET, "--protocol", "http", "--file", "big")
        put = ("put", *GET[1:], "--protocol", "http", "--size", "1K")
        for arguments, why in (
            ((*GET, "--file", "big", "--channels", 2), "--protocol http or --protocol ftp"),
            ((*put, "--channels", 2), "it needs get"),
            ((*http, "--channels", 2, "--users", 3), "without --users"),
            ((*http, "--channels", 2, "--mix", "get:1,put:1", "--size", 1), "needs get"),
            ((*http, "--channels", 2, "--release", "transfer", "--requests", 1), "closed loop"),
            ((*http, "--channels", 2, "--telemetry", "127.0.0.1:1"), "without --channels"),
            ((*http, "--channels", 0), "1"),
            ((*http, "--channels", 65), "64"),
            ((*http, "--pool", "8M"), "--channels"),
            ((*http, "--channels", 2, "--write", "in-place"), "--channels and --save"),
            ((*http, "--channels", 8, "--pool", "575K"), "--pool: from 576K to 1T with 8 channels"),
        ):
            with self.subTest(arguments=arguments):
                ended = run("loadgen", *arguments)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(why, ended.stderr)
        least = self.get("big", "--channels", 8, "--pool", "576K", "--requests", 1)
        self.assertEqual(least["channels"]["pool_bytes"], 576 << 10)
