"""Fitting the universal scalability law."""

import math
import unittest

from lab.analysis import usl


def law_points(
    one: float, contention: float, coherence: float, numbers
) -> list[tuple[float, float]]:
    law = usl.ScalabilityLaw(one, contention, coherence, 1.0)
    return [(n, law.throughput(n)) for n in numbers]


class UniversalScalabilityLawTest(unittest.TestCase):
    def test_data_without_noise_give_their_parameters_back(self):
        law = usl.fit(law_points(995.65, 0.0267, 0.000769, [1, 2, 4, 8, 16, 32, 64]))
        self.assertAlmostEqual(law.rate_of_one, 995.65, places=6)
        self.assertAlmostEqual(law.contention, 0.0267, places=9)
        self.assertAlmostEqual(law.coherence, 0.000769, places=9)
        self.assertAlmostEqual(law.r_squared, 1.0)
        self.assertAlmostEqual(law.peak_n, math.sqrt((1 - 0.0267) / 0.000769), places=5)

    def test_perfect_scaling_has_no_contention_and_no_peak(self):
        law = usl.fit([(n, 100.0 * n) for n in (1, 2, 3, 4)])
        self.assertAlmostEqual(law.contention, 0.0)
        self.assertAlmostEqual(law.rate_of_one, 100.0)
        self.assertGreater(law.peak_n, 1e6)

    def test_amdahls_law_is_the_case_without_coherence(self):
        law = usl.fit(law_points(50.0, 0.2, 0.0, [1, 2, 3, 5, 9]))
        self.assertAlmostEqual(law.contention, 0.2)
        self.assertAlmostEqual(law.coherence, 0.0)

    def test_scaling_better_than_perfect_is_held_at_no_contention(self):
        law = usl.fit([(1, 100.0), (2, 230.0), (4, 520.0), (8, 1000.0)])
        self.assertGreaterEqual(law.contention, 0.0)
        self.assertGreaterEqual(law.coherence, 0.0)

    def test_three_parameters_want_three_points(self):
        self.assertIsNone(usl.fit([(1, 100.0), (2, 190.0)]))
        self.assertIsNone(usl.fit([(1, 100.0), (2, 190.0), (2, 191.0)]))
