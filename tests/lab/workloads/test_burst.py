"""A burst: its command line, and what its result says."""

import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.kinds.burst import load as burst

LOAD = burst.Burst(
    server="127.0.0.1:1",
    threads=4,
    user="ann",
    password="secret",
    size_name="1MiB",
    size_bytes=1 << 20,
    same_file=False,
    flags=("--protocol", "ftp"),
)

# What `loadgen get --threads 4 --release transfer --requests 1 --json` has beside the rest.
ROUND = {
    "transfers": 4,
    "failed": 0,
    "bytes": 4 << 20,
    "span_s": 2.0,
    "rate_bytes_s": float(2 << 20),
    "simultaneity": 0.9,
    "release_spread_ms": 0.5,
    "first_byte_ms": 3.0,
}


def result(**changes):
    return examples.result(LOAD, burst={**ROUND, **changes})


class BurstTest(unittest.TestCase):
    def test_one_round_of_files_that_are_the_same_or_differ(self):
        different = " ".join(LOAD.command_flags())
        self.assertIn("--threads 4 --user ann --release transfer --requests 1", different)
        self.assertTrue(different.endswith("--file 1MiB%d.txt --unique 1 --protocol ftp"))
        same = " ".join(replace(LOAD, same_file=True).command_flags())
        self.assertTrue(same.endswith("--file 1MiB1.txt --protocol ftp"), same)
        self.assertNotIn("secret", same + different)

    def test_the_group_of_the_server_is_held(self):
        held = " ".join(replace(LOAD, hold=Path("/group")).command_flags())
        self.assertIn("--release transfer --requests 1 --hold /group", held)
        self.assertNotIn("--hold", " ".join(LOAD.command_flags()))

    def test_other_programs_can_be_seen_only_in_a_burst_that_is_long_enough(self):
        self.assertTrue(LOAD.can_be_spoiled(result()))
        self.assertFalse(LOAD.can_be_spoiled(result(span_s=0.01)))

    def test_the_rate_is_that_of_the_span(self):
        found = result()
        self.assertEqual((found.elapsed_s, found.throughput_rps), (2.0, 2.0))
        self.assertEqual(LOAD.figures(found)["rate_bytes_s"], 2 << 20)
        self.assertEqual(LOAD.failures(found), [])

    def test_every_transfer_must_have_taken_place_whole(self):
        self.assertEqual(LOAD.failures(result(transfers=3)), ["3 of 4 transfers ()"])
        self.assertEqual(LOAD.failures(result(bytes=7)), ["7 bytes are not 4 transfers of 1048576"])

    def test_transfers_one_after_the_other_are_no_fault(self):
        self.assertEqual(LOAD.failures(result(simultaneity=0.25)), [])
