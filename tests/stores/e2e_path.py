"""Lets the tests in this folder use what those in tests/e2e share, and the lab's way with programs."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# Behind this folder, so that its own modules come first.
sys.path += [str(TESTS / "e2e"), str(TESTS.parent)]
