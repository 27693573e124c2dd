"""Hosts behind haproxy: its configuration, which host has which name, and the hosts' folders."""

import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples

from lab.kinds.scale_out import Cluster
from lab.observe import limits
from lab.systems.cluster import haproxy, names
from lab.systems.cluster.haproxy import Behind
from lab.systems.cluster.names import Spread
from lab.systems.cluster.system import _own, component
from rig.errors import Failed
from rig.host import HAPROXY
from rig.processes import Address

LISTEN = Address("198.19.1.4", 8000)
HOSTS = [Behind(number, Address(f"198.19.1.{number}", 4000)) for number in (1, 2, 3)]
NAMES = [f"10KB{number}.txt" for number in range(1, 1201)]
WHY_NOT = "" if HAPROXY.found() else f"not installed: {HAPROXY.package}"


class ConfigurationTest(unittest.TestCase):
    def test_the_name_decides_and_each_host_keeps_its_place(self):
        text = haproxy.configuration(LISTEN, HOSTS)
        for line in (
            "bind 198.19.1.4:8000",
            "balance uri path-only",
            "hash-type consistent sdbm avalanche",
            "option httpchk GET /-/health",
            "nbthread 1",
        ):
            self.assertIn(f"    {line}\n", text)
        for number in (1, 2, 3):
            wanted = f"    server host-{number} 198.19.1.{number}:4000 id {number} check "
            self.assertIn(wanted, text)
        self.assertNotIn("disabled", text)

    def test_only_requests_that_change_nothing_are_repeated(self):
        text = haproxy.configuration(LISTEN, HOSTS)
        self.assertIn("    option redispatch 1\n", text)
        self.assertIn("    http-request disable-l7-retry if !METH_GET\n", text)

    def test_to_tell_the_names_it_answers_in_place_of_the_hosts(self):
        text = haproxy.configuration_of_names(LISTEN, [*HOSTS[:2], replace(HOSTS[2], is_out=True)])
        self.assertIn("server host-3 198.19.1.3:4000 id 3 disabled\n", text)
        self.assertIn("server host-2 198.19.1.2:4000 id 2\n", text)
        self.assertNotIn(" check", text.partition("backend fileservers")[2])
        self.assertIn("bind 198.19.1.1:4000\n    http-request return status 200 hdr X-Served", text)

    def test_the_first_host_is_called_as_a_single_one(self):
        self.assertEqual([component(n) for n in (1, 2)], ["fileserver", "fileserver-2"])


@unittest.skipIf(WHY_NOT, WHY_NOT)
class NamesTest(unittest.TestCase):
    """Asks haproxy."""

    def spread(self, count: int) -> Spread:
        return names.spread(NAMES, count, examples.folder(self))

    def test_only_the_names_of_the_host_that_is_gone_move(self):
        found = self.spread(3)
        self.assertEqual(set(found.with_all), set(NAMES))
        self.assertEqual(set(found.with_all.values()), {1, 2, 3})
        self.assertEqual(set(found.without_last.values()), {1, 2})
        self.assertEqual(found.moved, found.of_last)
        moved = {n for n in NAMES if found.with_all[n] != found.without_last[n]}
        self.assertEqual(moved, found.of_host(3))
        for number in (1, 2, 3):  # the shares are alike, by haproxy's most points in the hash
            self.assertAlmostEqual(len(found.of_host(number)) / len(NAMES), 1 / 3, delta=0.03)

    def test_a_new_host_takes_only_the_names_that_it_gets(self):
        two, three = self.spread(2).with_all, self.spread(3).with_all
        self.assertEqual(
            {name for name in NAMES if two[name] != three[name]},
            {name for name in NAMES if three[name] == 3},
        )

    def test_one_host_has_all(self):
        found = self.spread(1)
        self.assertEqual((found.of_last, found.moved), (len(NAMES), 0))

    def test_a_configuration_that_haproxy_does_not_take_is_told(self):
        folder = examples.folder(self)
        with (
            mock.patch.object(haproxy, "_CONFIGURATION", "nonsense {listen}{header}\n"),
            self.assertRaisesRegex(Failed, "haproxy did not listen"),
        ):
            names.spread(NAMES, 1, folder)


class FoldersTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self)
        self.source = self.work / "source"
        self.source.mkdir()
        self.names = ["a", "b", "c", "d"]
        for name in self.names:
            (self.source / name).write_text(name)

    def test_own_files_come_first_and_the_others_are_there_too(self):
        with names.made(self.work, self.source, [{"b", "d"}, {"a", "c"}]) as (one, two):
            self.assertEqual(self.read_first(one), ["b", "d", "~others/a", "~others/c"])
            self.assertEqual(self.read_first(two), ["a", "c", "~others/b", "~others/d"])
            for root in (one, two):
                for name in self.names:
                    self.assertEqual((root / name).read_text(), name)
                    self.assertTrue((root / name).resolve().is_relative_to(root.resolve()))
        self.assertFalse((self.work / "hosts").exists())
        self.assertEqual((self.source / "a").read_text(), "a")

    def test_hosts_with_the_same_files_first_have_the_whole_folder(self):
        everything = Spread(dict.fromkeys(self.names, 1), {})
        own = _own(Cluster(hosts=2, is_same=True), everything)
        with names.made(self.work, self.source, own) as (one, two):
            self.assertEqual(self.read_first(one), self.names)
            self.assertEqual(self.read_first(two), self.names)

    def read_first(self, root: Path) -> list[str]:
        """The regular files in the order of their names, as prefetch takes them."""
        files = (one for one in root.rglob("*") if one.is_file() and not one.is_symlink())
        return sorted(str(one.relative_to(root)) for one in files)


class DoctorTest(unittest.TestCase):
    def test_it_says_what_is_lost_without_haproxy(self):
        plan = examples.planned("scale-out", stages=("scale-out-1", "scale-out-2"))
        tools = {tool.package: loses for tool, loses in limits._tools(plan)}
        self.assertEqual(tools["haproxy"], "the stages scale-out-1, scale-out-2")
        with mock.patch.object(type(HAPROXY), "found", return_value=""):
            finding = limits.of_tool(HAPROXY, tools["haproxy"])
        self.assertEqual(finding.fix, "scripts/setup lab")
        others = {tool.package for tool, _ in limits._tools(examples.planned("figure5"))}
        self.assertNotIn("haproxy", others)
