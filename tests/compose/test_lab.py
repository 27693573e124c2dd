"""The service `lab`: experiments in a container, with results in a folder of the caller."""

import csv
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from engine import SETTINGS, System

USER, GROUP = 12345, 12346
IMAGE = f"{SETTINGS['IMAGES']}/lab:{SETTINGS['TAG']}"
TINY = ["--quick", "--threads", "1,2", "--seconds", "1", "--repeat", "1", "--sizes", "1KB"]


class LabTest(unittest.TestCase):
    system: System
    results: Path

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.results = Path(temporary.name)
        if os.geteuid() == 0:
            os.chown(cls.results, USER, GROUP)
        cls.system = System(RESULTS=temporary.name)
        cls.addClassCleanup(cls.system.remove)

    def lab(self, *words: str, check: bool = True) -> str:
        return self.system.compose("run", "--rm", "-T", "lab", *words, check=check)

    def test_nothing_is_missing_that_the_main_paper_needs(self) -> None:
        found = self.lab("doctor", "all", "--quick", check=False)
        self.assertIn("about ", found)
        self.assertNotIn("missing", found)
        for name in ("may drop caches", "network namespace of its own", "test files are on a disk"):
            self.assertRegex(found, rf"ok +{name} +yes")

    def test_an_experiment_leaves_a_report_that_belongs_to_the_owner_of_the_folder(self) -> None:
        stages = ("multithreaded", "redis")  # MySQL with cold files, and Redis
        # On a busy machine no point may be valid, and then the status is 3.
        self.lab("run", "table4", *TINY, "--anyway", "--stages", ",".join(stages), check=False)
        (made,) = self.results.iterdir()
        self.assertTrue((made / "report.html").exists())
        with open(made / "points.csv", newline="", encoding="utf-8") as file:
            points = {(row["stage"], row["threads"]) for row in csv.DictReader(file)}
        self.assertEqual(points, {(stage, threads) for stage in stages for threads in "12"})
        mine = self.results.stat()
        for path in (made, *made.rglob("*")):
            found = path.stat()
            self.assertEqual((found.st_uid, found.st_gid), (mine.st_uid, mine.st_gid), path)

    def test_a_container_with_fewer_privileges_says_what_it_cannot_measure(self) -> None:
        command = [
            "docker",
            "run",
            "--rm",
            "--network",
            "none",
            IMAGE,
            "run",
            "prefetch",
            "--quick",
        ]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertEqual(
            refused.stderr.splitlines()[-1],
            "lab: the stage multithreaded cannot be measured: run it as root in a privileged "
            "container, or on the host itself, or add --anyway to measure the rest",
        )
