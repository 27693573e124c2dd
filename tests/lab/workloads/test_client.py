"""One attempt to fetch a file: its figures, and what makes it none."""

import unittest
from dataclasses import asdict, replace
from typing import Any

from lab.kinds.client.load import Attempt, FetchLoad, RoundTrip, round_trip
from lab.workloads.outcome import Result
from rig.link import InForce, Link
from rig.login import Login

LERC = Link(rate="6200kbit", delay_ms=60.0, queue_bytes=1_000_000)
LOAD = FetchLoad(
    threads=4,
    server="198.18.0.1:80",
    user="ann",
    password="secret",
    protocol="http",
    name="4MB1.txt",
    size_bytes=4_000_000,
    link=LERC,
    probed_bytes_s=750_000.0,
    congestion="reno",
)
SEEN = InForce(at_once=4, congestion="reno", window_bytes=29_312, mss_bytes=1448, mtu_bytes=1500)


ATTEMPT = Attempt(
    start_s=100.0,
    end_s=108.0,
    failure="",
    sent_bytes=4_000_000,
    seen=SEEN,
    sent_segments=2000,
    retransmitted_segments=50,
    cpu_s=0.2,
)


def result(**changes: Any) -> Result:
    return LOAD.parse(asdict(replace(ATTEMPT, **changes)))


class ClientTest(unittest.TestCase):
    def test_the_rate_is_that_of_the_process(self) -> None:
        good = result()
        self.assertEqual((good.requests, good.bytes, good.elapsed_s), (1, 4_000_000, 8.0))
        self.assertEqual(LOAD.failures(good), [])
        figures = LOAD.figures(good)
        self.assertEqual(figures["rate_bytes_s"], 500_000)
        self.assertNotIn("server_rate_bytes_s", figures)  # the log ends before the link has
        self.assertEqual((figures["channels"], figures["channels_seen"]), (4, 4))
        self.assertEqual((figures["succeeded"], figures["retransmitted"]), (1.0, 0.025))

    def test_bytes_that_were_sent_twice_make_it_no_faster(self) -> None:
        more = result(sent_bytes=5_000_000)
        self.assertEqual(more.bytes, 5_000_000)
        self.assertEqual(LOAD.figures(more)["rate_bytes_s"], 500_000)

    def test_its_rate_is_a_share_of_the_nominal_and_of_the_probed_one(self) -> None:
        figures = LOAD.figures(result())
        self.assertEqual(figures["share_of_nominal"], 500_000 * 8 / 6.2e6)
        self.assertEqual(figures["share_of_probed"], 500_000 / 750_000)
        somewhere = replace(LOAD, link=None, probed_bytes_s=None).figures(result())
        self.assertIsNone(somewhere["share_of_nominal"])
        self.assertIsNone(somewhere["share_of_probed"])

    def test_the_round_trip_is_foretold_or_bounded_but_not_of_a_copy(self) -> None:
        figures = LOAD.figures(result(retransmitted_segments=0))
        assert figures["rtt_predicted_ms"]
        self.assertAlmostEqual(figures["rtt_predicted_ms"], 156.9, places=1)
        self.assertIsNone(figures["rtt_at_most_ms"])
        with_losses = LOAD.figures(result())
        self.assertIsNone(with_losses["rtt_predicted_ms"])
        self.assertEqual(with_losses["rtt_at_most_ms"], figures["rtt_predicted_ms"])
        copied = replace(LOAD, receiver=Login("127.0.0.1:21", "ann", "")).figures(result())
        self.assertIsNone(copied["rtt_at_most_ms"])

    def test_what_its_program_used_of_the_cpu_is_by_the_size_of_the_file(self) -> None:
        self.assertEqual(LOAD.figures(result())["cpu_s_per_gb"], 0.2 / 0.004)
        self.assertIsNone(LOAD.figures(result(failure="no"))["cpu_s_per_gb"])

    def test_what_waited_for_earlier_bytes_is_told_if_the_program_says_it(self) -> None:
        self.assertEqual(LOAD.figures(result(reorder_bytes_max=7))["reorder_bytes_max"], 7)
        self.assertIsNone(LOAD.figures(result())["reorder_bytes_max"])

    def test_what_it_had_when_it_was_killed_and_asked_for_again_is_told(self) -> None:
        killed = replace(LOAD, kills=2)
        figures = killed.figures(
            result(kills=2, true_prefixes=1, again_bytes=1_000_000, sent_bytes=5_500_000)
        )
        self.assertEqual((figures["true_prefixes"], figures["fetched_again"]), (0.5, 0.25))
        self.assertIsNone(killed.figures(result(kills=2))["fetched_again"])

    def test_an_attempt_that_failed_is_told_and_has_no_rate(self) -> None:
        bad = result(failure="curl ended with status 18; it said nothing")
        self.assertEqual((bad.requests, bad.throughput_rps, bad.errors), (0, 0.0, {"failed": 1}))
        self.assertEqual(
            LOAD.failures(bad), ["the fetch failed: curl ended with status 18, it said nothing"]
        )
        figures = LOAD.figures(bad)
        self.assertEqual(figures["succeeded"], 0.0)
        for name in ("rate_bytes_s", "share_of_probed"):
            self.assertIsNone(figures[name], name)

    def test_another_congestion_control_than_the_one_asked_for_is_told(self) -> None:
        found = LOAD.failures(result(seen=replace(SEEN, congestion="bbr,reno")))
        self.assertEqual(found, ["the connections used bbr,reno, not reno"])
        self.assertEqual(replace(LOAD, congestion="").failures(result()), [])
        self.assertEqual(LOAD.failures(result(seen=InForce())), [])  # it was too short to be seen

    def test_of_a_very_short_one_the_samples_say_nothing(self) -> None:
        self.assertTrue(LOAD.can_be_spoiled(result(end_s=100.5)))
        self.assertFalse(LOAD.can_be_spoiled(result(end_s=100.4)))

    def test_a_fetch_that_takes_ten_times_as_long_may_still_end(self) -> None:
        self.assertAlmostEqual(LOAD.run_s, 4e6 * 8 / 6.2e6)
        self.assertGreater(LOAD.timeout_s, 10 * LOAD.run_s)

    def test_a_small_window_and_a_long_way_are_waited_for(self) -> None:
        """20 MB over a satellite, 24,616 bytes in each 540 ms."""
        satellite = replace(LERC, delay_ms=540.0)
        one = replace(LOAD, threads=1, link=satellite, size_bytes=20_000_000, window_bytes=24_616)
        self.assertAlmostEqual(one.run_s, 20e6 / 24_616 * 0.54)
        self.assertGreater(one.timeout_s, 3 * one.run_s)
        self.assertAlmostEqual(replace(one, threads=64).run_s, 20e6 * 8 / 6.2e6)
        copied = replace(one, receiver=Login("198.18.0.1:21", "bob", "secret"))
        self.assertEqual(copied.timeout_s, one.timeout_s)

    def test_another_window_than_the_one_asked_for_is_a_remark(self) -> None:
        asked = replace(LOAD, window_bytes=29_312)
        self.assertEqual(asked.notes(result()), [])
        near = replace(SEEN, window_bytes=29_312 + 1496)
        self.assertEqual(asked.notes(result(seen=near)), [])
        for window_bytes in (14_656, 29_312 + 2 * 1448):
            self.assertEqual(
                asked.notes(result(seen=replace(SEEN, window_bytes=window_bytes))),
                [f"the window in force was of {window_bytes} bytes, not of 29312"],
            )
        self.assertEqual(asked.notes(result(seen=InForce())), [])
        self.assertEqual(LOAD.notes(result(seen=near)), [])  # none was asked for


JPL = Link(rate="3100kbit", delay_ms=20.0, queue_bytes=1_048_576)
# 17 whole segments: 17 packets of 1,500 bytes take 65.8 ms at 3.1 Mbit/s.
ONE_CHANNEL = InForce(
    at_once=1, congestion="reno", window_bytes=24_616, mss_bytes=1448, mtu_bytes=1500
)


def told(channels: int, link: Link | None = JPL, lost: float = 0.0, **changes: Any) -> RoundTrip:
    return round_trip(
        link, replace(ONE_CHANNEL, **{"at_once": channels, **changes}), channels, lost
    )


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
