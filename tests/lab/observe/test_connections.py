"""What `ss` says of the connections of a load."""

import unittest

from lab.observe import connections
from rig.link import InForce

# Of iproute2 6.1, one line for each connection; without what nobody reads.
_LINE = (
    "0 28960 198.18.0.1:8080 198.18.0.2:40412 "
    "skmem:(r0,rb131072,t0,tb87040,f1024,w46080,o0,bl0,d0) "
    "ts sack {name} wscale:7,7 rto:264 rtt:61.1/0.3 "
    "mss:{mss} pmtu:1500 rcvmss:536 advmss:1448 cwnd:20 bytes_sent:600000 bytes_acked:{acked} "
    "segs_out:420 data_segs_out:415 send 3.8Mbps lastsnd:4 pacing_rate 7.5Mbps unacked:20 "
    "rcv_space:14480 rcv_ssthresh:64088 minrtt:60.2 snd_wnd:{window}\n"
)


def line(name: str = "reno", window: int = 29312, acked: int = 571040, mss: int = 1448) -> str:
    return _LINE.format(name=name, window=window, acked=acked, mss=mss)


class ConnectionsTest(unittest.TestCase):
    def test_the_window_is_what_the_other_end_offers(self) -> None:
        seen = connections.read(line() + line(window=28000))
        self.assertEqual(
            seen,
            InForce(
                at_once=2,
                congestion="reno",
                window_bytes=29312,
                mss_bytes=1448,
                mtu_bytes=1500,
                kernel_bytes=2 * (1024 + 46080),
            ),
        )

    def test_a_connection_without_data_is_none_of_them(self) -> None:
        seen = connections.read(line() + line("cubic", window=65535, acked=400))
        self.assertEqual((seen.at_once, seen.window_bytes, seen.congestion), (1, 29312, "reno"))
        self.assertEqual(connections.read(""), InForce())

    def test_an_ss_that_does_not_tell_the_window_leaves_it_unknown(self) -> None:
        seen = connections.read(line().replace("snd_wnd:29312", ""))
        self.assertEqual((seen.at_once, seen.window_bytes), (1, None))

    def test_over_time_the_most_counts_and_every_name(self) -> None:
        whole = connections.together(
            connections.read(text)
            for text in (line(), line("bbr", window=3000) + line(window=2000), "")
        )
        self.assertEqual((whole.at_once, whole.window_bytes), (2, 29312))
        self.assertEqual(whole.congestion, "bbr,reno")
        self.assertEqual(whole.kernel_bytes, 2 * (1024 + 46080))
        self.assertEqual(connections.together([]), InForce())

    def test_it_can_be_stopped_again_and_without_a_connection_there_is_nothing(self) -> None:
        watched = connections.Connections("127.254.254.254")
        watched.start()
        watched.stop()
        watched.stop()
        self.assertEqual(watched.seen(), InForce())
