"""loadgen: its figures are true, its errors are counted by cause, and its flags work."""

import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from client import CODES
from flags import BAD_ADDRESS, BAD_COUNT, LOADGEN, not_shown, unlisted
from peers import HangUp, Peer, Relay
from programs import BUILD, environment, run
from scene import SceneTest, create_account
from waiting import LONG_S, eventually

from lab.rig.host import free_port
from lab.rig.processes import pause

CAUSES = CODES | {"timeout", "connect", "closed", "mismatch", "protocol"}
GET = ("get", "--user", "alice", "--password", "wonderland")
GET_LINE = b"get:alice:wonderland\n"
Answer = Callable[[bytes, socket.socket], bytes | None]


def is_connecting_to(port: int) -> bool:
    """Whether a connection to this port was begun, and the server has not answered (SYN_SENT)."""
    rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(int(row[2].split(":")[1], 16) == port and row[3] == "02" for row in rows)


def one_byte_file(line: bytes, connection: socket.socket) -> bytes:
    """Answers as a server that accepts the log-in and has the same file under every name."""
    return b"OK\n" if line == GET_LINE else b"OK 1\nx"


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
class LoadgenTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.sizes = {f"file{number}": number * 1000 for number in range(1, 13)}
        for name, size in self.sizes.items():
            self.scene.write(name, bytes([size % 251]) * size)

    def serve(self, *flags: object) -> None:
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(self.authserver)
        self.fileserver = self.scene.fileserver(self.authserver, "--files", "disk", *flags)

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
        ended = run(
            "loadgen", *flags, "--server", server or self.fileserver, "--json", path, env=env
        )
        self.assertTrue(path.exists(), ended.stderr)
        result = json.loads(path.read_text())
        if not result["valid"] and result["elapsed_s"] >= 5:
            status = 1
        self.assertEqual(ended.returncode, status, ended.stderr + ended.stdout)
        self.assert_consistent(result)
        return result

    def assert_consistent(self, result: dict) -> None:
        errors = dict(result["errors"])
        total = errors.pop("total")
        self.assertEqual(sum(errors.values()), total)
        self.assertLessEqual(set(errors), CAUSES)
        self.assertGreater(result["elapsed_s"], 0)
        self.assertAlmostEqual(
            result["throughput_rps"],
            result["requests"] / result["elapsed_s"],
            delta=0.01 * result["throughput_rps"] + 0.1,
        )
        self.assertEqual(
            sum(second["requests"] for second in result["per_second"]), result["requests"]
        )
        times = [
            result["response_time_ms"][name]
            for name in ("min", "p50", "p90", "p99", "p99.9", "max")
        ]
        if result["requests"] > 0:
            self.assertEqual(times, sorted(times))
            self.assertTrue(times[0] <= result["response_time_ms"]["mean"] <= times[-1])

    def errors(self, result: dict) -> dict[str, int]:
        return {
            code: count for code, count in result["errors"].items() if count > 0 and code != "total"
        }

    def test_a_number_of_requests_is_for_each_thread(self) -> None:
        self.serve()
        for connection in ("per-request", "keep-alive"):
            for pipeline in ((), ("--pipeline",)):
                with self.subTest(connection=connection, pipeline=pipeline):
                    result = self.result(
                        *GET,
                        "--file",
                        "file3",
                        "--threads",
                        4,
                        "--requests",
                        25,
                        "--connection",
                        connection,
                        *pipeline,
                    )
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

        def slow_second_file(line: bytes, connection: socket.socket) -> bytes:
            if line == b"f2\n":
                time.sleep(5.2)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(slow_second_file))
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
        self.assertTrue(0.05 < run_delay["share"] <= 1.01, run_delay)
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
            self.result(
                *GET,
                "--file",
                "file1",
                "--threads",
                3,
                "--requests",
                20,
                "--connection",
                connection,
                server=relay,
            )
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

    def test_get_is_sent_for_every_request(self) -> None:
        for connection in ("per-request", "keep-alive"):
            peer = self.scene.keep(Peer(one_byte_file))
            self.result(
                *GET, "--file", "a", "--requests", 30, "--connection", connection, server=peer
            )
            self.assertEqual(peer.lines, [GET_LINE, b"a\n"] * 30)

    def test_unique_gives_every_thread_numbers_of_its_own_in_order(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        self.result(
            *GET, "--file", "f%d", "--unique", 4, "--threads", 3, "--requests", 5, server=peer
        )
        for thread in range(3):
            mine = [b"f%d\n" % number for number in range(thread * 4 + 1, thread * 4 + 5)]
            self.assertEqual([line for line in peer.lines if line in mine], [*mine, mine[0]])

    def test_unique_wraps(self) -> None:
        self.serve()
        result = self.result(
            *GET, "--file", "file%d", "--unique", 2, "--threads", 2, "--requests", 5
        )
        self.assertEqual(
            result["bytes"], sum(1000 * number for number in (1, 2, 1, 2, 1, 3, 4, 3, 4, 3))
        )

    def test_once_ends_the_run_before_a_file_is_asked_for_twice(self) -> None:
        for warmup in ((), ("--warmup", 0.01)):
            peer = self.scene.keep(Peer(one_byte_file))
            result = self.result(
                *GET,
                "--file",
                "f%d",
                "--unique",
                500,
                "--threads",
                3,
                "--seconds",
                60,
                "--once",
                *warmup,
                server=peer,
            )
            names = [line for line in peer.lines if line != GET_LINE]
            self.assertEqual(len(set(names)), len(names))
            self.assertGreaterEqual(len(names), 500)
            self.assertLess(result["elapsed_s"], 60)

    def test_new_makes_names_that_no_other_run_makes(self) -> None:
        self.serve()
        for _ in range(3):
            result = self.result("new", "--threads", 4, "--requests", 10)
            self.assertEqual(
                (result["requests"], result["bytes"], result["request"]), (40, 0, "new")
            )
            self.assertEqual(self.errors(result), {})

    def test_save_keeps_whole_files_under_their_names(self) -> None:
        self.serve()
        self.scene.write("deep/file7", b"7" * 300_000)
        kept = self.scene.folder / "kept"
        for flags in (
            ("--file", "file%d", "--unique", 3, "--threads", 2, "--requests", 5),
            ("--file", "deep/file7", "--requests", 2),
        ):
            self.assertEqual(self.errors(self.result(*GET, *flags, "--save", kept)), {})
        names = sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file())
        self.assertEqual(names, ["deep/file7", *(f"file{number}" for number in range(1, 7))])
        for name in names:
            self.assertEqual(
                (kept / name).read_bytes(), (self.scene.root / name).read_bytes(), name
            )

    def test_an_incomplete_file_is_not_saved(self) -> None:
        peer = self.scene.keep(Peer(lambda line, _: b"OK\n" if line == GET_LINE else b"OK 5\nx"))
        kept = self.scene.folder / "kept"
        result = self.result(
            *GET,
            "--file",
            "a",
            "--requests",
            1,
            "--timeout",
            0.3,
            "--save",
            kept,
            server=peer,
            status=1,
        )
        self.assertEqual(self.errors(result), {"timeout": 1})
        self.assertEqual(list(kept.iterdir()), [])

    def test_a_file_that_cannot_be_saved_ends_the_run_in_one_line(self) -> None:
        self.serve()
        kept = self.scene.folder / "kept"
        (kept / "file1").mkdir(parents=True)
        for folder, where in (
            (kept, kept / "file1"),
            (self.scene.root / "file1", self.scene.root / "file1"),
        ):
            ended = run(
                "loadgen", *GET, "--file", "file1", "--save", folder, "--server", self.fileserver
            )
            self.assertEqual(ended.returncode, 1)
            self.assertRegex(ended.stderr, rf"loadgen: --save: {where}: .+\n$")

    def test_verify_accepts_equal_copies_and_reports_different_ones(self) -> None:
        self.serve()
        copies = self.scene.folder / "copies"
        copies.mkdir()
        for name in ("file1", "file2", "file3", "file4"):
            (copies / name).write_bytes((self.scene.root / name).read_bytes())
        flags = (
            *GET,
            "--file",
            "file%d",
            "--unique",
            4,
            "--requests",
            4,
            "--verify",
            "--verify-root",
            copies,
        )
        self.assertEqual(self.errors(self.result(*flags)), {})
        changed = bytearray((copies / "file2").read_bytes())
        changed[-1] ^= 1
        (copies / "file2").write_bytes(changed)
        result = self.result(*flags, status=1)
        self.assertEqual((self.errors(result), result["requests"]), ({"mismatch": 1}, 3))
        self.assertEqual(result["bytes"], 8000)
        (copies / "file3").write_bytes(b"short")
        self.assertEqual(self.errors(self.result(*flags, status=1)), {"mismatch": 2})

    def test_errors_are_counted_by_their_code_and_in_no_other_figure(self) -> None:
        self.serve()
        (self.scene.root / "file2").unlink()
        result = self.result(*GET, "--file", "file%d", "--unique", 4, "--requests", 8, status=1)
        self.assertEqual(
            (self.errors(result), result["requests"], result["bytes"]),
            ({"not-found": 2}, 6, 16_000),
        )

    def test_a_wrong_password_is_denied(self) -> None:
        self.serve()
        for pipeline in ((), ("--pipeline",)):
            for connection in ("per-request", "keep-alive"):
                result = self.result(
                    "get",
                    "--user",
                    "alice",
                    "--password",
                    "no",
                    "--file",
                    "file1",
                    "--requests",
                    5,
                    *pipeline,
                    "--connection",
                    connection,
                    status=1,
                )
                self.assertEqual((self.errors(result), result["requests"]), ({"denied": 5}, 0))

    def test_a_password_may_come_from_the_environment_and_is_printed_nowhere(self) -> None:
        self.serve()
        self.scene.client(self.authserver).ask("new:bob:Xyzzy-Plugh")
        flags = (
            "get",
            "--user",
            "bob",
            "--file",
            "file1",
            "--requests",
            2,
            "--server",
            self.fileserver,
            "--json",
            "-",
        )
        ended = run("loadgen", *flags, env={"LOADGEN_PASSWORD": "Xyzzy-Plugh"})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("Xyzzy-Plugh", ended.stdout + ended.stderr)
        self.assertNotIn(
            "Xyzzy-Plugh", run("loadgen", "--help", env={"LOADGEN_PASSWORD": "Xyzzy-Plugh"}).stdout
        )

    def test_busy_and_unavailable_are_counted_separately(self) -> None:
        self.serve("--max-connections", 1)
        holder = self.scene.client(self.fileserver)
        self.assertEqual(holder.ask("ping"), "OK")
        self.assertEqual(self.errors(self.result("new", "--requests", 3, status=1)), {"busy": 3})
        holder.close()
        self.authserver.stop()
        result = self.result("new", "--requests", 3, "--connection", "keep-alive", status=1)
        self.assertLessEqual(set(self.errors(result)), {"unavailable", "busy"})

    def test_a_server_that_does_not_listen_is_reported(self) -> None:
        ended = run(
            "loadgen", *GET, "--file", "a", "--requests", 3, "--server", f"127.0.0.1:{free_port()}"
        )
        self.assertEqual(ended.returncode, 1)
        self.assertTrue(ended.stderr.strip())

    def test_a_connection_that_is_refused_is_not_tried_without_a_pause(self) -> None:
        nobody = f"127.0.0.1:{free_port()}"
        for connection in ("per-request", "keep-alive"):
            flags = ("--threads", 2, "--seconds", 0.3, "--connection", connection)
            result = self.result(*GET, "--file", "a", *flags, server=nobody, status=1)
            self.assertEqual(set(self.errors(result)), {"connect"})
            self.assertLessEqual(result["errors"]["total"], 2 * (1000 * result["elapsed_s"] + 1))
            refused = f"connect to {nobody}: Connection refused"
            self.assertEqual(result["first_errors"], {"connect": refused})

    def test_the_first_error_of_a_closed_connection_is_shown(self) -> None:
        def reset(line: bytes, connection: socket.socket) -> None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
            raise HangUp

        def end(line: bytes, connection: socket.socket) -> None:
            raise HangUp

        for answer, why in ((reset, "Connection reset by peer"), (end, "the server closed")):
            peer = self.scene.keep(Peer(answer))
            result = self.result(*GET, "--file", "a", "--requests", 2, server=peer, status=1)
            self.assertEqual(self.errors(result), {"closed": 2})
            self.assertIn(why, result["first_errors"]["closed"])

    def assert_cause(self, cause: str, *answers: Answer, timeout_s: float = LONG_S) -> None:
        for number, answer in enumerate(answers):
            with self.subTest(cause=cause, number=number):
                peer = self.scene.keep(Peer(answer))
                flags = (*GET, "--file", "a", "--requests", 2, "--timeout", timeout_s)
                result = self.result(*flags, server=peer, status=1)
                self.assertEqual(
                    (self.errors(result), result["requests"], result["bytes"]), ({cause: 2}, 0, 0)
                )

    def test_a_connection_that_ends_early_is_closed(self) -> None:
        def close(line: bytes, connection: socket.socket) -> None:
            raise HangUp

        def close_in_the_file(line: bytes, connection: socket.socket) -> bytes:
            if line == GET_LINE:
                return b"OK\n"
            connection.sendall(b"OK 10\nshort")
            raise HangUp

        self.assert_cause("closed", close, close_in_the_file)

    def test_an_improper_reply_is_a_protocol_error(self) -> None:
        def instead_of_the_file(reply: bytes) -> Answer:
            return lambda line, _: b"OK\n" if line == GET_LINE else reply

        self.assert_cause(
            "protocol",
            lambda line, _: b"YES\n",
            lambda line, _: b"OK 5\nhello",
            instead_of_the_file(b"OK\n"),
            instead_of_the_file(b"OK 5\nhello!"),
            instead_of_the_file(b"OK -1\n"),
            instead_of_the_file(b"ERR fish no\n"),
        )

    def test_a_reply_that_takes_too_long_is_a_timeout(self) -> None:
        self.assert_cause(
            "timeout",
            lambda line, _: None,
            lambda line, _: b"OK\n" if line == GET_LINE else b"OK 10\nshort",
            timeout_s=0.3,
        )

    def test_a_kept_connection_is_not_used_again_after_a_timeout(self) -> None:
        asked_from = []

        def keep_silent(line: bytes, connection: socket.socket) -> None:
            asked_from.append(connection.getpeername())

        peer = self.scene.keep(Peer(keep_silent))
        flags = (*GET, "--file", "a", "--requests", 3, "--timeout", 0.3)
        self.result(*flags, "--connection", "keep-alive", server=peer, status=1)
        self.assertEqual(len(peer.wait_for_lines(3)), 3)
        self.assertEqual(len(set(asked_from)), 3)

    def test_the_file_name_waits_for_the_ok_unless_pipelined(self) -> None:
        for pipeline, expected in (((), [GET_LINE]), (("--pipeline",), [GET_LINE, b"a\n"])):
            with self.subTest(pipeline=pipeline):
                peer = self.scene.keep(Peer(lambda line, _: None))
                self.result(
                    *GET,
                    "--file",
                    "a",
                    "--requests",
                    1,
                    "--timeout",
                    0.5,
                    *pipeline,
                    server=peer,
                    status=1,
                )
                self.assertEqual(peer.wait_for_lines(len(expected)), expected)


_OWN_MOUNTS = ["unshare", "--map-root-user", "--mount"]


def why_no_own_hosts() -> str:
    """Empty if this user may give a program an /etc/hosts of its own, else the reason."""
    attempt = subprocess.run([*_OWN_MOUNTS, "true"], capture_output=True, text=True, check=False)
    return f"no mount namespace: {attempt.stderr.strip()}" if attempt.returncode else ""


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
@unittest.skipIf(why_no_own_hosts(), why_no_own_hosts())
class LoadgenAddressesTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.first = self.scene.keep(Peer(one_byte_file))
        self.port = self.first.address[1]

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
        second = self.scene.keep(Peer(one_byte_file, at=("127.0.0.2", self.port)))
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


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
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
        flags = (
            "--file",
            "f%d",
            "--unique",
            1_000_000_000,
            "--verify",
            "--verify-root",
            "/nowhere",
        )
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


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
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
        ended = run("loadgen", "--help")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(not_shown(ended.stdout, "loadgen", LOADGEN), [], ended.stdout)
        self.assertEqual(unlisted(ended.stdout, LOADGEN), [])


if __name__ == "__main__":
    unittest.main()
