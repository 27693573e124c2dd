"""What makes a point invalid, and what is only a remark."""

import unittest
from dataclasses import replace
from unittest import mock

import examples
from examples import GET, result

from lab.kinds.client.load import FetchLoad
from lab.observe.moment import Sample
from lab.procedures import checks
from rig.place import Direction, Told

FETCH = FetchLoad(
    threads=1, server="", user="", password="", protocol="http", name="a", size_bytes=1
)


def _told(late_ms: float = 0.0, stuck: int = 0) -> Told:
    there = Direction(
        packets=9,
        bytes=9000,
        dropped=0,
        stuck=stuck,
        refused=0,
        late_p50_ms=0.0,
        late_p99_ms=late_ms,
        late_max_ms=late_ms,
    )
    return Told(there, replace(there, stuck=0))


BUSY = examples.usage({"fileserver": 0.2, "loadgen": 0.2}, core_busy=0.9)


class ChecksTest(unittest.TestCase):
    def test_a_good_point_has_no_failure(self):
        self.assertEqual(checks.failures(GET, result(), examples.usage()), [])

    def test_the_workload_and_the_machine_are_both_asked(self):
        empty = result(requests=0, throughput_rps=0.0, bytes=0)
        self.assertEqual(
            checks.failures(GET, empty, BUSY),
            ["no request succeeded", "other programs used 70% of the cores"],
        )

    def test_a_machine_that_others_use_is_no_place_to_measure(self):
        self.assertEqual(
            checks.failures(GET, result(), BUSY), ["other programs used 70% of the cores"]
        )

    def test_other_programs_may_use_a_tenth(self):
        def failures(core_busy: float) -> list[str]:
            used = examples.usage({"fileserver": 0.5, "loadgen": 0.5}, core_busy=core_busy)
            return checks.failures(GET, result(), used)

        self.assertEqual(failures(0.59), [])
        self.assertEqual(failures(0.61), ["other programs used 11% of the cores"])

    def test_a_workload_may_leave_some_to_the_kernel(self):
        with mock.patch.object(type(GET), "kernels_share", 0.6):
            self.assertEqual(checks.failures(GET, result(), BUSY), [])
        with mock.patch.object(type(GET), "kernels_share", 0.59):
            self.assertEqual(len(checks.failures(GET, result(), BUSY)), 1)

    def test_a_generator_that_waits_for_a_core_is_a_remark(self):
        def notes(is_starved: bool) -> list[str]:
            starved = result(run_delay={"share": 0.123, "is_starved": is_starved})
            return checks.notes(examples.CELL, starved, examples.usage(), is_cold=False, tracked=0)

        self.assertEqual(notes(False), [])
        self.assertEqual(notes(True), ["load generator starved: 12% of its time without a core"])

    def test_a_server_has_no_more_threads_than_its_users_need(self):
        def failures(server: str, **threads: float) -> list[str]:
            used = examples.usage()
            used.components[server] = replace(used.components[server], **threads)
            return checks.failures(GET, result(), used)

        self.assertEqual(failures("fileserver", threads=3 * 4 + 64), [])
        self.assertEqual(
            failures("authserver", threads=9504), ["the authserver had 9504 threads for 4 users"]
        )
        self.assertEqual(failures("store", threads=9504), [])
        self.assertEqual(failures("fileserver", threads=40, threads_rise=12), [])
        self.assertEqual(
            failures("fileserver", threads=40, threads_rise=30),
            ["the fileserver's threads rose by 30 within the window"],
        )

    def test_connections_are_bounded_by_the_users(self):
        def failures(open_ends: float) -> list[str]:
            return checks.failures(GET, result(), replace(examples.usage(), open_ends=open_ends))

        self.assertEqual(failures(12 * 4 + 1000), [])
        self.assertEqual(
            failures(12 * 4 + 1001), ["1049 ends of connections were open for 4 users"]
        )

    def test_errors_are_shown_even_when_few(self):
        notes = checks.notes(
            examples.CELL, result(errors={"total": 2, "timeout": 2}), examples.usage(), False, 0
        )
        self.assertEqual(notes, ["errors: timeout 2"])

    def test_a_time_without_a_sample_is_a_remark(self):
        window = [Sample(time_s, {}) for time_s in (100.0, 100.3, 102.5, 102.7)]
        note = "no sample of the machine for 2.2 s, from second 0.3 on"
        self.assertEqual(checks.gaps(window), [note])
        self.assertEqual(checks.gaps(window[2:]), [])
        often = [*window, *(Sample(time_s, {}) for time_s in (104.0, 105.5))]
        self.assertEqual(checks.gaps(often), [f"{note}, the longest of 3 gaps"])

    def test_a_cold_point_must_read_from_the_disk(self):
        warm = checks.notes(examples.CELL, result(), examples.usage(), True, 0)
        self.assertEqual(warm, ["not cold: 0% of the bytes came from the disk"])
        disk = examples.disk_usage(0.9, read=4_100_000.0)
        self.assertEqual(
            checks.notes(examples.CELL, result(), examples.usage(disk=disk), True, 0), []
        )

    def test_a_link_that_was_late_itself_was_another_one(self):
        self.assertEqual(checks.of_link(GET, result(), _told(late_ms=5.0)), [])
        (why,) = checks.of_link(GET, result(), _told(late_ms=5.1))
        self.assertTrue(checks.may_pass_again(why))

    def test_where_a_connection_was_to_be_stuck_one_must_have_been(self):
        stuck = replace(FETCH, stuck_s=1.0)
        why = ["no connection was stuck: the link lost no packet of one"]
        self.assertEqual(checks.of_link(stuck, result(), _told(stuck=0)), why)
        self.assertEqual(checks.of_link(stuck, result(), None), why)
        self.assertEqual(checks.of_link(stuck, result(), _told(stuck=1)), [])
        self.assertEqual(checks.of_link(FETCH, result(), _told(stuck=0)), [])
        failed = result(errors={"total": 1, "failed": 1})  # perhaps before it was time
        self.assertEqual(checks.of_link(stuck, failed, _told(stuck=0)), [])

    def test_the_servers_count_must_be_the_clients(self):
        self.assertEqual(checks.served_matches({"fileserver_connections": 5}, 5), "")
        self.assertEqual(checks.served_matches({}, 5), "")
        self.assertEqual(
            checks.served_matches({"fileserver_connections": 4, "authserver_requests": 5}, 5),
            "the fileserver took 4 connections, the clients made 5",
        )
        self.assertEqual(
            checks.served_matches({"fileserver_connections": 5, "authserver_requests": 4}, 5),
            "the authserver answered 4 requests, the clients made 5",
        )
        self.assertEqual(checks.served_matches({"authserver_requests": 4}, None), "")

    def test_on_a_shared_machine_only_what_others_did_is_excused(self):
        busy = "other programs used 79% of the cores"
        self.assertEqual(checks.on_a_shared_machine(""), ("", ""))
        self.assertEqual(checks.on_a_shared_machine(busy), ("", f"disturbed: {busy}"))
        self.assertEqual(
            checks.on_a_shared_machine(f"{busy}; 9 timeouts"), (f"{busy}; 9 timeouts", "")
        )

    def test_a_point_that_others_disturbed_may_be_tried_again_whatever_else_failed(self):
        for used, may_pass in ((BUSY, True), (examples.usage(), False)):
            found = "; ".join(checks.failures(replace(GET, threads=5), result(), used))
            self.assertEqual(checks.may_pass_again(found), may_pass, found)
