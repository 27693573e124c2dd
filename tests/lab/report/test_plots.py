"""What is drawn lies within its axes."""

import unittest
from unittest import mock

from lab.report import plots
from lab.report.plots import BarGroup


class BarsTest(unittest.TestCase):
    def test_no_bar_of_the_paper_is_cut_off(self):
        ours = BarGroup("redis", "#d55e00", [10.0, 100.0], [None, (90.0, 110.0)])
        papers = BarGroup("redis", "#d55e00", [23_090.0, 1.0], [None, None])
        with mock.patch.object(plots, "svg") as svg:
            plots.bars([ours], [papers], ["new", "1KB"])
        (figure,) = svg.call_args.args
        for axes in figure.axes:
            low, high = axes.get_ylim()
            self.assertLess(low, 1.0)
            self.assertGreater(high, 23_090.0)


if __name__ == "__main__":
    unittest.main()
