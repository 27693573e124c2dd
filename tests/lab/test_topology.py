"""`lab run` with the load generator elsewhere: behind a link, and on a host that ssh reaches."""

import json
import unittest

import examples
from networks import why_no_namespace
from real_lab import BUILD, DONE, TINY, disk_folder, lab, table, why_no_run
from ssh_host import SshHost, why_no_ssh_host

from rig import cable
from rig.errors import WrongUsage

MBIT = 20


class TopologyTest(unittest.TestCase):
    def setUp(self):
        self.folder = examples.folder(self, disk_folder())
        self.out = self.folder / "out"

    def run_lab(self, *flags: str, path: str = "") -> None:
        """One stage, new accounts: no files have to be made."""
        command = ["run", "table4", *TINY, "--sizes", "new", "--stages", "turnstile", *flags]
        command += ["--programs", str(BUILD), "--work", str(self.folder / "work")]
        done = lab(*command, "--out", str(self.out), path=path)
        self.assertIn(done.returncode, DONE, done.stderr)

    def environment(self):
        return json.loads((self.out / "environment.json").read_text(encoding="utf-8"))

    def metrics(self, component: str, name: str) -> list[float]:
        return [
            float(line["value"])
            for line in table(self.out / "usage.csv")
            if (line["component"], line["metric"]) == (component, name)
        ]

    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_namespace(), why_no_namespace())
    def test_a_link_carries_no_more_than_its_rate_and_is_recorded(self):
        self.run_lab("--link", f"{MBIT}mbit")
        points = table(self.out / "points.csv")
        self.assertEqual({row["topology"] for row in points}, {f"netns {MBIT}mbit"})
        carried = self.metrics("machine", "link_bytes_per_s")
        self.assertEqual(len(carried), len(points))
        self.assertTrue(all(rate > 0 for rate in carried), carried)
        if not self.environment()["link_probes"]:  # a busy machine is why
            problems = " ".join(self.environment()["problems"].values())
            self.assertRegex(problems, "disturbed 3 times")
            return
        probe = self.environment()["link_probes"][f"netns {MBIT}mbit"]
        most = 1.15 * MBIT * 1e6 / 8  # with what the limit lets pass at once
        self.assertLess(probe["bytes"] / probe["interval_s"], most)
        self.assertIn(f"link of {MBIT}mbit", (self.out / "environment.json").read_text())

    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_ssh_host(), why_no_ssh_host())
    def test_the_load_generator_runs_on_a_host_that_ssh_reaches(self):
        with SshHost(self.folder) as host:
            self.run_lab("--client", host.name, path=str(host.bin))
            self.assertEqual(host.left_behind(), [])
        points = table(self.out / "points.csv")
        self.assertEqual({row["topology"] for row in points}, {host.name})
        self.assertTrue(all(int(row["requests"]) > 0 for row in points), points)
        for row in points:
            self.assertRegex(row["notes"], rf"load generator used \d+\.\d cores of {host.name}")
        self.assertEqual(self.metrics("loadgen", "cpu_cores"), [])  # it used no core of ours
        self.assertNotEqual(self.metrics("fileserver", "cpu_cores"), [])
        self.assertNotIn("LOADGEN_PASSWORD=", host.log())
        self.assertEqual(list(self.environment()["clients"]), [host.name])
        self.assertIn("CPU(s)", self.environment()["clients"][host.name])

    @unittest.skipIf(why_no_ssh_host(), why_no_ssh_host())
    def test_the_doctor_asks_the_host_of_the_load_generator_too(self):
        with SshHost(self.folder) as host:
            flags = ["--client", host.name, "--work", str(self.folder / "work")]
            done = lab("doctor", "table4", "--quick", *flags, path=str(host.bin))
        there = [line for line in done.stdout.splitlines() if f"{host.name}: " in line]
        for name in ("open files", "ports for connections", "tcp_tw_reuse", "congestion control"):
            self.assertEqual(sum(name in line for line in there), 1, done.stdout + done.stderr)

    def test_a_host_that_does_not_let_us_in_is_named_with_the_reason(self):
        folder = self.folder / "bin"
        folder.mkdir()
        denied = "nobody: Permission denied (publickey)."
        (folder / "ssh").write_text(f"#!/bin/sh\necho '{denied}' >&2; exit 255\n")
        (folder / "ssh").chmod(0o755)
        command = ["run", "table4", *TINY, "--sizes", "new", "--stages", "turnstile"]
        command += ["--programs", str(BUILD), "--work", str(self.folder / "work")]
        done = lab(*command, "--out", str(self.out), "--client", "nobody", path=str(folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody: nobody: Permission denied", done.stderr.splitlines()[-1])

    def test_flags_that_do_not_fit_are_wrong_usage(self):
        for flags, words in (
            (["--link", "fast"], "wanted a rate like 10mbit or 1gbit"),
            (["--link", "1gbit", "--client", "bench"], "has a link already"),
            (["--client", "-oProxyCommand=x"], "expected one argument"),
            (["--client=-oProxyCommand=x"], "wanted netns, or a host"),
        ):
            done = lab("run", "table1", *flags)
            self.assertEqual((done.returncode, words in done.stderr), (2, True), done.stderr)

    def test_rates_are_read_as_tc_reads_them(self):
        self.assertEqual(cable.bits_per_s("10mbit"), 1e7)
        self.assertEqual(cable.bits_per_s("1gbit"), 1e9)
        for text in ("", "1", "0mbit", "1gbps", "1 gbit", "-1mbit"):
            with self.assertRaises(WrongUsage):
                cable.bits_per_s(text)
