"""The figures of the host come from what is sampled."""

import unittest

from lab.observe.figures import FIGURES, GROUPS, HOST
from lab.observe.sampler import Sampler

_NOT_OF_EVERY_KERNEL = "host.run_delay_s"


class HostFiguresTest(unittest.TestCase):
    def test_each_figure_of_the_host_is_sampled(self):
        with Sampler({}, "lo") as sampler:
            pass
        sampled = {*sampler.samples()[-1].values, _NOT_OF_EVERY_KERNEL}
        named = {figure.sample for figure in FIGURES.values() if figure.group == HOST}
        self.assertLessEqual(named, sampled)

    def test_each_is_in_a_group_of_columns(self):
        self.assertEqual({figure.group for figure in FIGURES.values()}, set(GROUPS))
