"""The figure of docs/measuring.md, drawn from made-up times."""

import re
import unittest
from xml.etree import ElementTree

from bench.stall import Curve, svg

CURVES = [
    Curve("closed", "closed loop", [0.5, 1, 2, 10, 1000]),
    Curve("service", "open loop, from sent", [0.3, 1, 20, 900, 1000]),
    Curve("response", "open loop, from due", [0.5, 500, 900, 1000, 1000]),
]


class StallTest(unittest.TestCase):
    def test_each_curve_has_its_label_and_p99(self) -> None:
        drawing = svg(CURVES, "a stall")
        ElementTree.fromstring(drawing)  # raises unless it is well formed
        for text in ("closed loop", "from sent", "from due", "p99 2 ms", "p99 20 ms", "p99 900 ms"):
            self.assertIn(text, drawing)

    def test_a_point_stands_at_its_value_on_the_logarithmic_axis(self) -> None:
        drawing = svg(CURVES, "a stall")
        lines = re.findall(r"M72 (\d+)H.*?/>\n<text[^>]*>([\d.]+) ms", drawing)
        height = {float(value): int(y) for y, value in lines}
        self.assertEqual(set(height), {0.1, 1, 10, 100, 1000})
        points = re.search(r'closed" points="([^"]+)"', drawing)
        assert points
        heights = [int(point.split(",")[1]) for point in points.group(1).split()]
        self.assertEqual(
            [heights[1], heights[3], heights[4]], [height[1], height[10], height[1000]]
        )


if __name__ == "__main__":
    unittest.main()
