"""Runs of loadgen, as several files of tests start them."""

import json
import socket
import subprocess
import time
from collections.abc import Callable

import server_pairs
from client import CODES
from peers import Listening
from programs import BUILD, environment, run
from scene import SceneTest

FAULTS = {"timeout", "connect", "closed", "mismatch", "protocol", "unfinished", "changed"}
CAUSES = CODES | FAULTS
GET = ("get", "--user", "alice", "--password", "wonderland")
GET_LINE = b"get:alice:wonderland\n"
Answer = Callable[[bytes, socket.socket], bytes | None]


def one_byte_file(line: bytes, connection: socket.socket) -> bytes:
    """Answers as a server that accepts the log-in and has the same file under every name."""
    return b"OK\n" if line == GET_LINE else b"OK 1\nx"


def slow_file(name: str, seconds: float) -> Answer:
    """Answers as above, but takes its time for the file of this name."""

    def answer(line: bytes, connection: socket.socket) -> bytes:
        if line == f"{name}\n".encode():
            time.sleep(seconds)
        return one_byte_file(line, connection)

    return answer


def as_users(flags: tuple[object, ...]) -> tuple[object, ...]:
    """The same run with users that share threads, as many as there are threads."""
    words = [str(flag) for flag in flags]
    if {"--users", "--release", "--life", "--ramp"} & set(words):
        return flags
    if "--threads" in words:
        at = words.index("--threads")
        return (*flags[:at], "--users", *flags[at + 1 :])
    return (*flags, "--users", 1)


class LoadgenScene(SceneTest):
    """Base class: a fileserver with files of known sizes, and runs of loadgen against it."""

    shares_threads = False  # the runs have users where a test asks for threads
    encrypts = False  # the runs are in TLS, and so are the peers

    def setUp(self) -> None:
        super().setUp()
        self.sizes = {f"file{number}": number * 1000 for number in range(1, 13)}
        for name, size in self.sizes.items():
            self.scene.write(name, bytes([size % 251]) * size)

    def serve(self, *flags: object) -> None:
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.fileserver = self.scene.fileserver(self.authserver, "--files", "disk", *flags)

    def adapted(self, *flags: object, server: object = None) -> tuple[object, ...]:
        """The flags of a run, as the class has it. The server must not have a connection yet."""
        if self.encrypts and isinstance(server, Listening):
            server.context = server_pairs.server_context()
        flags = (*flags, "--tls", "--tls-insecure") if self.encrypts else flags
        return as_users(flags) if self.shares_threads else flags

    def result(
        self,
        *flags: object,
        server: object = None,
        status: int = 0,
        env: dict[str, str] | None = None,
    ) -> dict:
        """Runs loadgen against the fileserver, or another server, and returns its JSON.

        On a loaded machine a run may be invalid. Then its status is 1, although no request failed.
        """
        path = self.scene.folder / "result.json"
        flags = self.adapted(*flags, server=server)
        ended = run(
            "loadgen", *flags, "--server", server or self.fileserver, "--json", path, env=env
        )
        self.assertTrue(path.exists(), ended.stderr)
        result = json.loads(path.read_text())
        status = status or int(not result["valid"])
        self.assertEqual(ended.returncode, status, ended.stderr + ended.stdout)
        self.assert_consistent(result)
        return result

    def started(self, *flags: object, server: object) -> subprocess.Popen:
        """A loadgen that writes its JSON to its standard output. It ends with the test."""
        flags = self.adapted(*flags, server=server)
        running = subprocess.Popen(
            [str(BUILD / "loadgen"), *map(str, flags), "--server", str(server), "--json", "-"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def assert_consistent(self, result: dict) -> None:
        errors = dict(result["errors"])
        total = errors.pop("total")
        self.assertEqual(sum(errors.values()), total)
        self.assertLessEqual(set(errors), CAUSES)
        self.assertGreater(result["elapsed_s"], 0)
        rate = result["requests"] / result["elapsed_s"]
        rounding = 0.01 * result["throughput_rps"] + 0.1
        self.assertLessEqual(result["throughput_rps"], rate + rounding)
        if "open_loop" not in result:  # there a request that ends after its time counts by a part
            self.assertGreaterEqual(result["throughput_rps"], rate - rounding)
        in_seconds = sum(second["requests"] for second in result["per_second"])
        self.assertLessEqual(in_seconds, result["requests"])
        if "open_loop" not in result:
            self.assertEqual(in_seconds, result["requests"])
        shown = result["response_time_ms"]
        times = [shown[name] for name in ("min", "p50", "p90", "p99", "p99.9", "max")]
        if result["requests"] > 0:
            self.assertEqual(times, sorted(times))
            self.assertTrue(times[0] <= result["response_time_ms"]["mean"] <= times[-1])

    def errors(self, result: dict) -> dict[str, int]:
        return {
            code: count for code, count in result["errors"].items() if count > 0 and code != "total"
        }
