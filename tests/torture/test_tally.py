"""What the run of all promises says at its end."""

import contextlib
import importlib.machinery
import importlib.util
import io
import unittest
from pathlib import Path

from promise import Figure


def run_program():
    """The module of tests/torture/run."""
    loader = importlib.machinery.SourceFileLoader("run", str(Path(__file__).with_name("run")))
    spec = importlib.util.spec_from_loader("run", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class TallyTest(unittest.TestCase):
    def test_what_failed_is_said_once_more_before_the_sum(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            tally = run_program().Tally()
            tally.check("a", False, Figure(False, "why"), ("kept  ", "BROKEN"))
            tally.check("b", True, Figure(True, "well"), ("kept  ", "BROKEN"))
            tally.close()
        self.assertEqual(
            said.getvalue().splitlines(),
            ["BROKEN a: why", "kept   b: well", "BROKEN a: why", "1 passed, 1 failed, 0 skipped"],
        )
