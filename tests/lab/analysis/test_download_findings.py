"""Findings about downloads: each kind is seen, not seen, and cannot be told, where it is so."""

import unittest
from typing import Any

from made_up_downloads import ROW, attempt, attempts, failed

from lab.analysis import attempts as all_attempts
from lab.analysis import download_findings
from lab.analysis.ramp_findings import CANNOT_TELL, NOT_SEEN, SEEN
from lab.plan.claims import DownloadRatio, OfDownload, RoundTripForetold, ShareOfLink
from lab.results.records import Run

OF_ALL: dict[str, Any] = {"text": "a finding", "stage": "lerc-curl", "rows": (ROW,)}
MORE = DownloadRatio(**OF_ALL, channels=4, than="lerc-curl", than_channels=1, above=1.2, below=3.0)
FORETOLD = RoundTripForetold(**OF_ALL, within=0.03)
SHARE = ShareOfLink(**OF_ALL, above=0.8, below=0.9)


def verdict(finding: OfDownload, *runs: Run) -> str | None:
    told = download_findings.judge(
        finding, ROW, lambda stage, row: all_attempts.of_cell(stage, row, runs)
    )
    return told.verdict if told else None


def over(one: list[float], four: list[float]) -> list[Run]:
    return attempts("lerc-curl", 1, *one) + attempts("lerc-curl", 4, *four)


class RatioTest(unittest.TestCase):
    def test_the_whole_interval_must_be_on_one_side(self):
        self.assertEqual(verdict(MORE, *over([3.5, 3.5, 3.6], [5.7, 5.8, 5.7])), SEEN)
        self.assertEqual(verdict(MORE, *over([3.5, 3.5, 3.6], [3.6, 3.5, 3.5])), NOT_SEEN)
        self.assertEqual(verdict(MORE, *over([3.5, 3.5, 3.6], [3.6, 5.0, 3.9])), CANNOT_TELL)

    def test_two_attempts_tell_what_chance_cannot_do(self):
        self.assertEqual(verdict(MORE, *over([3.5, 3.5], [5.7, 5.8])), SEEN)
        self.assertEqual(verdict(MORE, *over([3.5, 3.5], [4.5, 4.5])), CANNOT_TELL)

    def test_one_attempt_tells_nothing(self):
        self.assertEqual(verdict(MORE, *over([3.5], [5.7])), CANNOT_TELL)

    def test_it_needs_both(self):
        self.assertIsNone(verdict(MORE, *attempts("lerc-curl", 1, 3.5, 3.5)))
        both = [*attempts("lerc-curl", 1, 3.5, 3.5), failed("lerc-curl", 4)]
        self.assertEqual(verdict(MORE, *both), CANNOT_TELL)


def trips(channels: int, measured: float, foretold: float) -> list[Run]:
    figures = {"rtt_p50_ms": measured, "rtt_predicted_ms": foretold}
    return attempts("lerc-curl", channels, 3.0, 3.0, **figures)


class ForetoldTest(unittest.TestCase):
    def test_the_worst_number_of_channels_decides(self):
        self.assertEqual(verdict(FORETOLD, *trips(1, 77, 77.4), *trips(4, 310, 309.7)), SEEN)
        self.assertEqual(verdict(FORETOLD, *trips(1, 77, 77.4), *trips(4, 330, 309.7)), NOT_SEEN)

    def test_one_number_of_channels_says_nothing(self):
        self.assertIsNone(verdict(FORETOLD, *trips(1, 77, 77.4)))


class ShareTest(unittest.TestCase):
    def told(self, *shares: float) -> str | None:
        runs = [
            attempt("lerc-curl", 4, 5.0, repeat, share_of_probed=share)
            for repeat, share in enumerate(shares, start=1)
        ]
        return verdict(SHARE, *runs)

    def test_the_best_number_of_channels_decides(self):
        self.assertEqual(self.told(0.85, 0.85, 0.86), SEEN)
        self.assertEqual(self.told(0.95, 0.96, 0.95), NOT_SEEN)
        self.assertEqual(self.told(0.85, 0.95, 0.89), CANNOT_TELL)

    def test_without_a_probe_there_is_none(self):
        self.assertIsNone(verdict(SHARE, *attempts("lerc-curl", 4, 5.0)))


if __name__ == "__main__":
    unittest.main()
