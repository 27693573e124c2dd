"""A failover is measured once in each pass, and what happens in it happens in its order."""

import time
import unittest
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import examples

from lab.kinds.failover.procedure import Failovers
from lab.plan.catalog import Cell
from lab.plan.planned import Setting
from lab.procedures.generator import take_place
from lab.workloads.load import Kill

CELL = Cell("failover-kept", "1KB", workload="failover")


@dataclass
class Servers:
    """Notes what it is told."""

    told: list[tuple[str, str]] = field(default_factory=list)

    def kill(self, component: str) -> None:
        self.told.append(("kill", component))

    def start_again(self, component: str) -> None:
        self.told.append(("start", component))

    def process_ids(self) -> dict[str, int]:
        return {"authserver": 7}


class FailoversTest(unittest.TestCase):
    def test_each_pass_has_one_run_at_the_same_rate(self):
        procedure = Failovers(200.0, 3)
        done = [examples.run(256, cell=CELL, repeat=1, offered_rps=200.0)]
        self.assertIsNone(procedure.next_setting(done, 1))
        self.assertEqual(procedure.next_setting(done, 2), Setting(256, 200.0))
        self.assertEqual(procedure.points_in_all(done), 3)

    def test_a_quick_plan_is_short_and_a_length_can_be_chosen(self):
        for changes, seconds in (({}, 24), ({"mode": "full"}, 60), ({"seconds": 9.0}, 9)):
            planned = examples.planned("failover", **changes)
            for cell in planned.cells:
                mode = planned.planned[cell].mode
                self.assertEqual((mode.seconds, mode.warmup_s), (seconds, 0))
        quick = examples.planned("failover")
        self.assertEqual((len(quick.cells), quick.likely_points), (2, 2))
        self.assertLess(quick.seconds, 120)

    def test_none_is_planned_where_the_load_generator_is_on_another_host(self):
        both = examples.planned("failover", "knee", client="elsewhere")
        self.assertEqual([cell.stage for cell in both.cells], ["turnstile"])

    def test_the_mode_of_the_run_itself_is_that_of_the_paper(self):
        """So a folder of the paper can be resumed, whatever its experiments are."""
        self.assertEqual(examples.planned("failover").mode, examples.planned("knee").mode)


class KillingTest(unittest.TestCase):
    def run_it(self, kill: Kill | None, is_running: bool = True) -> tuple[Servers, list[Any], Any]:
        servers, sampler, generator = Servers(), mock.Mock(), mock.Mock()
        generator.is_running.return_value = is_running
        events = take_place(kill, servers, generator, time.monotonic(), sampler)  # type: ignore[arg-type]
        return servers, events, sampler

    def test_it_kills_and_starts_again_and_says_when(self):
        begun = time.time()
        servers, events, sampler = self.run_it(Kill("authserver", 0.05, 0.15))
        self.assertEqual(servers.told, [("kill", "authserver"), ("start", "authserver")])
        self.assertEqual(
            [one.what for one in events], ["authserver killed", "authserver started again"]
        )
        self.assertGreaterEqual(events[0].t - begun, 0.04)
        self.assertGreaterEqual(events[1].t - begun, 0.14)
        sampler.replace.assert_called_once_with("authserver", 7)

    def test_a_server_is_there_again_though_the_load_generator_ended_early(self):
        servers, events, _ = self.run_it(Kill("authserver", 1000, 2000), is_running=False)
        self.assertEqual((len(servers.told), len(events)), (2, 2))

    def test_a_load_that_kills_nothing(self):
        servers, events, _ = self.run_it(None)
        self.assertEqual((servers.told, events), ([], []))
