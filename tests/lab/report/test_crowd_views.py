"""What the report says about crowds."""

import unittest
from typing import Any

import examples
from examples import crowd_trial

from lab.results.environment import StackRecord
from lab.results.records import Run


class CrowdViewsTest(unittest.TestCase):
    def written(self, experiment: str, runs: list[Run]) -> tuple[str, str]:
        """The page and the summary."""
        asks = {"asks whom": "a file, by PAM"}
        stack = StackRecord(commands={}, pinning="", store="", store_settings=asks, durability="")
        stacks = {"vsftpd-10KB-crowd": stack}
        return examples.written(self, experiment, runs, descriptors=20_000, stacks=stacks)

    def test_the_most_users_and_what_each_needs(self):
        each: dict[str, Any] = {"processes_each": 2.0, "proportional_bytes_each": 395_000.0}
        runs = [
            crowd_trial("vsftpd", 250, 250, **each),
            crowd_trial("vsftpd", 500, 400, errors="too-slow 100"),
            crowd_trial("vsftpd", 312, 300, errors="too-slow 12"),
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
        _, summary = self.written("001-servers", [crowd_trial("vsftpd", 250, 250)])
        self.assertIn("vsftpd ≥ 250, not ended.", summary)

    def test_trials_that_are_not_valid_are_told(self):
        late = "load generator: loadgen itself was late"
        runs = [crowd_trial("vsftpd", 250, 250), crowd_trial("vsftpd", 500, 90, failures=late)]
        _, summary = self.written("001-servers", runs)
        self.assertIn("vsftpd ≥ 250, not ended, trials not valid: 1.", summary)
        _, summary = self.written("001-servers", runs[1:])
        self.assertIn("vsftpd no valid trial of 1.", summary)
        self.assertNotIn("| 500 | 90 |", summary)

    def test_users_that_are_left(self):
        runs = [
            crowd_trial("vsftpd-10mbit", 50, 50, "100KB"),
            crowd_trial("vsftpd-10mbit", 300, 211, "100KB"),
        ]
        _, summary = self.written("001-10mbit", runs)
        self.assertRegex(summary, r"\| 300 \| 211 \|")

    def test_engines_are_drawn_over_the_users(self):
        runs = [
            crowd_trial(f"engine-{engine}", users, users, signal_overflows=7.0)
            for engine in ("poll", "sigio")
            for users in (730, 3000)
        ]
        html, summary = self.written("001-engines", runs)
        self.assertIn("Cores of the load generator", html)
        self.assertRegex(summary, r"\| sigio \| 3000 \| 3000 \|")
