"""--telemetry-listen: what the servers count, and how they tell it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

import servers
import telemetry
from client import Client, grant
from peers import Peer
from processes import children, cpu_s, server_of, threads
from programs import Program
from scene import SceneTest, create_account, for_each
from telemetry import FLAG, Metrics, get, scrape
from waiting import eventually, time_s

PAIR_FLAGS = ("--password-scheme", "plain", *FLAG)


def histograms(metrics: Metrics) -> dict[tuple[str, ...], list[float]]:
    """The buckets of each histogram, by its name and its labels."""
    found: dict[tuple[str, ...], list[float]] = {}
    for name, samples in metrics.samples.items():
        if name.endswith("_bucket"):
            for labels, value in samples.items():
                found.setdefault((name[: -len("_bucket")], *labels[:-1]), []).append(value)
    return found


def counters(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """What must never become less: counters, and everything of histograms."""
    return {
        (name, *labels): value
        for name, samples in metrics.samples.items()
        if re.search("_(total|bucket|count|sum)$", name)
        for labels, value in samples.items()
    }


class FileserverCountsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver(*PAIR_FLAGS)
        self.scene.write("a.txt", b"x" * 100)
        self.scene.write("b.txt", b"y" * 1000)

    def ask_for_everything(self, server: Program) -> None:
        with_lines = self.scene.client(server)
        replies = with_lines.ask_all(
            [b"new:amy:pw", b"new:amy:pw", b"ping", b"a.txt", b"get:amy:no", b"get:amy:pw"]
        )
        self.assertEqual(replies, ["OK", "exists", "OK", "denied", "denied", "OK"])
        replies = with_lines.ask_all([b"a.txt", b"b.txt", b"no.txt", b"", b"new:a b:pw"])
        self.assertEqual(replies, [b"x" * 100, b"y" * 1000, "not-found", "syntax", "invalid"])
        with_lines.send(b"z" * 600)
        self.assertEqual(with_lines.reply(), "too-long")

    EXPECTED = {
        ("new", "OK"): 1,
        ("new", "exists"): 1,
        ("ping", "OK"): 1,
        ("file", "denied"): 1,
        ("get", "denied"): 1,
        ("get", "OK"): 1,
        ("file", "OK"): 2,
        ("file", "not-found"): 1,
        ("other", "syntax"): 1,
        ("other", "invalid"): 1,
        ("other", "too-long"): 1,
    }

    @for_each(("32", "0"))
    def test_requests_are_counted_by_verb_and_result(self, spare: str) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--spare-threads", spare)
        if spare == "0":
            create_account(self.authserver, "amy", "pw")
            client = self.scene.client(server)
            self.assertEqual(client.ask("get:amy:pw"), "OK")
            self.assertEqual(scrape(server).requests(), {("get", "OK"): 1})
            return
        self.ask_for_everything(server)
        eventually(lambda: scrape(server).requests() == self.EXPECTED, "all requests are counted")
        metrics = scrape(server)
        self.assertEqual(metrics.value("turnstile_request_duration_seconds_count", "file"), 4)
        self.assertEqual(metrics.value("turnstile_authserver_request_duration_seconds_count"), 5)
        sent = len(b"OK 100\nOK 1000\n") + 1100
        self.assertGreater(metrics.value("turnstile_sent_bytes_total"), sent)
        self.assertLess(metrics.value("turnstile_sent_bytes_total"), sent + 1000)

    def test_connections_are_counted(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--max-connections", "2")
        clients = [self.scene.client(server) for _ in range(2)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK", "OK"])
        self.assertEqual(self.scene.client(server).reply(), "busy")
        metrics = scrape(server)
        self.assertEqual(metrics.value("turnstile_connections_open"), 2)
        self.assertEqual(metrics.value("turnstile_connections_limit"), 2)
        self.assertEqual(metrics.value("turnstile_connections_refused_total"), 1)
        for client in clients:
            client.close()
        eventually(
            lambda: scrape(server).value("turnstile_connections_open") == 0, "all have ended"
        )
        self.assertEqual(scrape(server).value("turnstile_connections_accepted_total"), 2)

    def test_throttled_log_ins_are_counted(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--wrong-passwords", "2")
        replies = [self.scene.client(server).ask(f"get:amy:{guess}") for guess in range(9)]
        counts = {("get", word): replies.count(word) for word in ("denied", "busy")}
        self.assertEqual(sum(counts.values()), 9, replies)
        self.assertGreater(counts["get", "busy"], 0)
        eventually(lambda: scrape(server).requests() == counts, "all requests are counted")
        throttled = scrape(server).value("turnstile_logins_throttled_total")
        self.assertEqual(throttled, counts["get", "busy"])

    def test_files_in_memory_and_their_limit(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--memory-limit", "1M")
        metrics = scrape(server)
        self.assertEqual(metrics.value("turnstile_files_in_memory"), 2)
        self.assertGreater(metrics.value("turnstile_files_memory_bytes"), 1100)
        self.assertEqual(metrics.value("turnstile_files_memory_limit_bytes"), 1 << 20)
        (self.scene.root / "a.txt").unlink()
        eventually(
            lambda: scrape(server).value("turnstile_files_in_memory") == 1, "one file is gone"
        )
        self.scene.write("c/d.txt", b"z")
        eventually(
            lambda: scrape(server).value("turnstile_files_in_memory") == 2, "one file is new"
        )
        shutil.rmtree(self.scene.root / "c")
        eventually(
            lambda: scrape(server).value("turnstile_files_in_memory") == 1, "the folder is gone"
        )

    def test_a_client_that_leaves_in_a_file_aborts_a_transfer(self) -> None:
        self.scene.write("big", bytes(50_000_000))
        server = self.scene.fileserver(self.authserver, *FLAG)
        create_account(self.authserver)
        client = self.scene.client(server, receive_buffer=4096)
        grant(client)
        client.send("big\n")
        client.begin_file()
        self.assertEqual(scrape(server).value("turnstile_transfers_aborted_total"), 0)
        client.close()
        eventually(
            lambda: scrape(server).value("turnstile_transfers_aborted_total") == 1, "it is counted"
        )

    def test_the_health_is_that_of_the_authserver(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG)
        self.assertEqual(get(server, "/healthz").status, 200)
        self.assertEqual(scrape(server).value("turnstile_authserver_up"), 1)
        self.authserver.stop()
        self.assertEqual(get(server, "/healthz").status, 503)
        self.assertNotIn("unreachable", server.log(), "only requests log an outage")
        self.assertEqual(scrape(server).value("turnstile_authserver_up"), 0)
        self.scene.authserver(*PAIR_FLAGS, "--listen", self.authserver)
        eventually(lambda: get(server, "/healthz").status == 200, "it is up again")

    def test_an_authserver_that_hangs_is_not_up_and_is_waited_for_a_second_only(self) -> None:
        hanging = self.scene.keep(Peer(lambda _line, _connection: None))
        server = self.scene.fileserver(hanging, *FLAG)
        statuses: list[int] = []
        asking = [
            threading.Thread(target=lambda: statuses.append(get(server, "/healthz").status))
            for _ in range(8)
        ]

        def ask_all() -> None:
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()

        needed_s = time_s(ask_all)
        self.assertEqual(statuses, [503] * 8)
        self.assertLess(needed_s, 8 * 0.9, "they wait for one answer, not one after another")
        self.assertEqual(scrape(server).value("turnstile_authserver_up"), 0)


class AuthserverCountsTest(SceneTest):
    @for_each(servers.AUTHSERVER_KINDS)
    def test_requests_and_connections(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        client = self.scene.client(server)
        amy = f"amy{servers.KINDS.index(kind)}"  # the kinds have one accounts file
        lines = f"new:{amy}:pw auth:{amy}:pw auth:{amy}:no auth:bob:pw ping what".split()
        client.ask_all([line.encode() for line in lines])
        counts = {
            ("new", "OK"): 1,
            ("auth", "OK"): 1,
            ("auth", "denied"): 2,
            ("ping", "OK"): 1,
            ("other", "syntax"): 1,
        }
        self.wait_for_requests(server, counts)
        metrics = scrape(server)
        self.assertEqual(metrics.value("turnstile_connections_open"), 1)
        self.assertEqual(metrics.value("turnstile_store_up"), 1)
        operations = "turnstile_store_operation_duration_seconds_count"
        self.assertEqual(metrics.value(operations, "create"), 1)
        self.assertEqual(metrics.value(operations, "find"), 3)
        self.assertEqual(metrics.value(operations, "ping"), 1)
        client.close()
        eventually(lambda: scrape(server).value("turnstile_connections_open") == 0, "it has ended")
        self.assertEqual(scrape(server).requests(), counts)

    def wait_for_requests(self, server: Program, counts: dict[tuple[str, str], int]) -> None:
        eventually(lambda: scrape(server).requests() == counts, f"{counts} are counted")

    @for_each(servers.PROCESS_KINDS)
    def test_what_a_killed_process_counted_stays(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        for round_number in range(1, 4):
            client = self.scene.client(server)
            self.assertEqual(client.ask_all([b"ping"] * 5), ["OK"] * 5)
            counted = {("ping", "OK"): 5 * round_number}
            self.wait_for_requests(server, counted)
            self.assertEqual(scrape(server).value("turnstile_connections_open"), 1)
            os.kill(server_of(client, server.pid), signal.SIGKILL)
            self.assertTrue(client.is_ended())
            eventually(
                lambda: scrape(server).value("turnstile_connections_open") == 0, "it is not open"
            )
            self.assertEqual(scrape(server).requests(), counted)

    @for_each(servers.PROCESS_KINDS)
    def test_the_process_for_telemetry_is_started_again(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual(threads(server.pid), 1)
        before = scrape(server).requests()
        for child in children(server.pid):
            if threads(child) > 1:  # it asks the store in a thread of its own
                os.kill(child, signal.SIGKILL)
        eventually(lambda: "telemetry died" in server.log(), "the server has noticed")
        self.assertEqual(scrape(server).requests(), before)

    def test_requests_that_came_together_count_each(self) -> None:
        server = self.scene.authserver(*PAIR_FLAGS)
        client = self.scene.client(server)
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        lines = [b"auth:amy:pw"] * 5 + [b"auth:amy:no"] * 3
        self.assertEqual(client.ask_all(lines), ["OK"] * 5 + ["denied"] * 3)

        def are_counted() -> bool:
            metrics = scrape(server)
            requests = metrics.samples["turnstile_requests_total"]
            operations = metrics.samples["turnstile_store_operation_duration_seconds_count"]
            counted = [requests.get(("auth", result), 0) for result in ("OK", "denied")]
            return [*counted, operations[("find",)]] == [5, 3, 8]

        eventually(are_counted, "each request is counted")

    def test_the_memo_of_verified_passwords(self) -> None:
        server = self.scene.authserver(*FLAG)
        client = self.scene.client(server)
        replies = client.ask_all([b"new:amy:pw", b"auth:amy:pw", b"auth:amy:pw", b"auth:amy:no"])
        self.assertEqual(replies, ["OK", "OK", "OK", "denied"])
        metrics = scrape(server)
        self.assertEqual(metrics.value("turnstile_password_memo_hits_total"), 1)
        self.assertEqual(metrics.value("turnstile_password_memo_misses_total"), 2)
        self.assertEqual(metrics.value("turnstile_password_hashes_under_way"), 0)
        self.assertEqual(metrics.value("turnstile_password_hashes_waiting"), 0)

    def test_hashes_that_are_computed_and_those_that_wait(self) -> None:
        server = self.scene.authserver(*FLAG, "--hashes-at-once", "1")
        create_account(server, "amy", "pw")
        clients = [self.scene.client(server) for _ in range(6)]
        stop = threading.Event()

        def guess(client: Client, number: int) -> None:
            while not stop.is_set():
                client.ask(f"auth:amy:wrong{number}")

        guessing = [
            threading.Thread(target=guess, args=(client, number))
            for number, client in enumerate(clients)
        ]
        for thread in guessing:
            thread.start()
        try:
            busy = eventually(lambda: self.busy_hashes(server), "hashes wait")
        finally:
            stop.set()
            for thread in guessing:
                thread.join()
        self.assertEqual(busy[1], 1)
        self.assertLessEqual(busy[0], 5)

    def busy_hashes(self, server: Program) -> tuple[float, ...]:
        """How many wait and how many are computed; empty unless both are more than none."""
        metrics = scrape(server)
        waiting = metrics.value("turnstile_password_hashes_waiting")
        under_way = metrics.value("turnstile_password_hashes_under_way")
        return (waiting, under_way) if waiting and under_way else ()


class BothServersTest(SceneTest):
    @for_each(servers.KINDS)
    def test_sums_are_consistent_under_load_and_never_become_less(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                client = Client(server.address)
                client.ask_all([b"ping", b"get:amy:pw", b"auth:amy:pw"])
                client.close()

        working = [threading.Thread(target=work) for _ in range(4)]
        for thread in working:
            thread.start()
        problems: list[str] = []
        before: dict[tuple[str, ...], float] = {}
        for _ in range(30):
            metrics = scrape(server)
            now = counters(metrics)
            problems += [
                f"{key} {before[key]} -> {now[key]}" for key in before if now[key] < before[key]
            ]
            problems += self.inconsistent_histograms(metrics)
            before = now
        stop.set()
        for thread in working:
            thread.join()
        self.assertEqual(problems, [])
        self.assertGreater(scrape(server).value("turnstile_requests_total", "ping", "OK"), 0)

    def inconsistent_histograms(self, metrics: Metrics) -> list[str]:
        return [
            f"{name}{labels}: {buckets}"
            for (name, *labels), buckets in histograms(metrics).items()
            if sorted(buckets) != buckets
            or metrics.value(f"{name}_count", *labels) != buckets[-1]
            or (metrics.value(f"{name}_sum", *labels) > 0) != (buckets[-1] > 0)
        ]

    @for_each(servers.KINDS)
    def test_no_user_path_or_address_is_told(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        client = self.scene.client(server)
        names = ("mallory-the-user", "secret-pass", "hidden-file.txt", "no-such-verb")
        client.ask_all([f"new:{names[0]}:{names[1]}".encode(), names[2].encode()])
        get(server, f"/{names[3]}?{names[0]}")
        text = scrape(server).text
        for name in (*names, "127.0.0.1", str(self.scene.folder), str(client.port())):
            self.assertNotIn(name, text)

    @for_each(servers.KINDS)
    def test_the_process_is_described(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        client = self.scene.client(server)
        client.ask_all([b"ping"] * 100)
        metrics = scrape(server)
        self.assertLessEqual(metrics.value("process_cpu_seconds_total"), cpu_s(server.pid) + 0.05)
        self.assertGreater(metrics.value("process_resident_memory_bytes"), 1_000_000)
        if "processes" not in kind or os.geteuid() == 0:  # another process may not look there
            self.assertGreaterEqual(metrics.value("process_open_fds"), 4)
        self.assertGreaterEqual(metrics.value("process_max_fds"), 64)
        self.assertGreaterEqual(metrics.value("process_threads"), 1)
        self.assertLess(abs(metrics.value("process_start_time_seconds") - started_at(server)), 2)

    @for_each(servers.KINDS)
    def test_its_connections_do_not_count_as_those_of_clients(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG, "--max-connections", "1")
        idle = [
            self.scene.keep(socket.create_connection(telemetry.address_of(server)))
            for _ in range(5)
        ]
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual(len(idle), 5)
        self.assertEqual(scrape(server).value("turnstile_connections_accepted_total"), 1)

    @unittest.skipUnless(shutil.which("promtool"), "promtool (package prometheus) is missing")
    @for_each(("fileserver", "authserver with threads"))
    def test_promtool_has_nothing_to_say(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        checked = subprocess.run(
            ["promtool", "check", "metrics"],
            input=scrape(server).text,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    @for_each(servers.KINDS)
    def test_it_stops_as_without(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        slow = self.scene.keep(socket.create_connection(telemetry.address_of(server)))
        slow.sendall(b"GET /metrics HT")
        self.assertEqual(get(server, "/healthz").status, 200)
        self.assertEqual(server.stop(), 0)
        with self.assertRaises(OSError):
            socket.create_connection(telemetry.address_of(server))

    @for_each(("fileserver", "authserver with threads"))
    def test_an_address_in_use_is_reported(self, kind: str) -> None:
        server = servers.start(self.scene, kind, *FLAG)
        taken = telemetry.address_of(server)
        with self.assertRaisesRegex(AssertionError, "Address already in use"):
            servers.start(self.scene, kind, "--telemetry-listen", f"{taken.port}")

    def test_a_port_alone_means_the_loopback_address(self) -> None:
        server = self.scene.authserver("--telemetry-listen", "0")
        self.assertEqual(telemetry.address_of(server).host, "127.0.0.1")
        self.assertEqual(get(server, "/healthz").status, 200)

    def test_off_by_default(self) -> None:
        server = self.scene.authserver()
        self.assertEqual(server.ready_line, f"READY {server}\n")


def started_at(server: Program) -> float:
    """When the process started, in seconds since 1970."""
    return os.stat(f"/proc/{server.pid}").st_mtime


if __name__ == "__main__":
    unittest.main()
