"""The figure of docs/measuring.md, drawn from made-up times."""

import unittest
from xml.etree import ElementTree

from bench.stall import Curve, drawing

CURVES = [
    Curve("closed loop", "paper", [0.5, 1, 2, 10, 1000]),
    Curve("open loop, from sent", "fileserver", [0.3, 1, 20, 900, 1000]),
    Curve("open loop, from due", "authserver", [0.5, 500, 900, 1000, 1000]),
]


class StallTest(unittest.TestCase):
    def test_each_curve_has_its_name_with_p99_and_each_percentile_its_tick(self) -> None:
        made = drawing(CURVES, "a stall")
        ElementTree.fromstring(made)  # raises unless it is well formed
        for text in ("closed loop: p99 2 ms", "sent: p99 20 ms", "due: p99 900 ms"):
            self.assertIn(text, made)
        for tick in ("p50", "p90", "p99", "p99.9", "max"):
            self.assertIn(f">{tick}<", made)
