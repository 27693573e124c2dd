"""What this host lacks for a load test, and who may disturb it."""

import os
import unittest
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import examples

from lab.observe import limits
from lab.observe.limits import Finding

_PROJECT = Path(__file__).resolve().parents[3]
_TIMERS = """\
Mon 06:00:00 UTC 1min left Sun 06:00:00 UTC 23h ago apt-daily.timer apt-daily.service
Mon 07:00:00 UTC 1h left - - fstrim.timer    fstrim.service
"""
_NEIGHBOURS = "desktop, cron and timers, which may disturb"
_ALL_FILES = "open files of all programs (fs.file-max)"


class FindingsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.patch("quietness", return_value=Finding("cores", "0%", "0%"))

    def patch(self, name: str, **how: Any) -> None:
        patched = mock.patch.object(limits, name, **how)
        patched.start()
        self.addCleanup(patched.stop)

    def found(self, experiment: str = "table1") -> dict[str, Finding]:
        folder = examples.folder(self)
        findings = limits.compare(examples.planned(experiment), folder, folder)
        return {finding.name: finding for finding in findings}

    def test_what_encrypts_is_wanted_where_something_is_encrypted(self) -> None:
        with mock.patch("rig.host.shutil.which", return_value=None):
            in_tls, in_clear = self.found("tls"), self.found("models")
        self.assertEqual(
            in_tls["nginx or /usr/sbin/nginx"].loses, "the stages tls-proxy-thread, tls-proxy-event"
        )
        self.assertNotIn("tls-event-clear", in_tls["openssl"].loses)
        self.assertIn("tls-event-new, ", in_tls["openssl"].loses)
        self.assertNotIn("openssl", in_clear)

    def test_ports_that_closed_connections_hold_are_computed_for_crowds_by_ftp(self) -> None:
        # Those of the paper: a fetch of 28.4 s for each of 250 users.
        self.assertAlmostEqual(limits.ports_held(250, 3600, 102400), 527.3, places=1)
        self.assertNotIn("ports of closed connections", self.found())
        found = self.found("001-10mbit")["ports of closed connections"]
        self.assertIn("400 users of 100KB at 3600 B/s by FTP", found.wanted)
        self.assertEqual(found.fix, "")
        with mock.patch.object(limits, "_ports", return_value=100):
            self.assertIn(
                "fewer users", self.found("001-10mbit")["ports of closed connections"].fix
            )

    def test_the_limit_of_all_programs_together_comes_with_its_fix(self) -> None:
        for most, fix in (("5000\n", "sudo scripts/tune-host --apply"), ("200000\n", "")):
            with mock.patch.object(Path, "read_text", _file_max(most)):
                self.assertEqual(self.found()[_ALL_FILES].fix, fix)

    def test_programs_and_timers_that_may_disturb_are_listed_and_are_no_fault(self) -> None:
        self.patch("_running", return_value={"cron"})
        self.patch("shutil", which=lambda _: "/bin/systemctl", disk_usage=limits.shutil.disk_usage)
        ran = mock.Mock(return_value=SimpleNamespace(stdout=_TIMERS))
        with mock.patch.object(limits.subprocess, "run", ran):
            found = self.found()[_NEIGHBOURS]
        self.assertEqual(
            found.value, "cron, apt-daily.timer, fstrim.timer: stop them before a run to quote"
        )
        self.assertEqual(found.fix, "")

    def cold(self, *, is_root: bool, is_container: bool) -> Finding:
        self.patch("is_root", return_value=is_root)
        self.patch("is_container", return_value=is_container)
        self.patch("os", access=lambda *_: False, sysconf=os.sysconf, stat=os.stat, major=os.major)
        return self.found("prefetch")["may drop caches"]

    def test_the_fix_for_a_cold_stage_is_what_helps_here(self) -> None:
        for is_root, is_container, fix in (
            (False, False, "run it with sudo"),
            (True, False, "run it as root of the host"),
            (True, True, "run it as root in a privileged container, or on the host itself"),
            (False, True, "run it as root in a privileged container, or on the host itself"),
        ):
            found = self.cold(is_root=is_root, is_container=is_container)
            self.assertEqual((found.fix, found.loses), (fix, "the stage multithreaded"))

    def test_what_cannot_be_measured_is_named(self) -> None:
        with mock.patch.object(limits.Tool, "found", return_value=""):
            found = self.found("prefetch")
        self.assertEqual(found["mariadbd or mysqld"].loses, "the stages multithreaded, prefetching")
        self.assertEqual(found["iperf3"].loses, "")
        self.assertEqual(found["mariadbd or mysqld"].fix, "scripts/setup lab")

    def test_setup_installs_what_is_said_of_it(self) -> None:
        """Debian's redis-server needs redis-tools."""
        words = (_PROJECT / "scripts/setup").read_text(encoding="utf-8").replace('"', " ")
        known = set(words.replace("|", " ").split())
        self.assertLessEqual(limits._OF_SETUP - {"redis-tools"}, known)

    def test_the_room_that_is_wanted_is_that_of_all_files(self) -> None:
        plan = examples.planned("prefetch")
        wanted = limits._disk(plan, Path("/tmp")).wanted
        for name in plan.file_counts:
            plan.file_counts[name] = 1
        found = limits._disk(plan, Path("/tmp"))
        self.assertIn("too few files", found.fix)
        self.assertEqual(found.wanted, wanted)

    def test_a_stage_on_a_machine_of_a_paper_needs_control_groups(self) -> None:
        nowhere = mock.patch.object(
            limits.control_group.Hierarchies, "parent", return_value=Path("/nonexistent")
        )
        with nowhere:
            found = self.found("000-created")["control groups"]
        self.assertEqual(found.loses, "the stages created-different, dropped-different")
        self.assertNotIn("control groups", self.found("table4"))

    def test_the_one_file_that_a_crowd_shares_is_enough(self) -> None:
        self.assertNotIn("too few files", self.found("001-10mbit")["disk for test files"].fix)

    def test_nobody_can_disturb_an_experiment_without_points(self) -> None:
        self.assertNotIn("cores", self.found("table1"))
        self.assertIn("cores", self.found("knee"))

    def test_a_program_is_found_by_its_name(self) -> None:
        own = Path("/proc/self/comm").read_text(encoding="utf-8").strip()
        self.assertEqual(limits._running(frozenset({own, "no-such-program"})), {own})


def _file_max(value: str) -> Callable[..., str]:
    read = Path.read_text

    def replaced(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        if str(path) == "/proc/sys/fs/file-max":
            return value
        return read(path, encoding, errors)

    return replaced
