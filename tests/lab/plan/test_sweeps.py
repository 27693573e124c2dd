"""Which numbers of threads a cell is swept over."""

import tempfile
import unittest
from pathlib import Path

from lab.plan import plan
from lab.plan.catalog import NEW, Cell
from lab.plan.plan import Options, Plan


def planned(threads: tuple[int, ...] | None = None) -> Plan:
    options = Options(experiments=("table4",), mode="full", pin="none", threads=threads)
    with tempfile.TemporaryDirectory() as files:
        return plan.make(options, (0, 1), Path(files))


class SweepsTest(unittest.TestCase):
    def test_there_are_no_more_threads_than_files(self) -> None:
        """Each thread asks for files of its own; one without a file would only have errors."""
        made = planned()
        files = made.file_counts["100MB"]
        self.assertLess(files, made.sweep(Cell("redis", "1KB")).ladder[-1])
        self.assertEqual(made.sweep(Cell("redis", "100MB")).ladder, (1, 2, 4, 8, 16, 32, files))

    def test_a_new_account_needs_no_file(self) -> None:
        self.assertEqual(planned().sweep(Cell("redis", NEW)).ladder[-1], 1024)

    def test_numbers_that_the_user_named_are_measured_as_they_are(self) -> None:
        self.assertEqual(planned((8, 300)).sweep(Cell("redis", "100MB")).ladder, (8, 300))


if __name__ == "__main__":
    unittest.main()
