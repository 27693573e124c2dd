"""scripts/make-files: names and sizes. The folder has only whole files, however a run ends."""

import fcntl
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from host import SCRIPTS, ScriptTest, in_namespace, run, why_no_namespace

MAKE_FILES = SCRIPTS / "make-files"
NO_MOUNT = why_no_namespace("--mount")


class MakeFilesTest(ScriptTest):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.parent = Path(scratch.name)
        self.folder = self.parent / "files"

    def make(self, *arguments: str):
        return run(MAKE_FILES, "--dir", self.folder, *arguments)

    def made_sizes(self) -> dict[str, int]:
        return {path.name: path.stat().st_size for path in self.folder.iterdir()}

    def test_names_are_label_and_number_and_sizes_are_exact(self) -> None:
        result = self.make(
            "--size", "500B", "--size", "1KB", "--size", "2MB", "--first", "3", "--count", "2"
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            self.made_sizes(),
            {
                "500B3.txt": 500,
                "500B4.txt": 500,
                "1KB3.txt": 1000,
                "1KB4.txt": 1000,
                "2MB3.txt": 2_000_000,
                "2MB4.txt": 2_000_000,
            },
        )
        self.assertIn("6 files made, 0 kept", result.stdout)

    def test_unit_1024_makes_binary_kilobytes(self) -> None:
        result = self.make("--size", "10KB", "--unit", "1024")
        self.assertEqual(self.made_sizes(), {"10KB1.txt": 10240})
        self.assertIn("1KB = 1024 bytes", result.stdout)

    def test_kib_and_mib_are_binary_beside_decimal_ones(self) -> None:
        self.make("--size", "256KiB", "--size", "1MiB", "--size", "1KB")
        self.assertEqual(
            self.made_sizes(), {"256KiB1.txt": 256 << 10, "1MiB1.txt": 1 << 20, "1KB1.txt": 1000}
        )

    def test_contents_are_base64_text_and_no_two_alike(self) -> None:
        self.make("--count", "200")
        contents = {path.read_text() for path in self.folder.iterdir()}
        self.assertEqual(len(contents), 200)
        self.assertTrue(all(re.fullmatch(r"[A-Za-z0-9+/]{1000}", content) for content in contents))

    def test_repeated_run_keeps_whole_files_and_replaces_others(self) -> None:
        self.make("--count", "3")
        kept = (self.folder / "1KB1.txt").read_bytes()
        (self.folder / "1KB2.txt").write_bytes(b"cut off")
        result = self.make("--count", "4")
        self.assertIn("2 files made, 2 kept", result.stdout)
        self.assertEqual((self.folder / "1KB1.txt").read_bytes(), kept)
        self.assertEqual(set(self.made_sizes().values()), {1000})

    def test_a_run_ended_by_a_signal_leaves_only_whole_files(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number.name):
                self.interrupt(number)
                self.assertEqual(os.listdir(self.parent), ["files"])

    def test_the_run_after_a_killed_one_clears_its_drafts_and_completes(self) -> None:
        self.interrupt(signal.SIGKILL)
        (self.parent / ".files.drafts").mkdir(exist_ok=True)
        (self.parent / ".files.drafts" / "5MB1.txt").write_bytes(b"half")
        self.assertIn("40 files made", self.make("--size", "1KB", "--count", "40").stdout)
        self.assertEqual(os.listdir(self.parent), ["files"])

    def test_a_killed_worker_ends_the_run_which_can_be_resumed(self) -> None:
        self.folder.mkdir()
        command = [str(MAKE_FILES), "--dir", str(self.folder), "--size", "5MB", "--count", "200"]
        with subprocess.Popen([*command, "--jobs", "2"], stderr=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while len(os.listdir(self.folder)) < 3 and process.poll() is None:
                pass
            os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
            _, errors = process.communicate(timeout=60)
        self.assertEqual(
            (process.returncode, errors),
            (1, b"make-files: a worker process was killed; repeat the command to resume\n"),
        )
        self.assertEqual(set(self.made_sizes().values()), {5_000_000})
        self.assertEqual(os.listdir(self.parent), ["files"])

    def interrupt(self, number: signal.Signals) -> None:
        """Sends the signal after the first files. Each file that can be seen is whole."""
        command = [
            MAKE_FILES,
            "--dir",
            self.folder,
            "--size",
            "5MB",
            "--count",
            "200",
            "--jobs",
            "2",
        ]
        self.folder.mkdir(exist_ok=True)
        with subprocess.Popen(
            list(map(str, command)), stderr=subprocess.PIPE, start_new_session=True
        ) as process:
            before = len(os.listdir(self.folder))
            while len(os.listdir(self.folder)) < before + 3 and process.poll() is None:
                self.assertLessEqual(set(self.made_sizes().values()), {5_000_000})
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(set(self.made_sizes().values()), {5_000_000})
        if number != signal.SIGKILL:
            self.assertEqual(errors, b"make-files: stopped; repeat the command to resume\n")

    def test_two_runs_on_one_folder_exclude_each_other(self) -> None:
        drafts = self.parent / ".files.drafts"
        drafts.mkdir()
        lock = os.open(drafts, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.assert_one_line(self.make(), 1, "another make-files is working")

    def test_wrong_usage_is_one_line_that_names_flag_and_value(self) -> None:
        for flag, value in (
            ("--size", "1kb"),
            ("--size", "0KB"),
            ("--count", "0"),
            ("--first", "x"),
            ("--unit", "10"),
            ("--jobs", "-1"),
        ):
            with self.subTest(flag=flag, value=value):
                result = self.make(flag, value)
                self.assert_one_line(result, 2, value)
                self.assertIn(flag, result.stderr)
        self.assert_one_line(self.make("--sizes", "1KB"), 2, "--sizes")

    def test_a_folder_that_cannot_be_made_is_one_line(self) -> None:
        self.folder.write_text("a file")
        self.assert_one_line(self.make(), 1, str(self.folder))

    @unittest.skipIf(NO_MOUNT, NO_MOUNT)
    def test_a_short_disk_is_refused_before_anything_is_written(self) -> None:
        self.folder.mkdir()
        script = """
            mount -t tmpfs -o size=1m none "$1"
            "$2" --dir "$1" --size 300KB --count 4 || code=$?
            ls -A "$1"; exit $code
        """
        result = in_namespace("--mount", script, self.folder, MAKE_FILES)
        self.assert_one_line(result, 1, "the files need 1.212 MB, 1.049 MB are free")
        self.assertEqual(result.stdout, "")

    @unittest.skipIf(NO_MOUNT, NO_MOUNT)
    def test_a_folder_that_is_a_mount_point_is_filled_and_left_clean(self) -> None:
        self.folder.mkdir()
        script = 'mount --bind "$1" "$1"; "$2" --dir "$1" --count 2 >&2; ls -A "$1"'
        result = in_namespace("--mount", script, self.folder, MAKE_FILES)
        self.assertEqual(result.stdout.split(), ["1KB1.txt", "1KB2.txt"], result.stderr)
