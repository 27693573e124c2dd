"""How the paper's findings are judged."""

import unittest
from dataclasses import replace

import examples

from lab.analysis import findings
from lab.analysis.cells import Analysis
from lab.plan.catalog import Cell
from lab.plan.claims import Gain, Limit, Scaling
from lab.report import finding_views


def analysis(before: list[float], after: list[float], store: str = "") -> Analysis:
    stores = {"prefetching": "mysql", "redis": "redis"}
    runs = [
        replace(
            examples.run(1, rate, repeat), cell=Cell(stage, "1KB"), store=store or stores[stage]
        )
        for stage, rates in (("prefetching", before), ("redis", after))
        for repeat, rate in enumerate(rates, 1)
    ]
    return Analysis(runs, examples.ENVIRONMENT)


FASTER = Gain(text="Redis is faster", before="prefetching", after="redis", rows=("1KB", "10KB"))
EQUAL = replace(FASTER, rows=("1KB",), is_equal=True)


class FindingsTest(unittest.TestCase):
    def verdict(self, finding, before, after) -> str:
        (line,) = findings.judge(finding, analysis(before, after))
        return line.verdict

    def test_a_clear_gain_confirms_and_a_clear_loss_refutes(self):
        self.assertEqual(
            self.verdict(FASTER, [100.0, 101.0, 99.0], [200.0, 202.0, 198.0]), findings.CONFIRMED
        )
        self.assertEqual(
            self.verdict(FASTER, [200.0, 202.0, 198.0], [100.0, 101.0, 99.0]), findings.REFUTED
        )

    def test_a_gain_within_the_noise_tells_nothing(self):
        self.assertEqual(
            self.verdict(FASTER, [100.0, 110.0, 90.0], [104.0, 100.0, 98.0]), findings.UNDECIDED
        )

    def test_comparable_is_within_fifteen_percent(self):
        self.assertEqual(self.verdict(EQUAL, [100.0], [110.0]), findings.CONFIRMED)
        self.assertEqual(self.verdict(EQUAL, [100.0], [130.0]), findings.REFUTED)

    def test_without_an_interval_a_gain_must_be_larger(self):
        self.assertEqual(self.verdict(FASTER, [100.0], [108.0]), findings.UNDECIDED)
        self.assertEqual(self.verdict(FASTER, [100.0], [112.0]), findings.CONFIRMED)

    def test_another_store_says_nothing_about_the_paper(self):
        self.assertEqual(findings.judge(FASTER, analysis([100.0], [200.0], store="sqlite")), [])

    def test_comparable_is_not_refuted_while_the_interval_reaches_so_far(self):
        self.assertEqual(
            self.verdict(EQUAL, [100.0, 120.0, 80.0], [120.0, 140.0, 100.0]), findings.UNDECIDED
        )

    def test_a_bottleneck_is_held_to_the_resource_that_is_named(self):
        def verdict(cpu: dict[str, float], core_busy: float = 0.97, **limit) -> str:
            used = examples.usage(cpu, core_busy=core_busy)
            runs = [
                replace(examples.run(threads, 1000.0, used=used), cell=Cell("prefetching", "1KB"))
                for threads in (1, 2, 4)
            ]
            (line,) = findings.judge(
                Limit(text="a limit", stage="prefetching", rows=("1KB",), **limit),
                Analysis(runs, examples.ENVIRONMENT),
            )
            return line.verdict

        mysql = {"store": 0.9, "authserver": 0.5, "fileserver": 0.2, "loadgen": 0.3}
        self.assertEqual(verdict(mysql, owner="MySQL"), findings.CONFIRMED)
        self.assertEqual(verdict(mysql, owner="fileserver"), findings.REFUTED)
        self.assertEqual(verdict(mysql, owner="MySQL", is_absent=True), findings.REFUTED)
        self.assertEqual(verdict(mysql, kind="disk"), findings.REFUTED)
        self.assertEqual(verdict({**mysql, "authserver": 0.85}, owner="MySQL"), findings.UNDECIDED)
        self.assertEqual(verdict(mysql, core_busy=0.5, owner="MySQL"), findings.UNDECIDED)

    def test_more_cores_are_compared_with_one(self):
        runs = [
            replace(examples.run(1, rate, repeat), cell=Cell("prefetching", "1KB", cores))
            for cores, rates in ((1, (100.0, 101.0, 99.0)), (2, (150.0, 151.0, 149.0)))
            for repeat, rate in enumerate(rates, 1)
        ]
        finding = Scaling(text="more cores", stage="prefetching", rows=("1KB",))
        (line,) = findings.judge(finding, Analysis(runs, examples.ENVIRONMENT))
        self.assertEqual((line.verdict, line.cores), (findings.CONFIRMED, (1, 2)))
        self.assertRegex(finding_views.evidence(line), r"^1 → 2 cores ×1\.50 \(")
        self.assertEqual(findings.judge(finding, Analysis(runs[:3], examples.ENVIRONMENT)), [])

    def test_rows_that_were_not_measured_have_no_line(self):
        self.assertEqual(
            findings.judge(replace(FASTER, rows=("10KB",)), analysis([1.0], [2.0])), []
        )


if __name__ == "__main__":
    unittest.main()
