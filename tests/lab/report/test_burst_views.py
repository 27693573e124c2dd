"""What the report says about bursts."""

import unittest

import examples

from lab.results.records import Run


def trials(stage: str, transfers: int, *kilobytes_s: float) -> list[Run]:
    return [
        examples.with_figures(one, simultaneity=0.875, server_rate_bytes_s=1.01 * rate)
        for one in examples.burst_trials(stage, transfers, *(1024 * rate for rate in kilobytes_s))
        if (rate := one.figure("rate_bytes_s"))
    ]


class BurstViewsTest(unittest.TestCase):
    def report(self, experiment: str, runs: list[Run]) -> tuple[str, str]:
        """The summary and the page."""
        page, summary = examples.written(self, experiment, runs)
        return summary, page

    def test_what_the_order_of_repetitions_is_worth_has_a_table(self):
        blocked = trials("order-blocked", 4, 300, 303, 306)
        summary, _ = self.report(
            "000-order", [*trials("order-interleaved", 4, 200, 204, 212), *blocked]
        )
        self.assertRegex(
            summary, r"\| blocked / interleaved \| 1MiB \| 4 \| ×1\.4\d .*\| ×0\.49 \|"
        )
        self.assertNotIn("different / same", summary)

    def test_rates_with_their_intervals_and_the_overlap_stand_beside_the_paper(self):
        runs = [*trials("ours-same", 1, 400, 400), *trials("ours-same", 6, 500, 510, 520)]
        runs += trials("ours-different", 6, 100, 100, 100)
        summary, html = self.report("000-table1", runs)
        self.assertNotIn("orders", summary)
        self.assertIn("The highest rates of 1MiB: ours-same 510 KB/s with 6", summary)
        self.assertRegex(summary, r"\| ours-same \| \(6, same\) \| 510 .*\+1\.0% \| 0\.875 ")
        self.assertRegex(summary, r"\| ours-different \| \(6, different\) \| 100 ")
        self.assertIn("| ours-different | 1MiB | 6 | ×0.20", summary)
        self.assertIn("six transfers of one file are far faster", summary)
        self.assertIn("figures/bursts-000-table1.svg", summary)
        self.assertIn("1388.82", html)  # what the paper printed
        self.assertIn("In the paper, KB/s", html)  # drawn beside ours
        self.assertIn("each burst 3 times", html)
        self.assertIn("Overlap: the sum", html)
        self.assertNotIn("mean value analysis", html)  # a term of sweeps
