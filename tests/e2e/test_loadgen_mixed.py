"""loadgen with work that is not all alike: drawn files."""

import unittest

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import BUILD


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
class LoadgenMixedTest(LoadgenScene):
    def asked(self, *flags: object) -> list[bytes]:
        """What a run asked a server for, in order."""
        peer = self.scene.keep(Peer(one_byte_file))
        self.result(*GET, "--file", "f%d", *flags, server=peer)
        return [line for line in peer.lines if line != GET_LINE]

    def test_each_request_draws_a_file_and_the_first_ones_most_often(self) -> None:
        flags = ("--files", 3, "--requests", 1100, "--connection", "keep-alive")
        lines = self.asked(*flags, "--popularity", "zipf:1")
        drawn = [lines.count(b"f%d\n" % number) for number in (1, 2, 3)]
        self.assertEqual(sum(drawn), 1100)
        for count, expected in zip(drawn, (600, 300, 200), strict=True):
            self.assertAlmostEqual(count, expected, delta=75)  # over five standard deviations

    def test_a_seed_draws_the_same_files_again(self) -> None:
        flags = ("--files", 1000, "--requests", 20)
        first = self.asked(*flags, "--seed", 5)
        self.assertEqual(self.asked(*flags, "--seed", 5), first)
        self.assertNotEqual(self.asked(*flags, "--seed", 6), first)
        together = (*flags, "--threads", 4, "--seed", 5)
        self.assertEqual(sorted(self.asked(*together)), sorted(self.asked(*together)))

    def test_files_that_are_drawn_are_served(self) -> None:
        self.serve()
        flags = ("--files", 12, "--requests", 50, "--threads", 2)
        result = self.result(*GET, "--file", "file%d", *flags)
        self.assertEqual((result["requests"], self.errors(result)), (100, {}))
        result = self.result(*GET, "--file", "file%d", "--files", 13, *flags[2:], status=1)
        self.assertEqual(set(self.errors(result)), {"not-found"})
