"""loadgen: loops of users that share threads have the series that those of threads have."""

import test_loadgen_distribution
import test_loadgen_series
from loadgen_scene import GET, slow_file
from peers import Peer


class UsersDistributionTest(test_loadgen_distribution.LoadgenDistributionTest):
    shares_threads = True


class UsersSeriesTest(test_loadgen_series.LoadgenSeriesTest):
    shares_threads = True

    def test_bytes_of_a_cool_down_do_not_count_beside_a_slow_request_that_does(self) -> None:
        peer = self.scene.keep(Peer(slow_file("f1", 1.5)))
        flags = ("--file", "f%d", "--unique", 100_000, "--users", 4, "--threads", 1)
        self.assert_sums(*GET, *flags, "--seconds", 0.3, server=peer)
