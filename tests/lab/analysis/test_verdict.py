"""The rule that names the bottleneck."""

import unittest

from lab.analysis.verdict import Resource, judge


def named(
    busy: float, name: str = "MySQL's disk writes", demand_s: float | None = None
) -> Resource:
    return Resource(kind="disk", name=name, by_pass={1: busy}, demand_s=demand_s)


class VerdictTest(unittest.TestCase):
    def test_the_busiest_resource_over_ninety_percent_is_named_with_its_numbers(self):
        found = judge([named(0.96, demand_s=0.0041), named(0.86, "CPU")], 0.010, True, False)
        self.assertEqual(found.label, "MySQL's disk writes")
        self.assertEqual(
            found.sentence,
            "MySQL's disk writes: 96% busy; its demand is 41% of the response time at N = 1.",
        )

    def test_from_seventy_percent_on_it_is_called_close(self):
        found = judge([named(0.75)], None, True, False)
        self.assertEqual(found.label, "MySQL's disk writes (close)")
        self.assertIn("close to its limit", found.sentence)

    def test_saturated_without_a_busy_resource_says_so(self):
        found = judge([named(0.30), named(0.69, "CPU")], None, True, False)
        self.assertEqual(found.label, "none over 70%")
        self.assertIn("look for locks, sleeps or limits", found.sentence)
        self.assertIn("CPU: 69% busy", found.sentence)

    def test_a_rising_throughput_has_no_bottleneck_yet(self):
        self.assertEqual(judge([named(0.85)], None, False, False).label, "not saturated")

    def test_a_full_resource_is_the_bottleneck_even_if_throughput_still_rose(self):
        self.assertEqual(judge([named(0.95)], None, False, False).label, "MySQL's disk writes")

    def test_the_load_generator_comes_before_everything(self):
        self.assertEqual(judge([named(0.99)], None, True, True).label, "load generator")

    def test_a_full_link_is_named_even_if_the_cpu_is_not_idle(self):
        link = Resource(kind="network", name="the link", by_pass={1: 0.99})
        self.assertEqual(judge([link, named(0.75, "CPU")], None, True, False).label, "the link")

    def test_loopback_is_named_only_where_nothing_else_is_close(self):
        loopback = Resource(kind="loopback", name="the loopback network", by_pass={1: 1.0})
        self.assertEqual(judge([loopback, named(0.93, "CPU")], None, True, False).label, "CPU")
        self.assertEqual(
            judge([loopback, named(0.80, "CPU")], None, True, False).label, "CPU (close)"
        )
        self.assertEqual(
            judge([loopback, named(0.60, "CPU")], None, True, False).label, "the loopback network"
        )

    def test_what_is_named_is_there_for_who_wants_to_judge_it(self):
        self.assertEqual(judge([named(0.95)], None, True, False).named, named(0.95))
        self.assertIsNone(judge([named(0.95)], None, True, True).named)
        self.assertIsNone(judge([named(0.50)], None, True, False).named)

    def test_two_that_are_alike_are_listed_and_none_is_named(self):
        found = judge([named(0.96), named(0.94, "CPU")], None, True, False)
        self.assertEqual(found.label, "MySQL's disk writes and CPU alike")
        self.assertIsNone(found.named)
        self.assertIn("cannot be told", found.sentence)
        found = judge([named(0.79), named(0.78, "CPU")], None, True, False)
        self.assertEqual(found.label, "MySQL's disk writes and CPU alike (close)")

    def test_a_resource_must_lead_in_every_pass(self):
        disk = Resource(kind="disk", name="disk", by_pass={1: 0.97, 2: 0.97, 3: 0.97})
        cpu = Resource(kind="cpu", name="CPU", by_pass={1: 0.5, 2: 0.5, 3: 0.93})
        self.assertEqual(judge([disk, cpu], None, True, False).label, "disk and CPU alike")
        cpu = Resource(kind="cpu", name="CPU", by_pass={1: 0.9, 2: 0.9, 3: 0.91})
        self.assertEqual(judge([disk, cpu], None, True, False).label, "disk")

    def test_with_fewer_than_three_passes_the_lead_must_be_larger(self):
        for passes, label in ((2, "disk and CPU alike"), (3, "disk")):
            each = range(1, passes + 1)
            disk = Resource(kind="disk", name="disk", by_pass=dict.fromkeys(each, 0.97))
            cpu = Resource(kind="cpu", name="CPU", by_pass=dict.fromkeys(each, 0.90))
            self.assertEqual(judge([disk, cpu], None, True, False).label, label)

    def test_a_full_core_and_the_one_thread_that_fills_it_are_the_same(self):
        core = Resource(kind="cpu", name="CPU of Redis", by_pass={1: 0.99}, owners=("Redis",))
        thread = Resource(kind="thread", name="thread", by_pass={1: 0.98}, owners=("Redis",))
        self.assertEqual(judge([core, thread], None, True, False).named, core)

    def test_a_cpu_that_the_load_generator_fills_is_no_limit_of_the_servers(self):
        core = Resource(kind="cpu", name="CPU", by_pass={1: 0.99}, owners=("loadgen",))
        found = judge([core, named(0.5)], None, True, False)
        self.assertEqual((found.label, found.named), ("load generator", None))

    def test_a_full_core_of_a_server_beside_that_of_the_load_generator_is_alike(self):
        own = Resource(kind="cpu", name="CPU of loadgen", by_pass={1: 0.99}, owners=("loadgen",))
        other = Resource(kind="cpu", name="CPU of MySQL", by_pass={1: 0.97}, owners=("MySQL",))
        found = judge([own, other], None, True, False)
        self.assertEqual(found.label, "CPU of loadgen and CPU of MySQL alike")

    def test_nothing_measured_is_no_verdict(self):
        self.assertEqual(judge([], None, True, False).label, "none over 70%")

    def test_the_limits_belong_to_the_upper_side(self):
        self.assertEqual(judge([named(0.90)], None, True, False).label, "MySQL's disk writes")
        self.assertEqual(
            judge([named(0.70)], None, True, False).label, "MySQL's disk writes (close)"
        )


if __name__ == "__main__":
    unittest.main()
