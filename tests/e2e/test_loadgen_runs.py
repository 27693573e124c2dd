"""loadgen: several addresses, signals, progress, and wrong usage."""

import json
import os
import pty
import select
import signal
import subprocess
import time
import unittest

from flags import BAD_ADDRESS, BAD_COUNT, LOADGEN, not_shown, unlisted
from loadgen_scene import GET, one_byte_file
from peers import Peer
from programs import BUILD, environment, run
from scene import SceneTest
from waiting import LONG_S, eventually

from rig.processes import pause

_OWN_MOUNTS = ["unshare", "--map-root-user", "--mount"]


def why_no_own_hosts() -> str:
    """Empty if this user may give a program an /etc/hosts of its own, else the reason."""
    attempt = subprocess.run([*_OWN_MOUNTS, "true"], capture_output=True, text=True, check=False)
    return f"no mount namespace: {attempt.stderr.strip()}" if attempt.returncode else ""


@unittest.skipIf(why_no_own_hosts(), why_no_own_hosts())
class LoadgenAddressesTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.first, self.second = map(self.scene.keep, self.two_of_one_port())
        self.port = self.first.address[1]

    @staticmethod
    def two_of_one_port() -> tuple[Peer, Peer]:
        """The system picks the port for one address; at the other one somebody may have it."""
        while True:
            first = Peer(one_byte_file)
            try:
                return first, Peer(one_byte_file, at=("127.0.0.2", first.address[1]))
            except OSError:
                first.close()

    def run_against(self, *hosts: str, flags: tuple = ()) -> tuple[dict, str]:
        """Runs loadgen against a name that stands for `hosts`. Returns its JSON and its table."""
        table = self.scene.folder / "hosts"
        table.write_text("".join(f"{host} files.test\n" for host in hosts))
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        command = [str(BUILD / "loadgen"), *GET, "--file", "a", "--server"]
        command += [f"files.test:{self.port}", "--json", "-", *map(str, flags)]
        ended = subprocess.run(
            [*_OWN_MOUNTS, "sh", "-c", script, str(table), *command],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=2 * LONG_S,
            check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout), ended.stderr

    def test_the_load_is_spread_over_all_addresses_of_a_name(self) -> None:
        second = self.second
        for connection, half in (("per-request", 20), ("keep-alive", 2)):
            before = [self.first.connections, second.connections]
            result, table = self.run_against(
                "127.0.0.1",
                "127.0.0.2",
                flags=("--threads", 4, "--requests", 10, "--connection", connection),
            )
            self.assertEqual(result["requests"], 40)
            both = [f"127.0.0.{host}:{self.port}" for host in (1, 2)]
            self.assertEqual(sorted(result["server_addresses"]), both)
            self.assertTrue(all(address in table for address in both), table)
            after = [self.first.connections, second.connections]
            # One more at each, as loadgen looks before the run who accepts connections.
            self.assertEqual([b - a for a, b in zip(before, after, strict=True)], [half + 1] * 2)

    def test_an_address_where_nobody_listens_is_left_out(self) -> None:
        result, told = self.run_against("127.0.0.1", "127.0.0.3", flags=("--requests", 10))
        self.assertEqual((result["requests"], result["errors"]["total"]), (10, 0))
        self.assertEqual(result["server_addresses"], [str(self.first)])
        self.assertIn(f"warning: connect to 127.0.0.3:{self.port}: ", told)


class LoadgenSignalsTest(SceneTest):
    def command(self, peer: Peer, seconds: int) -> list[str]:
        return [
            str(BUILD / "loadgen"),
            *GET,
            "--file",
            "a",
            "--seconds",
            str(seconds),
            "--server",
            str(peer),
        ]

    def start(self, **options) -> subprocess.Popen:
        """Starts a run that lasts until it is stopped."""
        peer = self.scene.keep(Peer(one_byte_file))
        running = subprocess.Popen(
            self.command(peer, 3600), env=environment(), stdout=subprocess.DEVNULL, **options
        )
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        peer.wait_for_lines(1)
        return running

    def test_a_signal_ends_the_run_and_is_reported(self) -> None:
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number):
                running = self.start(stderr=subprocess.PIPE)
                running.send_signal(number)
                _, told = running.communicate(timeout=LONG_S)
                self.assertEqual(running.returncode, status)
                self.assertTrue(
                    told.endswith(f"stopped early by signal {int(number)}\n".encode()), told
                )

    def test_the_end_of_an_inherited_child_does_not_end_the_run(self) -> None:
        command = self.command(self.scene.keep(Peer(one_byte_file)), 1)
        ended = subprocess.run(
            ["sh", "-c", 'sleep 0.2 & exec "$@"', "sh", *command],
            env=environment(),
            capture_output=True,
            timeout=2 * LONG_S,
            check=False,
        )
        if b"the run is invalid" not in ended.stderr:
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_the_search_for_the_copies_of_verify_shows_its_progress_and_can_be_ended(self) -> None:
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        many = ("--file", "f%d", "--unique", 1_000_000_000)
        flags = (*many, "--verify", "--verify-root", "/nowhere")
        command = [str(BUILD / "loadgen"), *GET, *map(str, flags)]
        running = subprocess.Popen(command, env=environment(), stderr=its_end)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        os.close(its_end)
        shown = b""
        while b"looking for the copies of --verify: " not in shown:
            self.assertTrue(select.select([terminal], [], [], LONG_S)[0], shown)
            shown += os.read(terminal, 4096)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(LONG_S), -signal.SIGINT)

    def test_progress_is_shown_again_after_a_pause(self) -> None:
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        running = self.start(stderr=its_end)
        os.close(its_end)
        shown = b""

        def has_shown(text: bytes) -> bool:
            nonlocal shown
            while select.select([terminal], [], [], 0)[0]:
                shown += os.read(terminal, 4096)
            return text in shown

        pause(running.pid)
        time.sleep(2.2)  # the progress would have been shown more than twice
        running.send_signal(signal.SIGCONT)
        eventually(lambda: has_shown(b"   4 s "), "the progress of the fourth second")


class LoadgenUsageTest(unittest.TestCase):
    def assert_wrong_usage(self, *arguments: object, env: dict[str, str] | None = None) -> None:
        ended = run("loadgen", *arguments, env=env)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), (arguments, ended.stderr))
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)

    def test_wrong_usage_is_reported_in_one_line(self) -> None:
        for arguments in (
            (),
            ("fish",),
            ("new", "get"),
            ("new", "--fish"),
            ("get", "--file", "a"),
            ("get", "--user", "a", "--file", "a"),
            ("get", "--user", "a", "--password", "b"),
            (*GET, "--file", "a%d"),
            (*GET, "--file", "a", "--unique", "3"),
            ("get", "--user", "a b", "--password", "b", "--file", "a"),
            (*GET, "--file", ""),
            ("get", "--user", "a", "--password", "", "--file", "a"),
            (*GET, "--file", "a", "--accounts", "2"),
            ("new", "--accounts", "2"),
            ("new", "--user", "a%d", "--accounts", "2"),
            ("new", "--user", "a b%d", "--password", "b"),
            ("new", "--seconds", "1", "--requests", "1"),
            (*GET, "--file", "a", "--verify"),
            ("new", "--connection", "fish"),
            ("new", "--seconds", "x"),
            ("new", "--timeout", "-1"),
            ("new", "--pipeline=fish"),
            *(("new", f"--server={bad}") for bad in BAD_ADDRESS),
            *(("new", f"--threads={bad}") for bad in BAD_COUNT),
            *(("new", f"--requests={bad}") for bad in BAD_COUNT),
        ):
            with self.subTest(arguments=arguments):
                self.assert_wrong_usage(*arguments)

    def test_a_switch_is_true_in_a_variable(self) -> None:
        self.assert_wrong_usage("new", "--seconds", "x", env={"LOADGEN_PIPELINE": "true"})
        self.assert_wrong_usage("new", env={"LOADGEN_PIPELINE": "fish"})

    def test_help_shows_every_flag_with_its_variable(self) -> None:
        ended = run("loadgen", "--help=all", env={"COLUMNS": "120"})
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(not_shown(ended.stdout, "loadgen", LOADGEN), [], ended.stdout)
        self.assertEqual(unlisted(ended.stdout, LOADGEN), [])

    def test_help_has_examples_and_groups_and_leaves_out_the_rare_ones(self) -> None:
        shown = run("loadgen", "--help").stdout.splitlines()
        titles = [line[:-1] for line in shown if line.endswith(":") and not line.startswith(" ")]
        common = ["Basics", "What to request", "How much", "Output", "Closed loop", "Open loop"]
        last = ["Mixed work", "Connections", "Help and configuration"]
        self.assertEqual(titles, ["Examples", *common, *last])
        self.assertIn("has the groups TLS; Channels; Bursts; Crowds.", " ".join(shown[-2:]))
