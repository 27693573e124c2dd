"""--telemetry-listen of both servers: what they tell holds together, and discloses nobody."""

import os
import re
import socket
import subprocess
import threading
import unittest

import servers
import telemetry
from client import Client
from needs import missing
from processes import cpu_s
from programs import Program
from scene import SceneTest, for_each
from telemetry import FLAG, Metrics, get, scrape


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

    @unittest.skipIf(missing("promtool"), missing("promtool"))
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
