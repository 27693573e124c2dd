"""The round trip beside a download: foretold by whole windows, or bounded without them."""

import unittest
from dataclasses import replace
from typing import Any

from lab.kinds.client.load import RoundTrip, round_trip
from rig.link import InForce, Link

JPL = Link(rate="3100kbit", delay_ms=20.0, queue_bytes=1_048_576)
# 17 whole segments: 17 packets of 1,500 bytes take 65.8 ms at 3.1 Mbit/s.
SEEN = InForce(at_once=1, congestion="reno", window_bytes=24_616, mss_bytes=1448, mtu_bytes=1500)


def told(channels: int, link: Link | None = JPL, lost: float = 0.0, **changes: Any) -> RoundTrip:
    return round_trip(link, replace(SEEN, **{"at_once": channels, **changes}), channels, lost)


class RoundTripTest(unittest.TestCase):
    def require(self, found: RoundTrip, ms: float) -> None:
        assert found.ms
        self.assertAlmostEqual(found.ms, ms, places=1)
        self.assertIsNone(found.at_most_ms)

    def test_whole_packets_of_all_windows_are_under_way(self) -> None:
        for channels, wanted in ((1, 65.8), (4, 263.2), (10, 658.1)):
            self.require(told(channels), wanted)

    def test_the_rest_of_a_window_goes_as_a_short_packet(self) -> None:
        """24 KiB are 16 whole segments and 1,408 bytes; eight of them took 520 ms."""
        self.require(told(8, window_bytes=24_576), 525.6)

    def test_it_is_no_less_than_the_delay(self) -> None:
        self.require(told(1, window_bytes=3712), 20.0)

    def test_channels_that_were_not_there_fill_nothing(self) -> None:
        self.assertEqual(told(8, at_once=2), told(2))

    def test_where_the_queue_overflows_there_is_a_bound_and_no_value(self) -> None:
        short = replace(JPL, queue_bytes=31_000)
        self.require(told(1, short), 65.8)
        self.assertEqual(told(4, short), RoundTrip(at_most_ms=20.0 + 80.0))
        four_lines = replace(JPL, rate="775kbit", lines=4, queue_bytes=31_000)  # of all
        self.assertEqual(told(4, four_lines), RoundTrip(at_most_ms=20.0 + 80.0))

    def test_where_segments_were_sent_again_there_is_a_bound_and_no_value(self) -> None:
        self.require(told(4, lost=0.001), 263.2)
        found = told(4, lost=0.02)
        self.assertIsNone(found.ms)
        self.assertEqual(found.at_most_ms, told(4).ms)

    def test_nothing_is_foretold_without_a_window_or_a_delay(self) -> None:
        self.assertEqual(told(1, window_bytes=None), RoundTrip())
        self.assertEqual(told(1, mss_bytes=None), RoundTrip())
        self.assertEqual(told(1, Link(rate="100mbit")), RoundTrip())
        self.assertEqual(told(1, None), RoundTrip())


if __name__ == "__main__":
    unittest.main()
