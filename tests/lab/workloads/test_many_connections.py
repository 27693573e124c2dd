"""A closed loop over many kept connections: its command line, who is idle, what is not valid."""

import unittest
from dataclasses import replace

import examples

from lab import kinds
from lab.kinds.connections import load as connections
from lab.kinds.connections.load import ManyConnections
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.planned import Setting
from lab.workloads.load import Asked
from rig.idle_connections import LogIn
from rig.processes import Address

ALL_ASK = ManyConnections(
    **{**vars(examples.GET), "flags": ("--connection", "keep-alive")},
    asking=4,
    has_idle=False,
    files=100,
    seed=3,
)
FEW_ASK = replace(ALL_ASK, threads=2000, has_idle=True)


def load(stage: str, n: int, mode: str = "quick") -> ManyConnections:
    todo = examples.planned("models", mode=mode)
    asked = Asked(
        planned=todo.planned[Cell(stage, "1KB", workload="connections")],
        setting=Setting(n),
        repeat=2,
        server="127.0.0.1:1",
        user="ann",
        password="secret",
    )
    made = asked.load()
    assert isinstance(made, ManyConnections)
    return made


class ConnectionsTest(unittest.TestCase):
    def test_those_that_ask_share_few_threads_and_draw_their_files(self):
        flags = " ".join(ALL_ASK.command_flags())
        self.assertIn("get --server 127.0.0.1:1 --users 4 ", flags)
        self.assertTrue(
            flags.endswith("--file 1KB%d.txt --files 100 --seed 3 --connection keep-alive"), flags
        )
        self.assertNotIn("--threads", flags)

    def test_only_those_that_ask_are_users_of_the_load_generator(self):
        self.assertIn("--users 4 ", " ".join(FEW_ASK.command_flags()))

    def test_the_others_are_idle(self):
        idle = FEW_ASK.idle
        assert idle
        self.assertEqual(idle.address, Address("127.0.0.1", 1))
        self.assertEqual(idle.count, 1996)
        self.assertEqual(idle.log_in, LogIn.natively("ann", "secret"))
        self.assertIsNone(ALL_ASK.idle)
        self.assertIsNone(replace(FEW_ASK, threads=4).idle)

    def test_by_http_they_log_in_with_a_request_that_moves_no_byte_of_a_file(self):
        idle = replace(FEW_ASK, flags=("--protocol", "http")).idle
        assert idle
        self.assertEqual(
            idle.log_in.question,
            b"HEAD /1KB1.txt HTTP/1.1\r\nHost: localhost\r\n"
            b"Authorization: Basic YW5uOnNlY3JldA==\r\n\r\n",
        )

    def test_a_name_of_a_host_in_brackets_is_one_of_a_socket(self):
        idle = replace(FEW_ASK, server="[::1]:80").idle
        assert idle
        self.assertEqual(idle.address, Address("::1", 80))

    def test_the_law_holds_for_those_that_ask(self):
        result = examples.result(FEW_ASK, connection="keep-alive")
        self.assertEqual(FEW_ASK.failures(result), [])
        self.assertEqual(FEW_ASK.figures(result), {"n_check": 1.0})
        fast = examples.result(FEW_ASK, connection="keep-alive", throughput_rps=3700.0)
        self.assertEqual(FEW_ASK.failures(fast), [])
        self.assertEqual(examples.GET.failures(fast), ["X·R is 0.925 of N"])
        lost = replace(FEW_ASK, asking=8)
        self.assertEqual(lost.failures(result), ["X·R is 0.500 of N"])

    def test_switches_are_counted_only_where_all_ask(self):
        loud = replace(ALL_ASK, warmup_s=1.0, seconds=10.0)
        self.assertEqual(loud.counts_switches_s, (2.0, 8.0))
        self.assertIsNone(FEW_ASK.counts_switches_s)

    def test_a_server_that_does_not_survive_them_is_an_answer(self):
        self.assertEqual(ALL_ASK.without_server(), {})

    def test_the_figures_are_declared(self):
        names = {one.name for one in connections.FIGURES}
        self.assertLessEqual(names, set(kinds.figures()))


class OfStagesTest(unittest.TestCase):
    def test_a_point_with_more_connections_has_a_longer_warm_up(self):
        made = load("models-event", 2000)
        self.assertEqual((made.asking, made.threads, made.has_idle), (2000, 2000, False))
        self.assertEqual((made.warmup_s, made.seconds), (2.5, 2.0))
        self.assertEqual(load("models-event", 10000, mode="full").seconds, 3.0)
        self.assertEqual(load("models-process", 2000).warmup_s, 5.5)  # a fork takes longer

    def test_beside_idle_ones_eight_ask_and_only_they_have_to_connect(self):
        made = load("models-event-idle", 2000)
        self.assertEqual((made.asking, made.threads, made.has_idle), (8, 2000, True))
        self.assertEqual(made.warmup_s, 0.508)
        self.assertEqual(load("models-event-idle", 4).asking, 4)

    def test_all_ask_for_the_same_few_files(self):
        self.assertEqual(load("models-nginx", 512).files, 100)
        self.assertEqual(load("models-nginx", 512).seed, 2)


class PlanTest(unittest.TestCase):
    def test_few_files_are_made_and_other_experiments_make_more(self):
        self.assertEqual(examples.planned("models").file_counts, {"1KB": 100, "100KB": 100})
        both = examples.planned("models", "figure5")
        self.assertGreater(both.file_counts["1KB"], 100)
        cell = Cell("models-event", "1KB", workload="connections")
        self.assertEqual(both.planned[cell].file_count, 100)

    def test_idle_connections_have_fresh_servers_at_each_point(self):
        todo = examples.planned("models")
        fresh = {cell.stage for cell, one in todo.planned.items() if one.has_fresh_servers}
        self.assertEqual(fresh, {name for name in todo.stages if name.endswith("-idle")} & fresh)
        self.assertEqual(len(fresh), 4)

    def test_the_numbers_are_those_of_the_stage_or_of_the_command_line(self):
        for quick, most in (("quick", 2000), ("full", 10000)):
            self.assertEqual(examples.planned("models", mode=quick).most_threads, most)
        chosen = examples.planned("models", threads=(3, 5))
        self.assertEqual({one.steps for one in chosen.planned.values()}, {(3, 5)})

    def test_a_quick_run_fits_into_a_lesson(self):
        self.assertLess(examples.planned("models").seconds, 6 * 60)

    def test_each_model_is_there_with_idle_connections_and_without(self):
        stages = catalog.experiments()["models"].stages
        for name in stages[:4]:
            self.assertIn(f"{name}-idle", stages)
            loud, idle = (catalog.stages()[one] for one in (name, f"{name}-idle"))
            assert loud.connections and idle.connections
            self.assertEqual((loud.connections.busy, idle.connections.busy), (0, 8))
            for what in ("system", "store", "authserver", "fileserver", "loadgen"):
                self.assertEqual(getattr(loud, what), getattr(idle, what), what)
