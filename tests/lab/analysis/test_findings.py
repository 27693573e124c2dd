"""How the paper's findings are judged."""

import unittest
from dataclasses import replace

import examples

from lab.analysis import findings
from lab.analysis.cells import Analysis
from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN
from lab.plan.catalog import Cell
from lab.plan.claims import Gain, Limit, Scaling


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
SAME = [100.0, 100.0, 100.0]
EQUAL = replace(FASTER, rows=("1KB",), is_equal=True)


class FindingsTest(unittest.TestCase):
    def check(self, finding, *cases) -> None:
        """cases: the rates before, those after, and the verdict."""
        for before, after, expected in cases:
            with self.subTest(before=before, after=after):
                (line,) = findings.judge(finding, analysis(before, after))
                self.assertEqual(line.verdict, expected)

    def test_a_clear_gain_is_seen_and_a_clear_loss_is_not(self):
        slow, fast = [100.0, 101.0, 99.0], [200.0, 202.0, 198.0]
        self.check(FASTER, (slow, fast, SEEN), (fast, slow, NOT_SEEN))

    def test_a_gain_within_the_noise_tells_nothing(self):
        self.check(FASTER, ([100.0, 110.0, 90.0], [104.0, 100.0, 98.0], CANNOT_TELL))

    def test_a_narrow_interval_around_1_shows_that_there_is_no_gain(self):
        self.check(FASTER, ([100.0, 100.1, 99.9], [100.1, 100.0, 100.0], NOT_SEEN))

    def test_a_gain_that_95_percent_would_confirm_needs_99(self):
        # ratios 1.07, 1.10 and 1.13: 1.03 to 1.18 at 95%, 0.94 to 1.29 at 99%
        self.check(FASTER, (SAME, [107.0, 110.0, 113.0], CANNOT_TELL))

    def test_likeness_needs_the_whole_interval_within_the_margin(self):
        self.check(
            EQUAL,
            (SAME, [104.0, 105.0, 106.0], SEEN),
            (SAME, [118.0, 85.0, 150.0], CANNOT_TELL),
            (SAME, [128.0, 130.0, 132.0], NOT_SEEN),
        )

    def test_without_an_interval_there_is_no_likeness(self):
        two = [100.0, 101.0]
        self.check(EQUAL, ([100.0], [110.0], CANNOT_TELL), (two, two[::-1], CANNOT_TELL))

    def test_without_an_interval_a_gain_must_be_large_in_both_passes(self):
        two = [100.0, 70.0]
        self.check(
            FASTER,
            (two, [160.0, 112.0], SEEN),
            (two, [160.0, 85.0], CANNOT_TELL),
            (two, [60.0, 40.0], NOT_SEEN),
            ([100.0], [200.0], CANNOT_TELL),
        )

    def test_a_gain_side_by_side_is_judged_in_its_blocks(self):
        both = analysis([100.0], [100.0])
        blocks = [
            replace(run, repeat=block, pair="prefetching:redis", throughput_rps=rate)
            for block in (1, 2, 3)
            for run, rate in zip((*both.runs, *both.runs), (100.0, 150.0, 100.0, 150.0))
        ]
        (line,) = findings.judge(FASTER, Analysis([*both.runs, *blocks], examples.ENVIRONMENT))
        self.assertEqual(line.verdict, SEEN)
        self.assertAlmostEqual(line.gain.median, 1.5)

    def test_another_store_says_nothing_about_the_paper(self):
        self.assertEqual(findings.judge(FASTER, analysis([100.0], [200.0], store="sqlite")), [])

    def test_a_maximum_that_was_not_reached_tells_nothing(self):
        both = analysis([100.0, 101.0, 99.0], [200.0, 202.0, 198.0])
        better = replace(both.runs[0], repeat=4, throughput_rps=900.0, failures="X·R is 0.9 of N")
        (line,) = findings.judge(FASTER, Analysis([*both.runs, better], examples.ENVIRONMENT))
        self.assertEqual((line.verdict, line.is_lower_bound), (CANNOT_TELL, True))

    def test_the_papers_own_gain_is_inside_our_interval_or_not(self):
        of_paper = replace(FASTER, rows=("1KB",), paper="002")
        for before, after, is_inside in (
            (SAME, [230.0, 235.0, 240.0], True),
            (SAME, [150.0, 151.0, 152.0], False),
            ([100.0], [235.0], None),
        ):
            (line,) = findings.judge(of_paper, analysis(before, after))
            self.assertAlmostEqual(line.paper or 0, 23154.2 / 9932.58)
            self.assertEqual(line.is_paper_inside, is_inside)

    def test_a_bottleneck_is_held_to_the_resource_that_is_named(self):
        def verdict(cpu: dict[str, float], core_busy: float = 0.97, **limit) -> str:
            return self.of_limit(examples.usage(cpu, core_busy=core_busy), **limit)

        mysql = {"store": 1.1, "authserver": 0.5, "fileserver": 0.2, "loadgen": 0.1}
        self.assertEqual(verdict(mysql, owner="MySQL"), SEEN)
        self.assertEqual(verdict(mysql, owner="fileserver"), NOT_SEEN)
        self.assertEqual(verdict(mysql, owner="MySQL", is_absent=True), NOT_SEEN)
        self.assertEqual(verdict(mysql, kind="disk"), NOT_SEEN)
        self.assertEqual(verdict(mysql, core_busy=0.5, owner="MySQL"), CANNOT_TELL)

    def test_a_component_of_a_shared_cpu_is_the_limit_or_none_only_if_that_is_clear(self):
        used = {"store": 0.8, "authserver": 0.75, "fileserver": 0.2, "loadgen": 0.15}
        shared = examples.usage(used, core_busy=0.97)
        for owner, it_is, it_is_not in (
            ("MySQL", CANNOT_TELL, CANNOT_TELL),
            ("authserver", CANNOT_TELL, CANNOT_TELL),
            ("fileserver", NOT_SEEN, SEEN),
        ):
            self.assertEqual(self.of_limit(shared, owner=owner), it_is)
            self.assertEqual(self.of_limit(shared, owner=owner, is_absent=True), it_is_not)
        self.assertEqual(self.of_limit(shared, kind="cpu"), SEEN)

    def test_the_load_generator_as_the_limit_tells_nothing_about_the_servers(self):
        used = examples.usage({"fileserver": 0.8, "loadgen": 1.1}, core_busy=0.97)
        self.assertEqual(self.of_limit(used, owner="fileserver"), CANNOT_TELL)
        self.assertEqual(self.of_limit(used, kind="disk"), CANNOT_TELL)

    def test_two_resources_alike_exclude_only_the_others(self):
        both = examples.usage(core_busy=0.97, disk=examples.disk_usage(0.95, read=1e8))
        self.assertEqual(self.of_limit(both, kind="disk"), CANNOT_TELL)
        self.assertEqual(self.of_limit(both, kind="cpu"), CANNOT_TELL)
        self.assertEqual(self.of_limit(both, kind="network"), NOT_SEEN)

    def test_a_lower_bound_confirms_no_bottleneck(self):
        full = examples.usage(core_busy=0.97)
        better = examples.run(8, 2000.0, used=full, failures="X·R is 0.9 of N")
        self.assertEqual(self.of_limit(full, kind="cpu"), SEEN)
        self.assertEqual(self.of_limit(full, better, kind="cpu"), CANNOT_TELL)

    def of_limit(self, used, *further, **limit) -> str:
        runs = [
            replace(examples.run(threads, 1000.0, used=used), cell=Cell("prefetching", "1KB"))
            for threads in (1, 2, 4)
        ]
        (line,) = findings.judge(
            Limit(text="a limit", stage="prefetching", rows=("1KB",), **limit),
            Analysis([*runs, *further], examples.ENVIRONMENT),
        )
        return line.verdict

    def test_more_cores_are_compared_with_one(self):
        runs = [
            replace(examples.run(1, rate, repeat), cell=Cell("prefetching", "1KB", cores))
            for cores, rates in ((1, (100.0, 101.0, 99.0)), (2, (150.0, 151.0, 149.0)))
            for repeat, rate in enumerate(rates, 1)
        ]
        finding = Scaling(text="more cores", stage="prefetching", rows=("1KB",))
        (line,) = findings.judge(finding, Analysis(runs, examples.ENVIRONMENT))
        self.assertEqual((line.verdict, line.cores), (SEEN, (1, 2)))
        self.assertAlmostEqual(line.gain.median, 1.5, delta=0.01)
        self.assertEqual(findings.judge(finding, Analysis(runs[:3], examples.ENVIRONMENT)), [])

    def test_rows_that_were_not_measured_have_no_line(self):
        self.assertEqual(
            findings.judge(replace(FASTER, rows=("10KB",)), analysis([1.0], [2.0])), []
        )
