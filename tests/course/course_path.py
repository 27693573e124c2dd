"""Lets the tests in this folder import the project's packages, and what is in tests/lab."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent

# At the end of the path, so that this folder's own modules come first.
sys.path += [str(ROOT), str(TESTS), str(TESTS / "lab")]
