"""What the report says about downloads, and what it draws."""

import unittest

import examples
from made_up_downloads import attempts, failed

from lab.kinds.client import analysis as all_attempts
from lab.kinds.client import words
from lab.plan import catalog

PACKETS = {"mtu_bytes": 1500, "mss_bytes": 1448}
SHARE = 0.97 * 1448 / 1500
CURL = [
    *attempts("lerc-curl", 1, 3.5, 3.6, rtt_p50_ms=62, rtt_predicted_ms=60),
    *attempts("lerc-curl", 4, 5.7, 5.79, rtt_p50_ms=330, rtt_predicted_ms=331),
    *attempts("lerc-curl", 8, 5.7, 5.8, share_of_nominal=SHARE, rtt_p50_ms=120, **PACKETS),
]
BOUND = {"rtt_p50_ms": 120, "rtt_at_most_ms": 144.6}


def counted_of(one: all_attempts.Attempts) -> list[str]:
    """The cells of what a client counts."""
    line = words.Line("a", catalog.stages()["lerc-curl"], one)
    return [column.cell(line) for column in words.RATES[-3:-1]]


class PageTest(unittest.TestCase):
    def test_the_first_page_has_a_sentence_for_each_client(self):
        page, summary = examples.written(self, "004-figure1", CURL)
        said = (
            "lerc-curl: 5.75 Mbit/s over 8 channels, 97% of the link less its headers; "
            "3.55 over 1 channel; round trips of 62 ms became 120 ms over 8."
        )
        self.assertIn(said, page)
        self.assertIn(said, summary)

    def test_a_stage_of_two_experiments_has_one_sentence(self):
        names = ["004-figure1", "004-figure3"]
        page, _ = examples.written(self, "004-figure1", CURL, options=examples.options(*names))
        self.assertEqual(page.count("<p>lerc-curl: 5.75 Mbit/s"), 1)
        self.assertRegex(page, "<h1>lerc-curl: 5.75 Mbit/s over 8 channels, 97% of[^;]*</h1>")

    def test_round_trips_without_a_delay_are_not_worth_a_word(self):
        short = [
            *attempts("lerc-curl", 1, 3.5, 3.6, rtt_p50_ms=0.4),
            *attempts("lerc-curl", 4, 5.7, 5.8, rtt_p50_ms=1.2),
        ]
        page, _ = examples.written(self, "004-figure1", short)
        self.assertNotIn("round trips of", page)

    def test_over_a_link_of_the_command_line_nothing_is_judged(self):
        runs = [*attempts("lerc-channels", 1, 3.5, 3.6), *attempts("lerc-channels", 4, 5.7, 5.8)]
        for link, is_judged in ((None, True), ("satellite", False)):
            options = examples.options("004-figure1", link=link)
            page, _ = examples.written(self, "004-figure1", runs, options=options)
            self.assertEqual("What the paper found" in page, is_judged)
            self.assertEqual("to LeRC (here the link is satellite)" in page, not is_judged)

    def test_the_table_counts_attempts_and_marks_the_best(self):
        _, summary = examples.written(self, "004-figure1", [*CURL, failed("lerc-curl", 8, 3)])
        (line,) = (line for line in summary.splitlines() if "| 4 ✓ |" in line)
        self.assertIn("ours.lerc.curl.get", line)
        (line,) = (line for line in summary.splitlines() if "2 of 3" in line)
        self.assertIn("| 8 |", line)  # it is faster, but more than one of five failed
        self.assertIn("1 attempt failed.", summary)

    def test_what_the_client_counts_is_in_the_table(self):
        counted = {"cpu_s_per_gb": 1.234, "reorder_bytes_max": 98_000.0}
        (one,) = all_attempts.of_cell("lerc-curl", "2MB", attempts("lerc-curl", 8, 5.0, **counted))
        self.assertEqual(counted_of(one), ["98.0", "1.23"])
        (one,) = all_attempts.of_cell("lerc-curl", "2MB", attempts("lerc-curl", 8, 5.0))
        self.assertEqual(counted_of(one), ["", ""])

    def test_the_best_number_stands_beside_the_fewest_that_are_as_good(self):
        _, summary = examples.written(self, "004-figure1", CURL)
        (line,) = (line for line in summary.splitlines() if "| 1, 4, 8 |" in line)
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        self.assertEqual(
            [cells[at] for at in (0, 2, 4, 5)], ["ours.lerc.curl.get", "8", "4, 8", "4"]
        )
        self.assertIn("5.75", cells[3])
        self.assertIn("3.55", cells[7])

    def test_where_none_is_good_the_page_says_so(self):
        runs = [*attempts("lerc-curl", 1, 3.5), failed("lerc-curl", 1, 2)]
        _, summary = examples.written(self, "004-figure1", runs)
        self.assertIn("with no number of channels did four of five attempts succeed", summary)

    def test_round_trips_stand_beside_what_was_foretold(self):
        _, summary = examples.written(self, "004-figure3", CURL)
        (line,) = (line for line in summary.splitlines() if "| 331.0 |" in line)
        self.assertIn("330.0", line)
        bounded = attempts("lerc-curl", 16, 5.0, 5.1, **BOUND)
        _, summary = examples.written(self, "004-figure3", [*CURL, *bounded])
        (line,) = (line for line in summary.splitlines() if "| ≤ 144.6 |" in line)
        self.assertIn("| 16 |", line)


class SeriesTest(unittest.TestCase):
    def test_they_are_named_as_in_the_paper(self):
        stages = catalog.stages()
        self.assertEqual(words.series(stages["lerc-gridftp"], ""), "gridftp.lerc.gridftp.get")
        self.assertEqual(words.series(stages["loopback-curl"], ""), "ours.loopback.curl.get")
        self.assertEqual(words.series(stages["lerc-curl"], "satellite"), "ours.satellite.curl.get")

    def test_no_two_of_an_experiment_have_the_same_name(self):
        stages = catalog.stages()
        for experiment in catalog.choose_experiments(["004"]):
            names = [words.series(stages[name], "") for name in experiment.stages]
            self.assertEqual(len(names), len(set(names)), experiment.name)
