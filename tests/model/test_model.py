"""All that clients are told, beside somebody who changes the folder, is explained by a model.

tests/model/run plays longer.
"""

import sys
import unittest
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(_TESTS / "e2e"), str(_TESTS.parent)]

import disks  # noqa: E402
import own_network  # noqa: E402
from rounds import Plan, play  # noqa: E402

from rig.errors import WrongBytes  # noqa: E402

SECONDS = 5.0


def setUpModule() -> None:
    own_network.enter()  # where it may not, others may disturb the rounds


class ModelTest(unittest.TestCase):
    def assert_explained(self, *plans: Plan) -> None:
        for plan in plans:
            with self.subTest(str(plan)):
                try:
                    result = play(plan)
                except disks.NoSuchDisk as reason:
                    self.skipTest(str(reason))
                if result.complaints:
                    raise WrongBytes("\n".join(result.complaints))
                self.assertGreater(result.asked, 0)

    def test_prefetched_files(self) -> None:
        self.assert_explained(
            Plan(1, "prefetch", "here", SECONDS), Plan(2, "prefetch", "tmpfs", SECONDS, "event")
        )

    def test_files_on_disk(self) -> None:
        self.assert_explained(
            Plan(3, "disk", "here", SECONDS, "event"), Plan(4, "disk", "tmpfs", SECONDS)
        )

    def test_a_disk_that_keeps_whole_seconds(self) -> None:
        self.assert_explained(
            Plan(5, "prefetch", "coarse", SECONDS), Plan(6, "disk", "coarse", SECONDS, "event")
        )
