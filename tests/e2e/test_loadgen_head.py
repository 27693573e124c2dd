"""What the results of all kinds of run of loadgen have in common, and why they say they ended."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from loadgen_scene import GET, LoadgenScene, one_byte_file
from peers import Peer
from programs import BUILD, run

HEAD = [
    *("schema", "version", "request", "protocol", "server", "settings", "started_unix_s"),
    *("elapsed_s", "end", "valid", "invalid_because", "requests", "throughput_rps", "bytes"),
    *("errors", "connections", "reconnects"),
]
KINDS: dict[str, tuple[object, ...]] = {
    "time": ("--seconds", 0.3),
    "requests": ("--threads", 2, "--requests", 3),
    "open loop": ("--rate", 50, "--seconds", 0.3),
    "burst": ("--threads", 2, "--release", "transfer", "--requests", 3),
    "crowd": ("--users", 2, "--pace", 1, "--ramp", 0, "--until-stable", 0.1, "--least-rate", 20),
}
ENDS = {"open loop": "time", "burst": "requests", "crowd": "stable"}


class LoadgenHeadTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.peer = self.scene.keep(Peer(one_byte_file))

    def ended(self, *flags: object, server: object = None) -> tuple[dict[str, Any], int]:
        """The result of a get, and the exit status."""
        done = run(
            "loadgen",
            *(*GET, "--server", server or self.peer, "--json", "-"),
            *(() if "--file" in flags else ("--file", "a")),
            *flags,
        )
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout), done.returncode

    def test_every_kind_of_run_has_the_same_head(self) -> None:
        before = time.time()
        version = run("loadgen", "--version").stdout.split()[1]
        for kind, flags in KINDS.items():
            with self.subTest(kind=kind):
                result, status = self.ended(*flags)
                self.assertEqual(list(result)[: len(HEAD)], HEAD)
                self.assertEqual((result["schema"], result["version"]), (1, version))
                self.assertEqual(result["end"], ENDS.get(kind, kind))
                # On a loaded machine loadgen may be too late for a schedule.
                self.assertTrue(result["valid"] or kind in ("open loop", "crowd"), result)
                self.assertEqual(result["valid"], not result["invalid_because"])
                self.assertEqual(status, int(not result["valid"]))
                self.assertTrue(before <= result["started_unix_s"] <= time.time())
                self.assertGreater(result["requests"], 0)
                self.assertEqual(result["bytes"], result["requests"])
                self.assertEqual((result["errors"], result["reconnects"]), ({"total": 0}, 0))

    def test_the_settings_are_all_flags_but_the_password(self) -> None:
        result, _ = self.ended("--requests", 2, "--timeout", 2.5, "--connection", "keep-alive")
        settings = result["settings"]
        template = run("loadgen", "--help=config").stdout.splitlines()
        flags = {line.split("=")[0].strip("# ") for line in template if " =" in line}
        self.assertEqual(set(settings), flags - {"password"})
        self.assertEqual((settings["requests"], settings["timeout"]), (2, 2.5))
        self.assertEqual((settings["file"], settings["user"]), ("a", "alice"))
        self.assertEqual((settings["connection"], settings["verify"]), ("keep-alive", False))
        self.assertEqual((settings["seconds"], settings["rate"]), (None, None))
        self.assertNotIn("wonderland", json.dumps(result))

    def test_connections_are_those_that_were_made(self) -> None:
        flags = ("--threads", 2, "--requests", 3)
        self.assertEqual(self.ended(*flags)[0]["connections"], 6)
        kept, _ = self.ended(*flags, "--connection", "keep-alive")
        self.assertEqual(kept["connections"], 2)
        self.assertEqual(self.ended(*KINDS["crowd"])[0]["connections"], 2)
        result, _ = self.ended("--seconds", 0.2, "--warmup", 0.2)
        uncounted = result["warmup_requests"] + result["cooldown_requests"]
        self.assertEqual(result["connections"], result["requests"] + uncounted)

    def test_a_run_may_end_when_the_files_are_used_up(self) -> None:
        flags = ("--file", "a%d", "--unique", 3, "--once")
        result, status = self.ended(*flags, "--seconds", 60)
        self.assertEqual((result["end"], result["requests"], status), ("files", 3, 0))
        burst = ("--release", "transfer", "--requests", 5)
        result, status = self.ended(*flags, *burst)
        self.assertEqual((result["end"], result["requests"], status), ("files", 3, 0))

    def test_an_interrupted_run_says_so(self) -> None:
        for kind in ("--seconds 60", "--seconds 60 --rate 50", "--users 2 --pace 1 --ramp 0"):
            with self.subTest(kind=kind):
                path = self.scene.folder / "r.json"
                asked = len(self.peer.lines)
                running = subprocess.Popen(
                    [
                        *(str(BUILD / "loadgen"), *GET, "--file", "a", *kind.split()),
                        *("--server", str(self.peer), "--json", str(path)),
                    ],
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.addCleanup(running.kill)
                self.peer.wait_for_lines(asked + 1)
                running.send_signal(signal.SIGINT)
                _, said = running.communicate()
                self.assertEqual(running.returncode, 130, said)
                self.assertIn("stopped early by signal 2", said)
                self.assertEqual(json.loads(Path(path).read_text())["end"], "signal")
