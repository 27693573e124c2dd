"""The part of the host that the program of a cell gets."""

import contextlib
import unittest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples

from lab.plan import plan
from lab.plan.catalog import Cell
from lab.plan.pinning import Pinning
from lab.plan.plan import Options
from lab.procedures.bench import Bench, Ready
from lab.results.records import Folder
from lab.rig.control_group import ControlGroup, Hierarchies, Limits
from lab.rig.place import HERE
from lab.rig.servers import Programs
from lab.systems.system import Site

_OPTIONS = examples.options("table4", stages=("turnstile",), rows=("1KB",))


class PartOfTheHostTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self)
        self.events: list[str] = []
        self.servers = mock.Mock()
        self.servers.counts.return_value = {}
        self.group = mock.Mock(spec=ControlGroup)
        self.group.prefix = ["sh", "into"]
        self.group.limit_cache.side_effect = lambda: self.events.append("limit of the cache")
        patched = mock.patch("lab.rig.control_group.limited", side_effect=self._limited)
        self.limited = patched.start()
        self.addCleanup(patched.stop)

    @contextlib.contextmanager
    def _limited(
        self, _limits: Limits, _work: Path, _hierarchies: Hierarchies | None = None
    ) -> Iterator[ControlGroup]:
        yield self.group

    @contextlib.contextmanager
    def _running(self, _cell: Cell, _pinning: Pinning, site: Site) -> Iterator[mock.Mock]:
        self.events.append(f"ready after {site.wrapper}")
        yield self.servers

    def _open(self, options: Options) -> None:
        todo = plan.make(options, (0, 1), self.work)
        (cell,) = todo.cells
        folder = Folder(self.work / "out")
        folder.prepare()
        bench = Bench(
            plan=todo,
            folder=folder,
            environment=replace(examples.ENVIRONMENT, stacks={}),
            programs=Programs(self.work),
            work=self.work,
            progress=mock.Mock(),
            runs=[],
            roots={"1KB": self.work},
        )
        system = mock.Mock()
        system.running.side_effect = self._running
        self.servers.cell = cell
        self.servers.settings = self.servers.commands.return_value = {}
        self.servers.store = self.servers.durability = "none"
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
