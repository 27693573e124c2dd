"""What is measured once for each folder is recorded, and what fails is a problem of the folder."""

import os
import unittest
from dataclasses import replace
from unittest import mock

import examples

from lab.observe.disk_probe import DiskProbe
from lab.observe.machine_probe import MachineProbe
from lab.procedures import probes
from lab.procedures.bench import Bench
from rig.errors import Failed
from rig.iperf3 import Carried
from rig.link import Link
from rig.place import LOOPBACK, Direction, Place, Told
from rig.servers import Programs
from rig.wire import End

DISK = DiskProbe(
    disk="vda", read_bytes_per_s=1e9, write_bytes_per_s=5e8, reads_per_s=1e4, writes_per_s=2e4
)
CARRIED = Carried(interval_s=2.0, bytes=10**9)
MACHINE = MachineProbe(cores=0.009)
ELSEWHERE = Place(name="bench", title="a host", is_here=False)


def _told(late_ms: float) -> Told:
    there = Direction(
        packets=9,
        bytes=9000,
        dropped=0,
        stuck=0,
        refused=0,
        late_p50_ms=0.0,
        late_p99_ms=late_ms,
        late_max_ms=late_ms,
    )
    return Told(there, there)


class ProbesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.patch("iperf3.is_installed", return_value=True)
        self.carried = self.patch("iperf3.measure", return_value=CARRIED)
        self.busy = self.patch("checks.busy_cores")
        self.disk = self.patch("disk_probe.measure", return_value=DISK)
        self.machine = self.patch("machine_probe.measure", return_value=MACHINE)
        self.bench = Bench(
            plan=examples.planned("table4", rows=("1KB",), machine="486"),
            folder=examples.results(self),
            environment=replace(examples.ENVIRONMENT, problems={}, link_probes={}, clients={}),
            programs=Programs(examples.folder(self)),
            work=examples.folder(self),
            progress=mock.Mock(),
            runs=[],
        )

    def patch(self, name: str, **how: object) -> mock.Mock:
        patched = mock.patch(f"lab.procedures.probes.{name}", **how)  # type: ignore[call-overload]
        self.addCleanup(patched.stop)
        started: mock.Mock = patched.start()
        return started

    def test_each_is_made_once_and_is_in_the_folder(self) -> None:
        for _ in range(2):
            probes.run(self.bench)
        written = self.bench.folder.environment()
        self.assertEqual((written.network_probe, written.disk_probe), (CARRIED, DISK))
        self.assertEqual(written.loopback_bytes_per_s, 5e8)
        self.assertEqual(written.machine_probes, {"486": MACHINE})
        for probe in (self.carried, self.disk, self.machine):
            probe.assert_called_once()

    def test_one_that_fails_is_a_problem_until_it_is_made_again(self) -> None:
        self.disk.side_effect = Failed("no disk")
        probes.run(self.bench)
        written = self.bench.folder.environment()
        self.assertEqual((written.problems, written.disk_probe), ({"disk probe": "no disk"}, None))
        self.assertEqual(written.network_probe, CARRIED)  # the others are made all the same
        self.disk.side_effect = None
        probes.run(self.bench)
        self.assertEqual(self.bench.folder.environment().problems, {})

    def test_the_disk_is_probed_once_more_behind_the_runs(self) -> None:
        probes.run(self.bench)
        behind = replace(DISK, reads_per_s=1.0)
        self.disk.return_value = behind
        probes.run_behind(self.bench)
        self.assertEqual(self.bench.folder.environment().disk_probes, [DISK, behind])

    def test_a_plan_without_cells_needs_none(self) -> None:
        self.bench.plan = examples.planned("table1")
        probes.run(self.bench)
        self.disk.assert_not_called()

    def test_a_link_is_probed_once_from_its_place_and_loopback_is_none(self) -> None:
        for place in (ELSEWHERE, ELSEWHERE, Place(name=LOOPBACK)):
            probes.link(self.bench, place)
        self.carried.assert_called_once()
        self.assertEqual(self.carried.call_args.kwargs["place"], ELSEWHERE)
        self.assertEqual(self.bench.folder.environment().link_probes, {"bench": CARRIED})

    def end(self, name: str, delay_ms: float, late_ms: list[float]) -> End:
        """One with a link that is so late in each try."""
        told = [one for ms in late_ms for one in (_told(0.0), _told(ms))]
        line = mock.Mock(pid=os.getpid(), **{"told.side_effect": told})
        way = Link(rate="6200kbit", delay_ms=delay_ms, queue_bytes=65536)
        return End(name=name, namespace="", link=way, line=line)

    def test_a_link_that_was_late_is_probed_again_and_at_last_not_believed(self) -> None:
        self.busy.return_value = []
        probes.link(self.bench, self.end("once", 60.0, [9.0, 0.0]))
        self.assertEqual(self.carried.call_count, 2)
        self.assertEqual(self.bench.environment.link_probes, {"once": CARRIED})
        probes.link(self.bench, self.end("always", 60.0, [9.0, 9.0, 9.0]))
        self.assertNotIn("always", self.bench.environment.link_probes)
        why = self.bench.environment.problems["link: always"]
        self.assertRegex(why, "disturbed 3 times; .* the link with a delay was 9.0 ms late")

    def test_a_link_is_probed_again_on_cores_that_others_use(self) -> None:
        self.busy.side_effect = [["other programs used 50% of the cores"], []]
        probes.link(self.bench, self.end("busy", 60.0, [0.0, 0.0]))
        self.assertEqual(self.carried.call_count, 2)
        self.assertEqual(self.bench.environment.problems, {})

    def test_a_link_is_probed_with_reno_whatever_its_stages_use(self) -> None:
        self.busy.return_value = []
        probes.link(self.bench, self.end("reno", 60.0, [0.0]))
        self.assertEqual(self.carried.call_args.kwargs["congestion"], "reno")

    def test_the_queue_of_a_link_is_empty_behind_its_probe(self) -> None:
        self.busy.return_value = []
        with mock.patch.object(probes.time, "sleep") as sleep:
            probes.link(self.bench, end := self.end("empty", 60.0, [0.0]))
        sleep.assert_called_once_with(end.longest_s)
        self.assertGreater(end.longest_s, 0.14)

    def test_a_link_with_a_delay_is_full_before_anything_counts(self) -> None:
        for delay_ms, warm_up_s, seconds in ((60.0, 2, 8), (540.0, 17, 30)):
            self.busy.return_value = []
            probes.link(self.bench, self.end(f"{delay_ms}", delay_ms, [0.0]))
            self.assertEqual(self.carried.call_args.kwargs["warm_up_s"], warm_up_s)
            self.assertEqual(self.carried.call_args.args[0], seconds)
        probes.link(self.bench, End(name="cable", namespace="", link=Link(rate="10mbit")))
        self.assertNotIn("warm_up_s", self.carried.call_args.kwargs)
