"""What the report says about crowds."""

import unittest

import examples

from lab.plan.catalog import CROWD, Cell
from lab.results.environment import StackRecord
from lab.results.records import Run


def trial(stage: str, row: str, users: int, held: int, **changes) -> Run:
    cell = Cell(stage, row, workload=CROWD)
    return examples.run(users, cell=cell, users_held=float(held), store="", **changes)


class CrowdViewsTest(unittest.TestCase):
    def written(self, experiment: str, runs: list[Run]) -> tuple[str, str]:
        """The page and the summary."""
        asks = {"asks whom": "a file, by PAM"}
        stack = StackRecord(commands={}, pinning="", store="", store_settings=asks, durability="")
        stacks = {"vsftpd-10KB-crowd": stack}
        return examples.written(self, experiment, runs, descriptors=20_000, stacks=stacks)

    def test_the_most_users_and_what_each_needs(self):
        each = {"processes_each": 2.0, "proportional_bytes_each": 395_000.0}
        runs = [
            trial("vsftpd", "10KB", 250, 250, **each),
            trial("vsftpd", "10KB", 500, 400, errors="too-slow 100"),
            trial("vsftpd", "10KB", 312, 300, errors="too-slow 12"),
        ]
        html, summary = self.written("001-servers", runs)
        self.assertIn("The most users of 10KB that hold: vsftpd 250.", summary)
        self.assertRegex(
            summary, r"\| vsftpd \| a file, by PAM \| 10KB \| 3600 \| 250 \| 312 \| 2 "
        )
        self.assertIn("395 kB", summary)
        self.assertIn("too-slow 12", summary)
        self.assertIn("betaftpd 0.0.8pre11", html)  # what the paper printed
        self.assertIn("figures/most-users-10KB.svg", summary)

    def test_a_search_that_did_not_end_says_so(self):
        _, summary = self.written("001-servers", [trial("vsftpd", "10KB", 250, 250)])
        self.assertIn("vsftpd ≥ 250, not ended.", summary)

    def test_users_that_are_left(self):
        runs = [
            trial("vsftpd-10mbit", "100KB", 50, 50),
            trial("vsftpd-10mbit", "100KB", 300, 211),
        ]
        _, summary = self.written("001-10mbit", runs)
        self.assertRegex(summary, r"\| 300 \| 211 \|")

    def test_engines_are_drawn_over_the_users(self):
        runs = [
            trial(f"engine-{engine}", "10KB", users, users, signal_overflows=7.0)
            for engine in ("poll", "sigio")
            for users in (730, 3000)
        ]
        html, summary = self.written("001-engines", runs)
        self.assertIn("Cores of the load generator", html)
        self.assertRegex(summary, r"\| sigio \| 3000 \| 3000 \|")
