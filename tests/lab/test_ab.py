"""`lab ab`: its flags, what blocks say, and a small run of two variants for real."""

import argparse
import contextlib
import io
import json
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples
from real_lab import BUILD, disk_folder, lab, why_no_run

from lab import ab, cli
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.planned import Pair
from rig.errors import WrongUsage

PAIR = Pair("A", "B", "1KB")
DISTURBED = "other programs used 60% of the cores"
VARIANTS = tuple(
    ab.Variant(replace(catalog.stages()["turnstile"], name=name), BUILD, flags, "build")
    for name, flags in (("A", ""), ("B", "--model event"))
)
ASKED = ab.Asked("turnstile", "1KB", 8, 3, (VARIANTS[0], VARIANTS[1]))


def trial(side: str, block: int, rate: float, cpu_s: float, failures: str = ""):
    used = examples.usage({"fileserver": rate * cpu_s, "loadgen": rate * 9.0})
    made = examples.run(8, rate, block, used=used)
    return replace(made, cell=Cell(side, "1KB"), pair=PAIR.name, failures=failures)


def blocks(*speeds: float, gain: float = 1.0, cpu: float = 1.0, failures: str = ""):
    """Of machines so fast: B has `gain` of the throughput and `cpu` of the CPU time."""
    return [
        trial(side, number, 1000 * speed * own, own_cpu, failures)
        for number, speed in enumerate(speeds, 1)
        for side, own, own_cpu in (
            ("A", 1.0, 0.001),
            ("B", gain, 0.001 * cpu),
            ("B", gain * 1.02, 0.001 * cpu * 1.01),
            ("A", 1.01, 0.001),
        )
    ]


class BlocksTest(unittest.TestCase):
    def told(self, runs):
        return ab.result(ASKED, ab.counting_blocks(runs, PAIR))

    def test_a_ratio_is_that_within_blocks_so_a_drift_of_the_machine_cancels_out(self):
        found = self.told(blocks(1.0, 0.5, 0.25, gain=1.2, cpu=0.8))
        self.assertAlmostEqual(found["throughput"]["ratio"], 1.2 * (1.02 / 1.01) ** 0.5)
        self.assertAlmostEqual(found["cpu_per_request"]["ratio"], 0.8 * 1.01**0.5)
        self.assertIn("CPU for each request is lower", found["sentence"])
        self.assertIn("throughput is higher", found["sentence"])
        low, high = found["throughput"]["interval"]
        self.assertTrue(1 < low <= found["throughput"]["ratio"] <= high)

    def test_the_cpu_of_the_load_generator_is_not_the_servers(self):
        cpu = trial("A", 1, 100.0, 0.002).servers_cores
        self.assertAlmostEqual(cpu, 0.2)

    def test_where_blocks_differ_by_more_nothing_is_told(self):
        runs = blocks(1.0, 1.0, 1.0)
        runs += [replace(one, repeat=4) for one in blocks(1.0, gain=1.3, cpu=0.7)]
        found = self.told(runs)
        self.assertIn("in 4 blocks: no difference can be told;", found["sentence"])
        self.assertFalse(found["throughput"]["is_told"])

    def test_of_disturbed_blocks_only_the_cpu_is_judged(self):
        found = self.told(blocks(1.0, 0.6, 0.9, gain=1.2, cpu=0.8, failures=DISTURBED))
        self.assertEqual(found["disturbed_blocks"], 3)
        self.assertTrue(found["cpu_per_request"]["is_told"])
        self.assertFalse(found["throughput"]["is_told"])
        self.assertNotIn("throughput is", found["sentence"])

    def test_a_block_with_another_fault_does_not_count(self):
        runs = blocks(1.0, 1.0)
        runs[0] = replace(runs[0], failures=f"{DISTURBED}; the fileserver had 900 threads")
        runs[4] = replace(runs[4], errors="busy 3")
        self.assertEqual(ab.counting_blocks(runs, PAIR), {})

    def test_of_one_block_both_halves_give_an_interval_though_a_wide_one(self):
        found = self.told(blocks(1.0, gain=1.2))
        low, high = found["throughput"]["interval"]
        self.assertTrue(0 < low < 1 < high)


class VariantsTest(unittest.TestCase):
    def variants(self, **given):
        whats = ("flags", "programs", "commit")
        usual = dict.fromkeys(f"{side}_{what}" for side in "ab" for what in whats)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("fileserver", "authserver"):
                (Path(folder) / name).touch()
            parsed = {"stage": "prefetching", "programs": Path(folder), **usual, **given}
            return ab.variants(argparse.Namespace(**parsed), Path(folder))

    def test_flags_take_the_place_of_those_of_the_stage(self):
        a, b = self.variants(b_flags="--files=disk authserver: --model event")
        self.assertIn("prefetch", a.stage.fileserver)
        self.assertNotIn("prefetch", b.stage.fileserver)
        self.assertEqual(b.stage.fileserver[-1], "--files=disk")
        self.assertEqual(b.stage.authserver.count("--model"), 1)
        self.assertEqual(b.stage.authserver[-2:], ("--model", "event"))
        self.assertEqual((a.stage.name, b.stage.name), ("A", "B"))

    def test_two_equal_variants_are_taken(self):
        for given in ({"a_flags": "--model event", "b_flags": "--model event"}, {"b_flags": ""}):
            with self.subTest(given):
                a, b = self.variants(**given)
                self.assertEqual(replace(a.stage, name="B"), b.stage)
                self.assertEqual((a.flags, a.programs), (b.flags, b.programs))

    def test_no_variant_at_all_and_folders_without_programs_are_refused(self):
        with self.assertRaisesRegex(WrongUsage, "nothing is given for A or B"):
            self.variants()
        with self.assertRaisesRegex(WrongUsage, "fileserver, authserver not found in /nowhere"):
            self.variants(b_programs=Path("/nowhere"))

    def test_a_commit_is_built_once_from_a_copy_of_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            source, work = Path(folder) / "source", Path(folder) / "work"
            source.mkdir()
            rule = (
                "all:\n\tmkdir -p build && touch build/fileserver build/authserver && date >> log\n"
            )
            (source / "Makefile").write_text(rule, encoding="utf-8")
            git = ["git", "-C", str(source), "-c", "user.name=x", "-c", "user.email=x@y"]
            for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
                subprocess.run([*git, *command], check=True)
            with mock.patch.object(ab, "_ROOT", source):
                built = [ab.built("HEAD", work), ab.built("HEAD", work)]
                with self.assertRaisesRegex(WrongUsage, "no commit 'no-such'"):
                    ab.built("no-such", work)
            self.assertEqual(built[0], built[1])
            self.assertTrue((built[0] / "fileserver").is_file())
            log = (built[0].parent / "log").read_text(encoding="utf-8")
            self.assertEqual(log.count("\n"), 1)


class UsageTest(unittest.TestCase):
    def status(self, *words: str) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return cli.main(["ab", *words]), said.getvalue()

    def test_what_there_is_not_is_wrong_usage(self):
        for words, text in (
            (["no-such"], "no stage 'no-such'"),
            (["turnstile", "--size", "3KB"], "--size: no '3KB'"),
            (["turnstile", "--blocks", "0"], "--blocks '0': wanted a number from 1 to 1000"),
            (["turnstile", "--threads", "x"], "--threads 'x'"),
            (["turnstile", "--a-flags", "--model=event", "--threads", "x"], "--threads 'x'"),
        ):
            status, said = self.status(*words)
            self.assertEqual(status, 2)
            self.assertIn(text, said)


@unittest.skipIf(why_no_run(), why_no_run())
class SmallRunTest(unittest.TestCase):
    def test_two_variants_are_up_at_once_and_the_last_line_says_how_they_differ(self):
        with tempfile.TemporaryDirectory(dir=disk_folder()) as folder:
            out = Path(folder) / "out"
            command = ["ab", "turnstile", "--b-flags", "--model event", "--size", "1KB"]
            command += ["--threads", "2", "--seconds", "1", "--blocks", "2"]
            command += ["--programs", str(BUILD), "--work", f"{folder}/work", "--out", str(out)]
            made = lab(*command)
            self.assertEqual(made.returncode, 0, made.stderr)
            found = json.loads((out / "ab.json").read_text(encoding="utf-8"))
            self.assertEqual(made.stdout.splitlines(), [found["sentence"]])
            self.assertEqual(found["blocks"], 2)
            for name in ("throughput", "mean_response_time", "cpu_per_request"):
                low, high = found[name]["interval"]
                self.assertTrue(0 < low <= found[name]["ratio"] <= high, found)
            logs = {path.name for path in (out / "logs").glob("*.log")}
            self.assertLessEqual({"A-1KB.fileserver.log", "B-1KB.fileserver.log"}, logs)
