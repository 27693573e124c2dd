"""Lets the tests in this folder import what those in tests/e2e share, and the package rig."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# At the end of the path, so that this folder's own modules come first.
sys.path += [str(TESTS / "e2e"), str(TESTS.parent)]
