"""The mutations that the controls make still fit the sources."""

import importlib
import unittest
from pathlib import Path

import promise  # noqa: F401 - makes the modules of tests/mutants known
from table import MODULES
from tree import Mutation

ROOT = Path(__file__).resolve().parents[2]


def mutations() -> list[Mutation]:
    modules = [importlib.import_module(name) for name in MODULES]
    return [one for module in modules for one in vars(module).values() if isinstance(one, Mutation)]


class ControlsTest(unittest.TestCase):
    def test_the_text_that_a_control_changes_is_in_its_file_once(self) -> None:
        self.assertGreater(len(mutations()), 4)
        for mutation in mutations():
            with self.subTest(mutation.name):
                count = (ROOT / mutation.file).read_text().count(mutation.old)
                self.assertEqual(count, 1, f"not in {mutation.file} once:\n{mutation.old}")
