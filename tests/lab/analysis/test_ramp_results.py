"""What a ramp shows, of runs of which it is known."""

import unittest
from dataclasses import replace
from typing import Any

import made_up_ramps
from made_up_ramps import KIB, MIB, RAMP_OF_TESTS, STEP_S, MadeUp

from lab.analysis import knee
from lab.kinds.ramp import analysis as ramps
from lab.results import series
from lab.results.series import Courses

RESULT = MadeUp().result()


def courses_of(evidence: dict[str, Any]) -> Courses:
    found = series.courses_of(evidence)
    assert found
    return found


class RampTest(unittest.TestCase):
    def test_the_plateau_has_the_steps_that_lie_in_it(self) -> None:
        """From 9.9 s to 40 s."""
        times_s = [RESULT.times_s[index] for index in RESULT.plateau]
        self.assertEqual((times_s[0], times_s[-1]), (10.125, 39.875))
        whole = replace(RESULT, ramp=replace(RAMP_OF_TESTS, every_s=0.0))
        self.assertEqual(whole.plateau, range(0, 160))
        self.assertEqual(len(replace(RESULT, ramp=replace(RAMP_OF_TESTS, life_s=5.0)).plateau), 0)

    def test_a_loss_of_testers_begins_the_plateau_anew(self) -> None:
        """Until 25 s those that are left have a half of the link, and the server sees all of it."""
        made = MadeUp(rate=lambda load, over: (20 if over < 0.5 else 40) * MIB * load)
        lost = {"testers_lost": 43.0, "plateau_from_s": 25.0}
        found = made.result(**lost)
        self.assertEqual(found.plateau_s, (25.0, 40))
        self.assertEqual(found.times_s[found.plateau[0]], 25.125)
        self.assertEqual(found.plateau[-1], RESULT.plateau[-1])
        received = found.mean_of(found.machine.received_bytes_s)
        self.assertAlmostEqual((received or 0) / MIB, 40, delta=0.5)
        early = made.result(testers_lost=1.0, plateau_from_s=3.0)  # before all had come
        self.assertEqual(early.plateau, RESULT.plateau)

    def test_after_a_loss_both_views_are_compared_from_then_on(self) -> None:
        evidence = MadeUp().evidence()
        server = [replace(one) for one in courses_of(evidence).server]
        before = [replace(one, ended=3 * one.ended // 2) for one in server[:100]]
        views = replace(courses_of(evidence), server=[*before, *server[100:]])
        for from_s, apart in ((25.0, 0.0), (9.9, 0.25)):
            run = made_up_ramps.run(RAMP_OF_TESTS, testers_lost=43.0, plateau_from_s=from_s)
            kept = {**evidence, **series.packed_courses(views)}
            found = ramps.of_run(run, RAMP_OF_TESTS, kept)
            assert found and found.agreement
            self.assertAlmostEqual(found.agreement.mean.value, apart, delta=0.02)

    def test_memory_of_each_upload_is_the_slope_over_load(self) -> None:
        for line in (RESULT.memory, RESULT.group_memory, RESULT.server_memory):
            assert line
            self.assertTrue(line.slope_estimate.has(64 * KIB), line.slope_estimate)
            self.assertAlmostEqual(line.slope / KIB, 64, delta=1)
            self.assertGreater(line.r_squared, 0.98)
        assert RESULT.memory and RESULT.group_memory and RESULT.server_memory
        self.assertAlmostEqual(RESULT.group_memory.intercept / MIB, 10, delta=0.1)
        self.assertAlmostEqual(RESULT.memory.intercept / MIB, 500, delta=0.1)
        self.assertAlmostEqual(RESULT.server_memory.intercept / MIB, 10, delta=0.1)

    def test_memory_that_is_kept_when_clients_leave_changes_no_slope(self) -> None:
        """As long as the load lasts, the host fills up."""
        made = MadeUp()
        evidence = made.evidence()
        kept = [
            {**one, "memory.ganglia_used_bytes": one["memory.ganglia_used_bytes"] + grown}
            for one in evidence["samples"]
            for grown in [max(0.0, one["time_s"] - made.ramp.last_start_s) * MIB]
        ]
        found = ramps.of_run(made_up_ramps.run(made.ramp), made.ramp, {**evidence, "samples": kept})
        assert found and found.memory
        self.assertAlmostEqual(found.memory.slope / KIB, 64, delta=1)

    def test_the_cpu_over_load_is_that_of_settled_throughput(self) -> None:
        """From 15 clients on, which come within 1.5 s, to the last one."""
        self.assertEqual(
            [RESULT.times_s[i] for i in (RESULT.settled[0], RESULT.settled[-1])], [1.625, 9.875]
        )
        flat = MadeUp(rate=lambda load, _: 40 * MIB, cores_of_each_upload=0.004).result()
        line = flat.cores_over_load
        assert line
        self.assertAlmostEqual(line.slope, 0.004, delta=0.0005)

    def test_the_cpu_is_full_when_no_core_is_free(self) -> None:
        full = MadeUp(cores_of_each_mib=0.047).result()
        self.assertTrue(full.is_full(full.plateau))
        self.assertFalse(RESULT.is_full(RESULT.plateau))
        self.assertEqual(RESULT.machine.core_count, 2)

    def test_a_rate_is_what_the_interface_received(self) -> None:
        """Whatever the clients say."""
        clients = [replace(one, ended=8) for one in RESULT.courses.clients]
        found = replace(RESULT, courses=replace(RESULT.courses, clients=clients))
        self.assertEqual(found.rates(range(50, 60)), RESULT.machine.received_bytes_s[50:60])
        few = [None, *RESULT.machine.received_bytes_s[51:]]
        with_gap = replace(
            found, machine=replace(found.machine, received_bytes_s=[None] * 50 + few)
        )
        self.assertEqual(with_gap.rates(range(50, 60)), RESULT.machine.received_bytes_s[51:60])

    def test_without_an_interface_an_upload_counts_where_it_ends(self) -> None:
        """However the courses spread it."""
        clients = [replace(one, ended=8, bytes_per_s=0.0) for one in RESULT.courses.clients]
        machine = replace(RESULT.machine, received_bytes_s=[None] * len(clients))
        courses = replace(RESULT.courses, clients=clients)
        found = replace(RESULT, courses=courses, machine=machine)
        self.assertEqual(found.rates(range(50, 60)), [8 * KIB / STEP_S] * 10)

    def test_memory_of_the_group_is_that_of_the_way_up_without_page_cache(self) -> None:
        """What is kept when clients leave is no memory of those that are left."""
        up = RESULT.way_up.stop
        self.assertEqual((RESULT.way_up, RESULT.times_s[up - 1]), (range(40), 9.875))
        kept = [*RESULT.machine.group_bytes[:up], *[99.0 * MIB] * 200]
        line = replace(RESULT, machine=replace(RESULT.machine, group_bytes=kept)).group_memory
        assert line
        self.assertTrue(line.slope_estimate.has(64 * KIB), line.slope_estimate)
        self.assertAlmostEqual(line.intercept / MIB, 10, delta=0.1)

    def test_the_cpu_goes_with_throughput_where_it_does(self) -> None:
        found = MadeUp(rate=lambda load, _: 40 * MIB * load).result().cpu
        assert found and found.with_throughput and found.with_clients
        self.assertGreater(found.with_throughput.low, 0.5)
        self.assertTrue(found.with_clients.has(0.0), found.with_clients)

    def test_the_knee_is_where_more_load_brings_no_more(self) -> None:
        self.assertEqual(RESULT.knee.verdict, knee.SEEN)
        assert RESULT.knee.load
        self.assertTrue(RESULT.knee.load.has(50), RESULT.knee.load)
        self.assertLess(RESULT.knee.load.high, 60)

    def test_the_way_down_is_no_part_of_the_knee(self) -> None:
        """On it nothing is brought, however many clients are left."""
        made = MadeUp(rate=lambda load, over: 40 * MIB * min(1.0, 2 * load) if over < 1 else 0.0)
        found = made.result().knee
        assert found.load
        self.assertTrue(found.load.has(50), found.load)
        self.assertLess(found.load.high, 60)

    def test_views_that_are_3_percent_apart_are_so(self) -> None:
        found = MadeUp(server=1.03).result().agreement
        assert found
        self.assertTrue(found.mean.has(0.03), found.mean)
        self.assertFalse(found.is_same)
        self.assertEqual(found.seconds, len(RESULT.plateau))

    def test_without_a_log_of_the_server_there_is_one_view(self) -> None:
        self.assertIsNone(MadeUp(server=None).result().agreement)

    def test_a_mean_is_that_of_the_plateau(self) -> None:
        self.assertAlmostEqual(RESULT.mean_of(RESULT.machine.cpu_cores) or 0, 0.9, delta=0.01)
        self.assertEqual(RESULT.mean_of(RESULT.machine.added_processes), 3)
        self.assertIsNone(RESULT.mean_of([None] * len(RESULT.times_s)))
        self.assertIsNone(RESULT.mean_of([]))


class MachineTest(unittest.TestCase):
    """Of what was sampled, in each step."""

    def test_cpu_is_that_of_all_cores_and_idle_time_is_none(self) -> None:
        calm = MadeUp(rate_noise=0, cpu_noise=0).result().machine
        for index in RESULT.plateau:
            self.assertAlmostEqual(calm.cpu_cores[index] or 0, 0.1 + 0.02 * 40)
            self.assertAlmostEqual((calm.received_bytes_s[index] or 0) / MIB, 40)

    def test_of_the_group_of_the_servers_the_page_cache_is_left_out(self) -> None:
        calm = MadeUp(rate_noise=0, cpu_noise=0, memory_noise=0).result().machine
        for index in RESULT.plateau:
            self.assertAlmostEqual((calm.group_bytes[index] or 0) / MIB, 10 + 100 / 16)
            self.assertAlmostEqual(calm.server_cores[index] or 0, (0.1 + 0.02 * 40) / 4)

    def test_without_a_group_nothing_is_known_of_it(self) -> None:
        made = MadeUp()
        evidence = made.evidence()
        samples = [
            {name: value for name, value in one.items() if not name.startswith("group.")}
            for one in evidence["samples"]
        ]
        run = made_up_ramps.run(made.ramp)
        found = ramps.of_run(run, made.ramp, {**evidence, "samples": samples})
        assert found
        none = [None] * len(found.times_s)
        self.assertEqual((found.machine.group_bytes, found.machine.server_cores), (none, none))

    def test_where_nothing_was_sampled_nothing_is_known(self) -> None:
        made = MadeUp()
        evidence = made.evidence()
        gap = [one for one in evidence["samples"] if not 5.0 < one["time_s"] < 6.0]
        run = made_up_ramps.run(made.ramp)
        found = ramps.of_run(run, made.ramp, {**evidence, "samples": gap})
        assert found
        unknown = [t for t, one in zip(found.times_s, found.machine.memory_bytes) if one is None]
        self.assertEqual(unknown, [5.375, 5.625])
        self.assertEqual(found.machine.cpu_cores.count(None), 0)  # the counters tell of the gap
        assert found.memory
        self.assertTrue(found.memory.slope_estimate.has(64 * KIB))

    def test_a_counter_between_two_samples_is_between_their_counts(self) -> None:
        """Of a counter that rises evenly, read at any moments."""
        made = MadeUp()
        moments = [0.37 * n + 0.1 * (n % 3) for n in range(1, 60)]  # from 0.47 s to 22.03 s
        samples = [{"time_s": t, "link.received_bytes": 1000 * t} for t in moments]
        found = ramps.of_run(
            made_up_ramps.run(made.ramp), made.ramp, {**made.evidence(), "samples": samples}
        )
        assert found
        rates = found.machine.received_bytes_s
        known = [t for t, rate in zip(found.times_s, rates) if rate is not None]
        self.assertEqual((known[0], known[-1]), (0.625, 21.875))
        for rate in rates:
            self.assertAlmostEqual(rate or 1000.0, 1000.0)

    def test_a_host_that_is_not_sampled_has_no_lines(self) -> None:
        made = MadeUp()
        found = ramps.of_run(
            made_up_ramps.run(made.ramp), made.ramp, {**made.evidence(), "samples": []}
        )
        assert found
        self.assertEqual((found.memory, found.server_memory, found.cpu), (None, None, None))

    def test_a_run_without_courses_is_none(self) -> None:
        evidence = {"samples": [{"time_s": STEP_S}]}
        self.assertIsNone(ramps.of_run(made_up_ramps.run(RAMP_OF_TESTS), RAMP_OF_TESTS, evidence))
