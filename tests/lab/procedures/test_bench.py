"""The part of the host that the program of a cell gets."""

import contextlib
import unittest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples

from lab.plan import plan
from lab.plan.catalog import NEW, Cell
from lab.plan.pinning import Pinning
from lab.plan.plan import Options
from lab.procedures.bench import Bench, Ready
from lab.results.records import Folder
from lab.systems.system import Site
from rig.control_group import ControlGroup, Hierarchies, Limits
from rig.errors import Failed
from rig.place import HERE
from rig.servers import Programs

_OPTIONS = examples.options("table4", stages=("turnstile",), rows=("1KB",))
_RAMP = examples.options("003-figure1", stages=("sink",))
_NO_GROUP = "memory and CPU time of the control group of servers"


class PartOfTheHostTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self)
        self.events: list[str] = []
        self.problems: dict[str, str] = {}
        self.progress = mock.Mock()
        self.servers = mock.Mock()
        self.servers.counts.return_value = {}
        self.group = mock.Mock(spec=ControlGroup)
        self.group.prefix = ["sh", "into"]
        self.group.why_killed.return_value = ""
        self.group.limit_cache.side_effect = lambda: self.events.append("limit of the cache")
        patched = mock.patch("rig.control_group.limited", side_effect=self._limited)
        self.limited = patched.start()
        self.addCleanup(patched.stop)
        laid = mock.patch("rig.nodes.laid")
        laid.start().return_value.__enter__.return_value.seen_from_here.return_value = HERE
        self.addCleanup(laid.stop)

    @contextlib.contextmanager
    def _limited(
        self, limits: Limits, _work: Path, _hierarchies: Hierarchies | None = None
    ) -> Iterator[ControlGroup]:
        self.limits = limits
        yield self.group

    @contextlib.contextmanager
    def _running(self, _cell: Cell, _pinning: Pinning, site: Site) -> Iterator[mock.Mock]:
        self.events.append(f"ready after {site.wrapper}")
        yield self.servers

    def _open(self, options: Options, times: int = 1) -> None:
        todo = plan.make(options, (0, 1), self.work)
        (cell,) = todo.cells
        folder = Folder(self.work / "out")
        folder.prepare()
        bench = Bench(
            plan=todo,
            folder=folder,
            environment=replace(examples.ENVIRONMENT, stacks={}, problems=self.problems),
            programs=Programs(self.work),
            work=self.work,
            progress=self.progress,
            runs=[],
            roots={"1KB": self.work, NEW: self.work},
        )
        system = mock.Mock()
        system.running.side_effect = self._running
        self.servers.cell = cell
        self.servers.settings = self.servers.commands.return_value = {}
        self.servers.store = self.servers.durability = "none"
        for _ in range(times):
            with bench.opened(todo.planned[cell], Ready(system, HERE)):
                self.events.append("trials")

    def test_without_a_machine_it_is_all_of_it(self) -> None:
        self._open(_OPTIONS)
        self.assertEqual(self.events, ["ready after ()", "trials"])
        self.limited.assert_not_called()

    def test_the_page_cache_is_limited_when_the_server_is_ready(self) -> None:
        self._open(replace(_OPTIONS, machine="486"))
        self.assertEqual(
            self.events, ["ready after ('sh', 'into')", "limit of the cache", "trials"]
        )

    def test_a_server_that_is_held_has_a_group_without_limits(self) -> None:
        self._open(replace(_OPTIONS, is_held=True))
        self.assertEqual(self.events[0], "ready after ('sh', 'into')")
        self.assertEqual(self.limits, Limits())

    def test_a_ramp_has_a_group_without_limits(self) -> None:
        self._open(_RAMP)
        self.assertEqual(self.events[0], "ready after ('sh', 'into')")
        self.assertEqual(self.limits, Limits())
        self.assertEqual(self.problems, {})

    def test_a_ramp_on_a_machine_has_its_limits(self) -> None:
        self._open(replace(_RAMP, machine="486"))
        self.assertNotEqual(self.limits, Limits())

    def test_a_ramp_goes_on_where_there_are_no_groups_and_that_is_told_once(self) -> None:
        self.limited.side_effect = Failed("no control group: read-only")
        self._open(_RAMP, times=2)
        self.assertEqual(self.events, ["ready after ()", "trials"] * 2)
        self.assertEqual(self.problems, {_NO_GROUP: "no control group: read-only"})
        self.assertEqual(self.progress.say.call_count, 1)

    def test_where_there_are_groups_again_it_is_no_problem_any_more(self) -> None:
        self.problems[_NO_GROUP] = "no control group: read-only"
        self._open(_RAMP)
        self.assertEqual(self.problems, {})

    def test_without_a_group_for_its_machine_a_ramp_fails(self) -> None:
        self.limited.side_effect = Failed("no control group: read-only")
        with self.assertRaisesRegex(Failed, "read-only"):
            self._open(replace(_RAMP, machine="486"))
        self.assertEqual(self.events, [])

    def test_what_fails_in_a_group_whose_memory_ended_has_that_as_its_cause(self) -> None:
        machine = replace(_OPTIONS, machine="486")
        self.group.limit_cache.side_effect = Failed("fileserver ended: a warning")
        for killed, wanted in (("", "a warning"), ("the kernel ended it", "^the kernel ended it$")):
            self.group.why_killed.return_value = killed
            with self.assertRaisesRegex(Failed, wanted):
                self._open(machine)

    def test_what_fails_inside_is_no_matter_of_the_group(self) -> None:
        self.group.limit_cache.side_effect = Failed("no limit of memory")
        with self.assertRaisesRegex(Failed, "no limit"):
            self._open(_RAMP)
        self.assertEqual(self.problems, {})
