"""What each server counts for --telemetry-listen, compared with what a client did."""

import os
import shutil
import signal
import threading

import servers
from client import Client, grant
from http_client import FLAG as HTTP
from http_client import HttpClient, basic, request
from peers import Peer
from processes import children, server_of, threads
from programs import Program
from scene import SceneTest, create_account, for_each, with_loops
from telemetry import FLAG, get, scrape
from waiting import eventually, time_s

PAIR_FLAGS = ("--password-scheme", "plain", *FLAG)


@with_loops
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

    def test_files_are_counted_by_where_their_bytes_were(self) -> None:
        self.scene.write("large", bytes(100_000))
        server = self.scene.fileserver(self.authserver, *FLAG, *HTTP, "--memory-limit", "50K")
        self.assertEqual(scrape(server).value("turnstile_files_in_memory"), 2)
        create_account(self.authserver)
        client = self.scene.client(server)
        grant(client)
        replies = client.ask_all([b"a.txt", b"b.txt", b"large", b"no.txt"])
        self.assertEqual(list(map(len, replies)), [100, 1000, 100_000, len("not-found")])
        http = self.http_client(server)
        self.assertEqual(http.ask("/large").status, 200)
        self.assertEqual(http.ask("/a.txt", "Range: bytes=0-9,20-29").status, 206)
        self.assertEqual(http.ask("/a.txt", method="HEAD").status, 200)
        sends = scrape(server).samples["turnstile_file_sends_total"]
        self.assertEqual(sends, {("memory",): 4, ("disk",): 2})

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
        eventually(lambda: ("file", "cut") in scrape(server).requests(), "it was cut")
        self.assertEqual(scrape(server).requests(), {("get", "OK"): 1, ("file", "cut"): 1})

    def http_client(self, server: Program) -> HttpClient:
        return self.scene.keep(HttpClient(server, "alice", "wonderland", receive_buffer=4096))

    def test_requests_of_http_whose_client_leaves_are_cut(self) -> None:
        self.scene.write("big", bytes(50_000_000))
        flags = (*FLAG, *HTTP, "--uploads", "folder")
        server = self.scene.fileserver(self.authserver, *flags)
        create_account(self.authserver)
        login = f"Authorization: {basic('alice', 'wonderland')}"
        for sent in (
            request("/big", login),
            request("/a", login, "Content-Length: 10", method="PUT", body=b"abc"),
        ):
            http = self.http_client(server)
            http.send(sent)
            if b"GET" in sent:
                self.assertEqual(http.interim(), 200)
            http.close()
        http = self.http_client(server)
        self.assertEqual(http.ask("/a.txt").status, 200)
        broken = ("Transfer-Encoding: chunked",)
        http.send(request("/a", login, *broken, method="PUT", body=b"zz\r\n"))
        self.assertEqual(http.answer().status, 400)
        expected = {("file", "cut"): 1, ("put", "cut"): 1, ("file", "OK"): 1, ("put", "syntax"): 1}
        eventually(lambda: expected.items() <= scrape(server).requests().items(), "all counted")
        self.assertNotIn(("file", "syntax"), scrape(server).requests())

    def test_received_bytes_are_those_of_requests_and_uploads(self) -> None:
        flags = (*FLAG, *HTTP, "--uploads", "sink")
        server = self.scene.fileserver(self.authserver, *flags)
        create_account(self.authserver)
        self.assertEqual(scrape(server).value("turnstile_received_bytes_total"), 0)
        answer = self.http_client(server).ask("/a", method="PUT", body=bytes(100_000))
        self.assertEqual(answer.status, 204)
        received = scrape(server).value("turnstile_received_bytes_total")
        self.assertGreater(received, 100_000)
        self.assertLess(received, 101_000)

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
