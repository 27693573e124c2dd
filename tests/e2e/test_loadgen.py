"""loadgen: the figures of a run are true, and it ends as it should."""

import json
import os
import resource
import socket
import subprocess
import time
import unittest
from pathlib import Path

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file, slow_file
from peers import Peer, Relay
from programs import BUILD, environment, run
from waiting import LONG_S, eventually


def is_connecting_to(port: int) -> bool:
    """Whether a connection to this port was begun, and the server has not answered (SYN_SENT)."""
    rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(int(row[2].split(":")[1], 16) == port and row[3] == "02" for row in rows)


class LoadgenTest(LoadgenScene):
    def test_a_number_of_requests_is_for_each_thread(self) -> None:
        self.serve()
        for connection in ("per-request", "keep-alive"):
            for pipeline in ((), ("--pipeline",)):
                with self.subTest(connection=connection, pipeline=pipeline):
                    flags = ("--threads", 4, "--requests", 25, "--connection", connection)
                    result = self.result(*GET, "--file", "file3", *flags, *pipeline)
                    self.assertEqual((result["requests"], result["bytes"]), (100, 100 * 3000))
                    self.assertEqual(self.errors(result), {})
                    self.assertEqual(
                        (result["request"], result["threads"], result["connection"]),
                        ("get", 4, connection),
                    )
                    self.assertEqual(result["server"], str(self.fileserver))

    def test_a_run_by_time_takes_that_time(self) -> None:
        self.serve()
        result = self.result(*GET, "--file", "file1", "--threads", 2, "--seconds", 1.2)
        self.assertGreaterEqual(result["elapsed_s"], 1.1)
        self.assertGreater(result["requests"], 0)
        self.assertEqual(result["bytes"], 1000 * result["requests"])

    def test_an_invalid_run_has_failed_and_its_last_line_says_why(self) -> None:
        """One thread is done at once. Half of the load is missing for the rest of the time."""
        peer = self.scene.keep(Peer(slow_file("f2", 5.2)))
        flags = ("--file", "f%d", "--unique", 1, "--threads", 2, "--requests", 1)
        ended = run("loadgen", *GET, *flags, "--server", peer, "--json", "-")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        result = json.loads(ended.stdout)
        self.assertEqual((result["valid"], result["errors"]["total"]), (False, 0))
        last = ended.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("loadgen: the run is invalid: X*R is 0."), last)

    @unittest.skipUnless(Path("/proc/self/schedstat").exists(), "this kernel counts no run delay")
    def test_a_generator_that_gets_no_core_is_noticed(self) -> None:
        """It shares one core with a busy neighbour that has a higher priority."""
        core = {min(os.sched_getaffinity(0))}

        def on_the_core() -> None:
            os.sched_setaffinity(0, core)

        def on_the_core_and_nice() -> None:
            on_the_core()
            os.nice(10)

        with subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=on_the_core) as busy:
            self.addCleanup(busy.kill)
            peer = self.scene.keep(Peer(one_byte_file))
            flags = (*GET, "--file", "a", "--seconds", 2, "--server", peer, "--json", "-")
            ended = subprocess.run(
                [str(BUILD / "loadgen"), *map(str, flags)],
                env=environment(),
                capture_output=True,
                text=True,
                timeout=4 * LONG_S,
                check=False,
                preexec_fn=on_the_core_and_nice,
            )
            busy.kill()
        run_delay = json.loads(ended.stdout)["run_delay"]
        self.assertTrue(run_delay["is_starved"], ended.stderr)
        # It may be over 1: the main thread, and that of a sanitizer, wait for the core too.
        self.assertGreater(run_delay["share"], 0.05, run_delay)
        self.assertIn("warning: loadgen's threads had to wait for a core", ended.stderr)

    def test_the_command_line_beats_the_environment_in_how_a_run_ends(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = (*GET, "--file", "a", "--requests", 3)
        self.assertEqual(
            self.result(*flags, server=peer, env={"LOADGEN_SECONDS": "60"})["requests"], 3
        )

    def test_warmup_is_not_counted(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        result = self.result(
            *GET, "--file", "a", "--threads", 2, "--warmup", 0.5, "--requests", 10, server=peer
        )
        self.assertEqual((result["requests"], result["bytes"]), (20, 20))
        self.assertGreater(peer.lines.count(b"a\n"), 20)

    def test_connections_are_made_per_request_or_kept(self) -> None:
        self.serve()
        for connection, expected in (("per-request", 60), ("keep-alive", 3)):
            relay = self.scene.keep(Relay(self.fileserver.address))
            flags = ("--threads", 3, "--requests", 20, "--connection", connection)
            self.result(*GET, "--file", "file1", *flags, server=relay)
            # loadgen may connect once before the run, to see whether somebody listens.
            self.assertIn(relay.connections - expected, (0, 1), connection)

    def test_a_run_that_cannot_start_keeps_the_last_result(self) -> None:
        result = self.scene.folder / "result.json"
        result.write_text("the last one")
        flags = ("--threads", 4, "--json", result, "--server", "nowhere.invalid:9000")
        ended = run("loadgen", "new", *flags)
        self.assertEqual((ended.returncode, result.read_text()), (1, "the last one"), ended.stderr)

    def test_the_result_replaces_the_last_one_when_it_is_whole(self) -> None:
        result = self.scene.folder / "result.json"
        link = self.scene.folder / "link.json"
        link.symlink_to(result)
        result.write_text("the last one")
        seen = set()

        def look(line: bytes, connection: socket.socket) -> bytes:
            seen.add(result.read_text())
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(look))
        flags = ("--file", "a", "--requests", 2, "--server", peer, "--json", link)
        with result.open() as former:
            self.assertEqual(run("loadgen", *GET, *flags).returncode, 0)
            self.assertEqual(former.read(), "the last one")  # it was not written over
        self.assertEqual(seen, {"the last one"})
        self.assertEqual(json.loads(result.read_text())["requests"], 2)
        self.assertTrue(link.is_symlink())
        self.assertEqual(list(self.scene.folder.glob("*.part")), [])

    def test_a_result_that_cannot_be_written_is_told_before_the_run(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        for path in (self.scene.folder, self.scene.folder / "no" / "folder", "/proc/version/a"):
            flags = ("--file", "a", "--server", peer, "--json", path)
            ended = run("loadgen", *GET, *flags)
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (1, 1), ended.stderr)
            self.assertIn(f"loadgen: --json: write {path}: ", ended.stderr)
        self.assertEqual(peer.lines, [])

    def test_a_device_takes_the_result(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--requests", 2, "--server", peer, "--json", "/dev/stdout")
        self.assertEqual(json.loads(run("loadgen", *GET, *flags).stdout)["requests"], 2)

    def test_the_response_time_includes_connecting(self) -> None:
        """The server's queue is full, so the connection cannot be made until it accepts."""
        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            listener.settimeout(LONG_S)
            address = listener.getsockname()
            self.addCleanup(socket.create_connection(address).close)
            flags = ("--file", "a", "--requests", "1", "--json", "-")
            command = [str(BUILD / "loadgen"), *GET, *flags, "--server", f"127.0.0.1:{address[1]}"]
            with subprocess.Popen(
                command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as running:
                self.addCleanup(running.kill)
                eventually(lambda: is_connecting_to(address[1]), "loadgen connects")
                began = time.monotonic()
                time.sleep(0.3)  # this is the time that must be in the response time
                held_ms = 1000 * (time.monotonic() - began)
                for connection in (listener.accept()[0] for _ in range(2)):
                    self.addCleanup(connection.close)
                with connection.makefile("rb") as lines:
                    for line in lines:
                        connection.sendall(one_byte_file(line, connection))
                result = json.loads(running.communicate(timeout=LONG_S)[0])
        self.assertGreaterEqual(result["response_time_ms"]["min"], held_ms)
        self.assertGreaterEqual(result["phases_ms"]["connect"], held_ms)

    def test_the_cpu_time_of_a_request_is_loadgens_own(self) -> None:
        """It is a good part of what the system counted for the whole process, and not more."""
        peer = self.scene.keep(Peer(one_byte_file))
        requests = 1000
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.result(*GET, "--file", "a", "--requests", requests, server=peer)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ours_s = requests * result["cpu"]["us_per_request"] / 1e6
        self.assertGreater(ours_s, 0.2 * used_s)
        self.assertLessEqual(ours_s, used_s)

    def test_get_is_sent_for_every_request(self) -> None:
        for connection in ("per-request", "keep-alive"):
            peer = self.scene.keep(Peer(one_byte_file))
            self.result(
                *GET, "--file", "a", "--requests", 30, "--connection", connection, server=peer
            )
            self.assertEqual(peer.lines, [GET_LINE, b"a\n"] * 30)
