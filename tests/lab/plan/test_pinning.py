"""The pinning plans, and the check that the kernel follows them."""

import os
import unittest

from lab.plan import pinning
from lab.plan.catalog import Cell
from rig import cores
from rig.errors import Failed, WrongUsage


class PinningTest(unittest.TestCase):
    def test_a_placement_limits_the_fileserver_of_its_cell_only(self):
        placement = pinning.Placement("none", (0, 1, 2))
        self.assertEqual(placement.of(Cell("redis", "1KB", 2)).cores["fileserver"], (0, 1))
        self.assertEqual(placement.of(Cell("redis", "1KB")), placement.of_run())
        self.assertEqual(placement.of_run().cores["fileserver"], (0, 1, 2))

    def test_four_cores_give_each_component_its_own(self):
        plan = pinning.choose("auto", (0, 1, 2, 3))
        self.assertEqual(
            plan.cores, {"fileserver": (0,), "authserver": (1,), "store": (2,), "loadgen": (3,)}
        )

    def test_two_cores_are_not_pinned_unless_asked(self):
        self.assertEqual(set(pinning.choose("auto", (0, 1)).cores.values()), {(0, 1)})

    def test_tiers_on_two_cores_keeps_the_fileserver_alone_and_says_what_that_means(self):
        plan = pinning.choose("tiers", (0, 1))
        self.assertEqual(plan.cores["fileserver"], (0,))
        self.assertEqual(plan.cores["loadgen"], (1,))
        self.assertIn("4 cores and there are 2", plan.meaning)

    def test_split_separates_the_load_generator(self):
        plan = pinning.choose("split", (0, 1))
        self.assertEqual((plan.cores["store"], plan.cores["loadgen"]), ((0,), (1,)))

    def test_cores_can_be_given_by_hand(self):
        plan = pinning.choose("fileserver=0,loadgen=1", (0, 1))
        self.assertEqual(
            (plan.cores["fileserver"], plan.cores["loadgen"], plan.cores["store"]),
            ((0,), (1,), (0, 1)),
        )

    def test_a_core_that_is_not_there_is_wrong_usage(self):
        for plan in ("fileserver=7", "disk=0", "fileserver=", "nonsense"):
            with self.assertRaises(WrongUsage):
                pinning.choose(plan, (0, 1))

    def test_a_generator_on_another_host_takes_no_core(self):
        for plan in ("auto", "none", "tiers", "fileserver=0"):
            chosen = pinning.Placement(plan, (0, 1, 2), is_generator_here=False).of_run()
            self.assertEqual(set(chosen.cores), {"fileserver", "authserver", "store"})
        self.assertEqual(
            pinning.Placement("auto", (0, 1, 2), is_generator_here=False).of_run().plan, "tiers"
        )
        with self.assertRaisesRegex(WrongUsage, "on another host"):
            pinning.Placement("split", (0, 1), is_generator_here=False).of_run()

    def test_the_others_keep_their_cores_while_the_fileservers_grow(self):
        for count in (1, 2, 3):
            chosen = pinning.choose("auto", tuple(range(6)), fileserver_cores=count).cores
            self.assertEqual(
                (chosen["fileserver"], chosen["loadgen"]), (tuple(range(count)), (3, 4, 5))
            )
        self.assertEqual(
            pinning.choose("auto", (0, 1), fileserver_cores=1).cores["loadgen"], (0, 1)
        )

    def test_the_kernels_lists_are_read(self):
        self.assertEqual(cores.parse_cores("0-2,5"), (0, 1, 2, 5))

    def test_pinning_is_verified_from_the_kernel(self):
        cores.verify_cores("fileserver", os.getpid(), cores.usable_cores())
        with self.assertRaises(Failed):
            cores.verify_cores("fileserver", os.getpid(), (1023,))
