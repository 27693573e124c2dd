"""One attempt to fetch a file: its figures, and what makes it none."""

import unittest
from dataclasses import asdict, replace
from typing import Any

from lab.rig.link import Link
from lab.rig.login import Login
from lab.rig.tcp import InForce
from lab.workloads.client import Attempt, FetchLoad
from lab.workloads.outcome import Result

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
    sent_s=6.4,
    seen=SEEN,
    sent_segments=2000,
    retransmitted_segments=50,
)


def result(**changes: Any) -> Result:
    return LOAD.parse(asdict(replace(ATTEMPT, **changes)))


class ClientTest(unittest.TestCase):
    def test_the_rate_is_that_of_the_process_and_beside_it_that_of_the_log(self) -> None:
        good = result()
        self.assertEqual((good.requests, good.bytes, good.elapsed_s), (1, 4_000_000, 8.0))
        self.assertEqual(LOAD.failures(good), [])
        figures = LOAD.figures(good)
        self.assertEqual(figures["rate_bytes_s"], 500_000)
        self.assertEqual(figures["server_rate_bytes_s"], 625_000)
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

    def test_a_log_that_is_too_coarse_has_no_rate(self) -> None:
        self.assertIsNone(LOAD.figures(result(sent_s=None))["server_rate_bytes_s"])

    def test_an_attempt_that_failed_is_told_and_has_no_rate(self) -> None:
        bad = result(failure="curl ended with status 18; it said nothing")
        self.assertEqual((bad.requests, bad.throughput_rps, bad.errors), (0, 0.0, {"failed": 1}))
        self.assertEqual(
            LOAD.failures(bad), ["the fetch failed: curl ended with status 18, it said nothing"]
        )
        figures = LOAD.figures(bad)
        self.assertEqual(figures["succeeded"], 0.0)
        for name in ("rate_bytes_s", "server_rate_bytes_s", "share_of_probed"):
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
