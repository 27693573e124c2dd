"""What each group of hosts brought, of records of which it is known."""

import unittest

from made_up_gathered import gathered, transfer

from lab.kinds.ramp.gathered import OfGroup, groups_between


class HostGroupsTest(unittest.TestCase):
    def test_each_group_has_its_rate_its_mean_and_how_even_its_hosts_are(self) -> None:
        """From 0 to 4 s: far a has 100 bytes, far b three times as many, near c one upload."""
        record = gathered(
            transfer("a", 0, 4),
            *(transfer("b", start, start + 1) for start in range(3)),
            transfer("c", 1, 3, group="near"),
        )
        found = groups_between(record, 0, 4)
        self.assertEqual(
            found,
            {
                "far": OfGroup(hosts=2, bytes_per_s=100, mean_ms=1000, fairness=0.8),
                "near": OfGroup(hosts=1, bytes_per_s=25, mean_ms=2000, fairness=1.0),
            },
        )

    def test_lost_hosts_and_uploads_that_failed_or_never_ended_have_no_part(self) -> None:
        record = gathered(
            transfer("a", 0, 4),
            transfer("b", 0, 2),
            transfer("c", 0, None),
            transfer("a", 1, 3, "timeout"),
            lost=("b",),
        )
        (group,) = groups_between(record, 0, 5).values()
        self.assertEqual((group.hosts, group.mean_ms), (1, 4000))

    def test_without_a_plateau_there_is_nothing(self) -> None:
        self.assertEqual(groups_between(gathered(transfer("a", 0, 4)), 4, 4), {})
