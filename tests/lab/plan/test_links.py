"""Links by name and by rate."""

import unittest

from lab.plan import machines
from rig.errors import WrongUsage
from rig.link import Link


class LinksTest(unittest.TestCase):
    def test_a_papers_link_has_its_rate_and_delay(self) -> None:
        lerc = machines.link("lerc")
        self.assertEqual((lerc.bits_per_s, lerc.delay_ms), (6.2e6, 60))
        bundle = machines.link("lerc-bundle")
        self.assertAlmostEqual(bundle.bits_per_s, 6.176e6)
        self.assertEqual(str(bundle), "4 × 1544kbit in turn, 60 ms there and back")

    def test_a_rate_is_a_link_without_delay(self) -> None:
        self.assertEqual(machines.link("10mbit"), Link(rate="10mbit"))
        self.assertEqual(str(machines.link("10mbit")), "10mbit")
        self.assertEqual(str(machines.link("")), "without a rate limit")

    def test_each_has_a_title_and_with_a_delay_a_queue(self) -> None:
        for name, link in machines.links().items():
            with self.subTest(name):
                self.assertTrue(link.title)
                self.assertGreater(link.bits_per_s, 0)
                self.assertEqual(link.queue_bytes > 0, link.delay_ms > 0)

    def test_anything_else_is_told_with_the_names(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "wanted a rate like 10mbit or 1gbit, or lerc, "):
            machines.link("lerk")
