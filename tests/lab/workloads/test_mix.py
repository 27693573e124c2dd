"""A closed loop of readers and writers: its command line and figures, and what is not valid."""

import unittest
from dataclasses import replace
from typing import Any

import examples

from lab.kinds.mix import load as mix
from lab.workloads.outcome import Result

READERS = mix.MixedLoop(
    **{**vars(examples.GET), "threads": 4, "flags": ("--protocol", "http")},
    kinds="",
    zipf=0.9,
    files=1000,
    seed=3,
)
WRITERS = replace(READERS, kinds="get:90,put:9,new:1")


def part(requests: int, ms: float, files: int) -> dict[str, Any]:
    return {
        "requests": requests,
        "throughput_rps": requests / 2,
        "bytes": files * 1000,
        "errors": {"total": 0},
        "response_time_ms": {"mean": ms, "p50": ms, "p90": ms, "p99": 2 * ms, "max": 3 * ms},
    }


KINDS = {"get": part(7200, 1.0, 7200), "put": part(720, 4.0, 720), "new": part(80, 50.0, 0)}


def mixed(**changes: Any) -> Result:
    usual = {"connection": "keep-alive", "kinds": KINDS, "bytes": 7_920_000}
    return examples.result(WRITERS, **{**usual, **changes})


def pages(memory: float, disk: float, in_memory: float) -> dict[str, float]:
    return {
        'turnstile_file_sends_total{source="memory"}': memory,
        'turnstile_file_sends_total{source="disk"}': disk,
        "turnstile_files_in_memory": in_memory,
    }


class MixTest(unittest.TestCase):
    def test_files_are_drawn_by_their_popularity_and_kinds_by_their_shares(self):
        flags = " ".join(WRITERS.command_flags())
        self.assertIn("get --server 127.0.0.1:1 --threads 4 ", flags)
        self.assertIn("--file 1KB%d.txt --files 1000 --popularity zipf:0.9 --seed 3 ", flags)
        self.assertTrue(
            flags.endswith("--mix get:90,put:9,new:1 --size 1000 --protocol http"), flags
        )
        self.assertNotIn("--unique", flags)

    def test_only_a_put_has_a_size(self):
        flags = replace(WRITERS, kinds="get:99,new:1").command_flags()
        self.assertEqual(flags[flags.index("--mix") + 1], "get:99,new:1")
        self.assertNotIn("--size", flags)

    def test_without_writers_there_is_no_mix(self):
        flags = READERS.command_flags()
        self.assertNotIn("--mix", flags)
        self.assertNotIn("--size", flags)

    def test_each_kind_has_its_figures_and_no_p99_of_few_requests(self):
        self.assertEqual(WRITERS.failures(mixed()), [])
        figures = WRITERS.figures(mixed())
        self.assertEqual([figures[f"{kind}_rps"] for kind in mix.KINDS], [3600.0, 360.0, 40.0])
        self.assertEqual([figures[f"{kind}_p50_ms"] for kind in mix.KINDS], [1.0, 4.0, 50.0])
        self.assertEqual([figures[f"{kind}_p99_ms"] for kind in mix.KINDS], [2.0, 8.0, None])
        self.assertEqual(figures["n_check"], 1.0)

    def test_readers_have_only_those_of_gets(self):
        figures = READERS.figures(examples.result(READERS))
        self.assertEqual(figures["get_rps"], 4000.0)
        self.assertEqual([name for name in figures if name.startswith(("put", "new"))], [])
        self.assertEqual(READERS.failures(examples.result(READERS)), [])

    def test_a_new_account_has_no_bytes_and_each_file_has_all_of_its_own(self):
        self.assertEqual(
            WRITERS.failures(mixed(bytes=8_000_000)),
            ["8000000 bytes are not 7920 files of 1000"],
        )
        self.assertEqual(
            READERS.failures(examples.result(READERS, bytes=7)),
            ["7 bytes are not 8000 files of 1000"],
        )

    def test_a_mix_in_which_a_kind_never_succeeded_is_not_valid(self):
        kinds = {**KINDS, "put": part(0, 0.0, 0)}
        self.assertEqual(
            WRITERS.failures(mixed(kinds=kinds, bytes=7_200_000)), ["no put succeeded"]
        )

    def test_a_mix_is_checked_as_a_closed_loop(self):
        late = mixed(valid=False, invalid_because=["it stood still"])
        self.assertIn("load generator: it stood still", WRITERS.failures(late))

    def test_hits_are_those_of_the_run_and_not_of_what_was_before(self):
        found = WRITERS.figures_of_server(pages(100, 900, 250), pages(400, 1000, 280))
        self.assertEqual(
            found,
            {"hit_share": 0.75, "files_in_memory": 250, "files_written_to_memory": 30},
        )

    def test_where_no_file_was_sent_the_hits_are_not_known(self):
        page = pages(5, 5, 250)
        self.assertIsNone(WRITERS.figures_of_server(page, page)["hit_share"])

    def test_each_figure_is_declared(self):
        made = {
            *WRITERS.figures(mixed()),
            *WRITERS.figures_of_server(pages(0, 0, 0), pages(1, 1, 1)),
        }
        self.assertEqual(made - {"n_check"}, {one.name for one in mix.FIGURES})
