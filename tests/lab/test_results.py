"""The kept results of docs/results: the files in the tree give the summary in the tree.

After a change of the lab's wording or rules, `make results-summary` writes the summaries again.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from lab import cli

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def kept_folders() -> list[Path]:
    return sorted(path.parent for path in RESULTS.glob("*/points.csv"))


class KeptResultsTest(unittest.TestCase):
    def test_there_are_kept_results(self) -> None:
        self.assertNotEqual(kept_folders(), [])

    def test_the_kept_files_give_the_kept_summary_and_each_figure_that_it_names(self) -> None:
        for kept in kept_folders():
            with self.subTest(kept.name), tempfile.TemporaryDirectory() as folder:
                rendered = Path(folder) / kept.name
                shutil.copytree(kept, rendered)
                (rendered / "summary.md").unlink()
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(cli.main(["report", str(rendered)]), 0)
                summary = (rendered / "summary.md").read_bytes()
                self.assertTrue(
                    summary == (kept / "summary.md").read_bytes(),
                    f"{kept.name}/summary.md is stale; `make results-summary` writes it again",
                )
                figures = re.findall(r"\]\((figures/[^)]+\.svg)\)", summary.decode())
                self.assertNotEqual(figures, [])
                for figure in figures:
                    self.assertTrue((rendered / figure).is_file(), figure)


if __name__ == "__main__":
    unittest.main()
