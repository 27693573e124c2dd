"""scripts/make-files: names and sizes. The folder has only whole files, however a run ends."""

import csv
import fcntl
import os
import re
import signal
import statistics
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

    def sizes_of(self, *arguments: str) -> list[int]:
        """In the order of the numbers."""
        folder = tempfile.TemporaryDirectory(dir=self.parent)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "files"
        result = self.make(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        made = self.made_sizes()
        (name,) = (name.removesuffix(".csv") for name in made if name.endswith(".csv"))
        return [made[f"{name}-{number}.txt"] for number in range(1, len(made))]

    def test_specweb99_has_four_classes_of_nine_sizes_in_their_shares(self) -> None:
        sizes = self.sizes_of("--sizes", "specweb99", "--count", "4000")
        shares = []
        for step in (100, 1000, 10_000, 100_000):
            of_class = [size for size in sizes if step <= size < 10 * step]
            self.assertEqual({size % step for size in of_class}, {0})
            self.assertLessEqual(set(of_class), {step * number for number in range(1, 10)})
            shares.append(100 * len(of_class) / len(sizes))
        for share, wanted in zip(shares, (35, 50, 14, 1)):
            self.assertAlmostEqual(share, wanted, delta=2)  # some three standard deviations
        self.assertEqual(len({size for size in sizes if size < 100_000}), 27)

    def test_a_unit_of_1024_has_the_bytes_of_the_benchmark(self) -> None:
        sizes = set(self.sizes_of("--sizes", "specweb99", "--count", "300", "--unit", "1024"))
        self.assertLessEqual({102, 204, 307, 409, 512, 614, 716, 819, 921, 1024, 9216}, sizes)

    def test_lognormal_sizes_have_their_median_and_spread(self) -> None:
        sizes = self.sizes_of("--sizes", "lognormal:10KB,1", "--count", "2000")
        self.assertAlmostEqual(statistics.median(sizes) / 10_000, 1, delta=0.1)
        self.assertAlmostEqual(sum(size < 27_183 for size in sizes) / 2000, 0.841, delta=0.03)

    def test_no_size_is_over_the_largest_and_few_are_it(self) -> None:
        sizes = self.sizes_of("--sizes", "lognormal:10KB,2", "--count", "500", "--largest", "100KB")
        self.assertLessEqual(max(sizes), 100_000)
        self.assertLess(sizes.count(100_000), 3)
        self.assertGreater(max(sizes), 80_000)

    def test_a_spread_of_0_is_one_size_and_a_large_one_has_no_file_without_bytes(self) -> None:
        self.assertEqual(set(self.sizes_of("--sizes", "lognormal:5KB,0", "--count", "9")), {5000})
        tiny = self.sizes_of("--sizes", "lognormal:1B,3", "--largest", "10B", "--count", "50")
        self.assertEqual(min(tiny), 1)

    def test_the_seed_chooses_the_sizes_and_more_files_go_on_behind_fewer(self) -> None:
        for name in ("specweb99", "lognormal:1KB,2"):
            with self.subTest(name):
                few, more, other = (
                    self.sizes_of("--sizes", name, "--seed", seed, "--count", count)
                    for seed, count in (("3", "20"), ("3", "30"), ("4", "20"))
                )
                self.assertEqual(more[:20], few)
                self.assertNotEqual(other, few)
        self.assertEqual(
            self.sizes_of("--sizes", "specweb99", "--count", "5"),
            self.sizes_of("--sizes", "specweb99", "--count", "5", "--seed", "1"),
        )

    def test_the_list_has_each_name_and_size_and_loadgen_is_told_the_names(self) -> None:
        result = self.make("--sizes", "specweb99", "--count", "30")
        with open(self.folder / "specweb99.csv", newline="", encoding="ascii") as file:
            listed = {row["name"]: int(row["size_bytes"]) for row in csv.DictReader(file)}
        made = self.made_sizes()
        del made["specweb99.csv"]
        self.assertEqual(listed, made)
        self.assertEqual(list(listed)[-1], "specweb99-30.txt")
        self.assertIn("--file 'specweb99-%d.txt' --files 30 ", result.stdout)
        self.assertEqual(os.listdir(self.parent), ["files"])

    def test_a_repeated_run_of_drawn_sizes_makes_only_what_is_missing(self) -> None:
        self.make("--sizes", "specweb99", "--count", "10")
        (self.folder / "specweb99-4.txt").write_bytes(b"cut off")
        result = self.make("--sizes", "specweb99", "--count", "12")
        self.assertIn("3 files made, 9 kept", result.stdout)

    def test_flags_of_sizes_that_contradict_each_other_are_one_line(self) -> None:
        for text, arguments in (
            ("'zipf' is no distribution", ["--sizes", "zipf"]),
            ("'lognormal:10KB' is no", ["--sizes", "lognormal:10KB"]),
            ("'10kb' is not a size", ["--sizes", "lognormal:10kb,1"]),
            ("'lognormal:10KB,-1' is no", ["--sizes", "lognormal:10KB,-1"]),
            (
                "the median is over --largest 9KB",
                ["--sizes", "lognormal:10KB,1", "--largest", "9KB"],
            ),
            ("the median is over --largest 100MB", ["--sizes", "lognormal:1GB,1"]),
            ("--size and --sizes", ["--sizes", "specweb99", "--size", "1KB"]),
            ("from number 1 on", ["--sizes", "specweb99", "--first", "2"]),
            ("--seed is for --sizes", ["--seed", "1"]),
            ("--largest is for --sizes lognormal", ["--sizes", "specweb99", "--largest", "1KB"]),
            ("'-1' is not a number from 0", ["--sizes", "specweb99", "--seed", "-1"]),
        ):
            with self.subTest(text):
                self.assert_one_line(self.make(*arguments), 2, text)
        self.assertFalse(self.folder.exists())

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
