"""Findings about downloads: each kind is seen, not seen, and cannot be told, where it is so."""

import unittest
from typing import Any

from made_up_downloads import ROW, attempt, attempts, failed

from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN
from lab.kinds.client import analysis as all_attempts
from lab.kinds.client import findings as download_findings
from lab.plan.claims import OfDownload, Ratio, RoundTripForetold, ShareOfLink, Side
from lab.results.records import Run

OF_ALL: dict[str, Any] = {"text": "a finding", "stage": "lerc-curl", "rows": (ROW,)}
MORE = Ratio(
    text="a finding",
    kind="client",
    here=Side(stage="lerc-curl", at=4),
    there=Side(stage="lerc-curl", at=1),
    rows=(ROW,),
    above=1.2,
    below=3.0,
)
FORETOLD = RoundTripForetold(**OF_ALL, within=0.03)
SHARE = ShareOfLink(**OF_ALL, above=0.8, below=0.9)


def verdict(finding: OfDownload | Ratio, *runs: Run) -> str | None:
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
        self.assertEqual(verdict(MORE, *over([3.5, 3.5], [3.6, 3.61])), NOT_SEEN)
        self.assertEqual(verdict(MORE, *over([3.5, 3.5], [4.2, 4.6])), CANNOT_TELL)

    def test_two_that_agree_by_luck_have_the_noise_of_all_over_the_link(self):
        near = over([3.5, 3.5], [4.4, 4.4])
        self.assertEqual(verdict(MORE, *near), SEEN)
        noisy = attempts("lerc-curl", 8, 4.0, 5.0)
        self.assertEqual(verdict(MORE, *near, *noisy), CANNOT_TELL)
        others = attempts("lerc-curl", 8, 4.4, 4.41) + attempts("lerc-lftp", 1, 3.0, 5.0)
        self.assertEqual(verdict(MORE, *near, *others), SEEN)
        stuck = attempts("stuck-curl", 8, 2.0, 4.0)
        self.assertEqual(verdict(MORE, *near, *stuck), SEEN)

    def test_a_program_has_the_same_noise_however_it_is_used(self):
        less = Ratio(
            text="less CPU",
            kind="client",
            here=Side(stage="loopback-saved", at=8),
            there=Side(stage="loopback-saved-plain", at=1),
            rows=(ROW,),
            below=1.1,
        )
        runs = attempts("loopback-saved", 8, 5.0, 5.1) + attempts("loopback-saved-plain", 1, 5, 5.1)
        self.assertEqual(verdict(less, *runs), CANNOT_TELL)
        more = attempts("loopback-channels", 1, 5.0, 5.1) + attempts("loopback-saved", 1, 5.0, 5.1)
        self.assertEqual(verdict(less, *runs, *more), SEEN)

    def test_even_without_noise_less_than_a_percent_is_not_told(self):
        self.assertEqual(verdict(MORE, *over([5.0, 5.0], [6.1, 6.1])), SEEN)
        self.assertEqual(verdict(MORE, *over([5.0, 5.0], [6.04, 6.04])), CANNOT_TELL)

    def test_one_attempt_tells_nothing(self):
        others = attempts("lerc-curl", 8, 5.0, 5.01)
        self.assertEqual(verdict(MORE, *over([3.5], [5.7]), *others), CANNOT_TELL)

    def test_it_needs_both(self):
        self.assertIsNone(verdict(MORE, *attempts("lerc-curl", 1, 3.5, 3.5)))
        both = [*attempts("lerc-curl", 1, 3.5, 3.5), failed("lerc-curl", 4)]
        self.assertEqual(verdict(MORE, *both), CANNOT_TELL)


def trips(channels: int, measured: float, foretold: float | None, **changes: Any) -> list[Run]:
    """Three attempts of 5.3 s, whose round trips differ by a thousandth."""
    figures = {**({"rtt_predicted_ms": foretold} if foretold else {}), **changes}
    return [
        attempt("lerc-curl", channels, 3.0, at, rtt_p50_ms=times * measured, **figures)
        for at, times in enumerate((0.999, 1.0, 1.001), start=1)
    ]


class ForetoldTest(unittest.TestCase):
    def test_the_worst_number_of_channels_decides(self):
        two = trips(2, 154, 154.8)
        self.assertEqual(verdict(FORETOLD, *two, *trips(4, 310, 309.7)), SEEN)
        self.assertEqual(verdict(FORETOLD, *two, *trips(4, 330, 309.7)), NOT_SEEN)

    def test_at_the_very_bound_it_cannot_be_told(self):
        for measured in (103.1, 102.9):
            found = [*trips(2, 154, 154.8), *trips(4, 3 * measured, 300)]
            self.assertEqual(verdict(FORETOLD, *found), CANNOT_TELL)

    def test_two_attempts_have_the_noise_of_all(self):
        runs = [*trips(2, 154, 154.8)[:2], *trips(4, 310, 309.7)[:2]]
        self.assertEqual(verdict(FORETOLD, *runs), SEEN)
        noisy = attempts("lerc-curl", 8, 3.0, rtt_p50_ms=500)
        noisy += [attempt("lerc-curl", 8, 3.0, 2, rtt_p50_ms=700)]
        self.assertEqual(verdict(FORETOLD, *runs, *noisy), CANNOT_TELL)

    def test_one_number_of_channels_says_nothing_and_one_channel_is_none(self):
        self.assertIsNone(verdict(FORETOLD, *trips(4, 310, 309.7)))
        self.assertIsNone(verdict(FORETOLD, *trips(1, 77, 77.4), *trips(4, 310, 309.7)))

    def test_what_no_value_was_foretold_for_is_not_judged(self):
        both = [*trips(2, 154, 154.8), *trips(4, 310, 309.7)]
        self.assertEqual(verdict(FORETOLD, *both, *trips(8, 120, None)), SEEN)

    def test_nor_is_an_attempt_of_few_round_trips_or_of_which_answers_were_lost(self):
        both = [*trips(2, 154, 154.8), *trips(4, 310, 309.7)]
        self.assertEqual(verdict(FORETOLD, *both, *trips(32, 700, 800)), NOT_SEEN)
        self.assertEqual(verdict(FORETOLD, *both, *trips(32, 700, 2000)), SEEN)
        self.assertEqual(verdict(FORETOLD, *both, *trips(32, 700, 800, rtt_lost=0.1)), SEEN)


class ShareTest(unittest.TestCase):
    def told(self, *shares: float, **packets: float) -> str | None:
        """Of what is left of the link beside the headers."""
        kept = {"mtu_bytes": 1500, "mss_bytes": 1448, **packets}
        runs = [
            attempt("lerc-curl", 4, 5.0, repeat, share_of_nominal=share * 1448 / 1500, **kept)
            for repeat, share in enumerate(shares, start=1)
        ]
        return verdict(SHARE, *runs)

    def test_the_best_number_of_channels_decides(self):
        self.assertEqual(self.told(0.85, 0.85, 0.86), SEEN)
        self.assertEqual(self.told(0.95, 0.96, 0.95), NOT_SEEN)
        self.assertEqual(self.told(0.85, 0.95, 0.89), CANNOT_TELL)

    def test_the_interval_is_one_of_99_percent(self):
        self.assertEqual(self.told(0.85, 0.865, 0.86), CANNOT_TELL)

    def test_a_probe_over_the_same_lines_is_no_measure_of_them(self):
        runs = attempts("lerc-curl", 4, 5.0, 5.0, share_of_probed=0.85)
        self.assertIsNone(verdict(SHARE, *runs))
