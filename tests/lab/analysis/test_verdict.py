"""The rule that names the bottleneck."""

import unittest

from lab.analysis.verdict import Resource, judge


def named(
    busy: float, name: str = "MySQL's disk writes", demand_s: float | None = None
) -> Resource:
    return Resource(kind="disk", name=name, by_pass={1: busy}, demand_s=demand_s)


def resource(kind: str, name: str, *busy: float, owner: str = "") -> Resource:
    """busy in each pass."""
    owners = (owner,) if owner else ()
    return Resource(kind=kind, name=name, by_pass=dict(enumerate(busy, 1)), owners=owners)


LOOPBACK = resource("loopback", "the loopback network", 1.0)


class VerdictTest(unittest.TestCase):
    def check(self, label: str, *found: Resource, is_flat: bool = True, by_load: bool = False):
        """Whether these resources give this verdict, which is returned."""
        said = judge(list(found), None, is_flat, by_load)
        self.assertEqual(said.label, label)
        return said

    def test_the_busiest_resource_over_ninety_percent_is_named_with_its_numbers(self):
        found = judge([named(0.96, demand_s=0.0041), named(0.80, "CPU")], 0.010, True, False)
        self.assertEqual(found.label, "MySQL's disk writes")
        self.assertEqual(
            found.sentence,
            "MySQL's disk writes: 96% busy; its demand is 41% of the response time at N = 1.",
        )

    def test_from_seventy_percent_on_it_is_called_close(self):
        found = self.check("MySQL's disk writes (close)", named(0.75))
        self.assertIn("close to its limit", found.sentence)

    def test_saturated_without_a_busy_resource_says_so(self):
        found = self.check("none over 70%", named(0.30), named(0.69, "CPU"))
        self.assertIn("look for locks, sleeps or limits", found.sentence)
        self.assertIn("CPU: 69% busy", found.sentence)

    def test_a_rising_throughput_has_no_bottleneck_yet(self):
        self.check("not saturated", named(0.85), is_flat=False)

    def test_a_full_resource_is_the_bottleneck_even_if_throughput_still_rose(self):
        self.check("MySQL's disk writes", named(0.95), is_flat=False)

    def test_the_load_generator_comes_before_everything(self):
        self.check("load generator", named(0.99), by_load=True)

    def test_a_full_link_is_named_even_if_the_cpu_is_not_idle(self):
        self.check("the link", resource("network", "the link", 0.99), named(0.75, "CPU"))

    def test_loopback_is_named_only_where_nothing_else_is_close(self):
        self.check("CPU", LOOPBACK, named(0.93, "CPU"))
        self.check("CPU (close)", LOOPBACK, named(0.80, "CPU"))
        self.check("the loopback network", LOOPBACK, named(0.60, "CPU"))

    def test_what_is_named_is_there_for_who_wants_to_judge_it(self):
        self.assertEqual(judge([named(0.95)], None, True, False).named, named(0.95))
        self.assertIsNone(judge([named(0.95)], None, True, True).named)
        self.assertIsNone(judge([named(0.50)], None, True, False).named)

    def test_two_that_are_alike_are_listed_and_none_is_named(self):
        found = self.check("MySQL's disk writes and CPU alike", named(0.96), named(0.94, "CPU"))
        self.assertIsNone(found.named)
        self.assertIn("cannot be told", found.sentence)
        self.check("MySQL's disk writes and CPU alike (close)", named(0.79), named(0.78, "CPU"))

    def test_a_resource_must_lead_in_every_pass(self):
        disk = resource("disk", "disk", 0.97, 0.97, 0.97)
        self.check("disk and CPU alike", disk, resource("cpu", "CPU", 0.5, 0.5, 0.93))
        self.check("disk", disk, resource("cpu", "CPU", 0.9, 0.9, 0.91))

    def test_with_fewer_than_three_passes_the_lead_must_be_larger(self):
        for passes, label in ((2, "disk and CPU alike"), (3, "disk")):
            disk = resource("disk", "disk", *passes * [0.97])
            self.check(label, disk, resource("cpu", "CPU", *passes * [0.90]))

    def test_a_full_core_and_the_one_thread_that_fills_it_are_the_same(self):
        core = resource("cpu", "CPU of Redis", 0.99, owner="Redis")
        thread = resource("thread", "thread", 0.98, owner="Redis")
        self.assertEqual(judge([core, thread], None, True, False).named, core)

    def test_a_cpu_that_the_load_generator_fills_is_no_limit_of_the_servers(self):
        core = resource("cpu", "CPU", 0.99, owner="loadgen")
        self.assertIsNone(self.check("load generator", core, named(0.5)).named)

    def test_a_full_core_of_a_server_beside_that_of_the_load_generator_is_alike(self):
        own = resource("cpu", "CPU of loadgen", 0.99, owner="loadgen")
        other = resource("cpu", "CPU of MySQL", 0.97, owner="MySQL")
        self.check("CPU of loadgen and CPU of MySQL alike", own, other)

    def test_nothing_measured_is_no_verdict(self):
        self.check("none over 70%")

    def test_the_limits_belong_to_the_upper_side(self):
        self.check("MySQL's disk writes", named(0.90))
        self.check("MySQL's disk writes (close)", named(0.70))
