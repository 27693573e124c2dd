"""What downloads need of this host is said before they run."""

import os
import unittest
from unittest import mock

import examples

from lab.observe import download_limits
from lab.observe.limits import Finding


class DownloadLimitsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.programs = examples.folder(self)
        (self.programs / "lab").mkdir()
        (self.programs / "lab" / "delay_line").touch()
        self.missing: set[str] = set()
        self.may_open = True
        for patch in (
            mock.patch("shutil.which", side_effect=self.which),
            mock.patch.object(os, "access", side_effect=lambda *_: self.may_open),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def which(self, name: str, **_: object) -> str | None:
        return None if name in self.missing else f"/usr/bin/{name}"

    def short(self, experiment: str) -> dict[str, Finding]:
        planned = examples.planned(experiment)
        found = download_limits.compare(planned, self.programs)
        return {one.name: one for one in found if one.fix}

    def test_where_all_is_there_nothing_is_short(self) -> None:
        for experiment in ("004-figure1", "004-figure6", "004-figure7", "table4"):
            self.assertEqual(self.short(experiment), {}, experiment)

    def test_what_a_link_needs_loses_its_stages(self) -> None:
        self.missing = {"ip", "tc"}
        self.assertEqual(list(self.short("004-bundle")), ["ip"])
        self.assertEqual(list(self.short("004-figure6")), ["ip", "tc"])
        self.assertEqual(self.short("004-figure7"), {})
        loses = self.short("004-bundle")["ip"].loses
        self.assertEqual(loses, "the stages lerc-channels, bundle-channels")

    def test_a_delay_needs_its_program_and_a_device(self) -> None:
        (self.programs / "lab" / "delay_line").unlink()
        self.may_open = False
        found = self.short("004-bundle")
        self.assertEqual(list(found), ["lab/delay_line", "/dev/net/tun, for links with a delay"])
        self.assertTrue(all("bundle-channels" in one.loses for one in found.values()))
        self.assertEqual(self.short("004-figure6"), {})

    def test_without_what_watches_or_a_client_the_rest_is_measured(self) -> None:
        self.missing = {"ss", "iperf3", "curl", "apt-get"}
        found = self.short("004-figure7")
        self.assertEqual(set(found), self.missing)
        self.assertEqual({one.loses for one in found.values()}, {""})
        self.assertEqual(set(self.short("004-bundle")), {"ss", "iperf3"})
