"""Lets the tests in this folder import rig, and what is in tests/e2e and tests/torture."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# At the end of the path, so that this folder's own modules come first.
sys.path += [str(TESTS / "e2e"), str(TESTS.parent), str(TESTS / "torture")]
