"""--http-listen: what is a request, and what happens to the connection."""

import telemetry
from http_client import FLAG, Answer, HttpClient, basic, in_clear, request
from programs import Program
from scene import SceneTest, SharedSceneTest, with_loops
from servers import start
from waiting import eventually

_LARGE = b"x" * (4 << 20)
_AUTH = f"Authorization: {basic('alice', 'wonderland')}"


def _head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _get(*fields: str) -> bytes:
    return _head("GET /f HTTP/1.1", "Host: [::1]", _AUTH, *fields)


@with_loops
class RequestsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("f", b"content")
        cls.scene.write("large", _LARGE)
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(authserver, *FLAG)
        cls.sink = cls.scene.fileserver(authserver, *FLAG, "--uploads", "sink")

    def client(self, server: Program | None = None) -> HttpClient:
        client = HttpClient(server or self.server, "alice", "wonderland")
        self.addCleanup(client.close)
        return client

    def answer_to(self, data: bytes, server: Program | None = None) -> tuple[Answer, HttpClient]:
        client = self.client(server)
        client.send(data)
        return client.answer(), client

    def check_kept(self, data: bytes, status: int, server: Program | None = None) -> None:
        answer, client = self.answer_to(data + _get(), server)
        self.assertEqual((answer.status, answer.closes()), (status, False), data[:80])
        self.assertEqual(client.answer().body, b"content", data[:80])

    def check_closed(self, data: bytes, status: int, server: Program | None = None) -> None:
        """What is behind the request is not looked at: nobody can put one into another one."""
        answer, client = self.answer_to(data + _get(), server)
        self.assertEqual((answer.status, answer.closes()), (status, True), data[:80])
        self.assertTrue(client.is_ended(), data[:80])

    def test_forms_of_a_request_that_are_fine(self) -> None:
        for data in (
            _head("GET /f HTTP/1.1", "Host:", _AUTH),
            _head("GET /f HTTP/1.7", "host: LOCALHOST:1", _AUTH.replace("Basic", "bASIC")),
            _head("GET /f?x=%zz HTTP/1.1", "Host: [::1]", _AUTH, "X-Any: \x80\xff\t ok "),
            _head("GET http://127.0.0.1:1/f HTTP/1.1", "Host: [::1]", _AUTH),
            b"\r\n" + _get(),
            _get("Content-Length: 0"),
            _get("Connection: keep-alive"),
            _get(*(f"X-{number}: x" for number in range(98))),
            _get("X: " + "x" * (16_384 - len(_get()) - 5)),
            _head("GET /f?" + "x" * (8192 - 3) + " HTTP/1.1", "Host: [::1]", _AUTH),
        ):
            self.check_kept(data, 200)

    def test_malformed_requests(self) -> None:
        """One of each kind: malformed_head_test.cpp and chunks_test.cpp have what is malformed."""
        for data in (
            b"GET /f HTTP/1.1\nHost: [::1]\n\n",
            b"\r\n\r\n" + _get(),
            _head("GET  /f HTTP/1.1", "Host: [::1]"),
            _head("GET /f HTTP/1.1", _AUTH),
            _head("GET /f HTTP/1.1", "Host: [::1]", "X: a\rb"),
            _get("X: a", " folded"),
            _get("Content-Length: 5, 5"),
            _get("Content-Length: 0", "Transfer-Encoding: chunked"),
            _get("Transfer-Encoding: gzip, chunked"),
            _head("GET /f HTTP/1.0", "Transfer-Encoding: chunked"),
            _get(_AUTH),
        ):
            self.check_closed(data, 400)

    def test_malformed_chunks(self) -> None:
        put = _head("PUT /f HTTP/1.1", "Host: [::1]", _AUTH, "Transfer-Encoding: chunked")
        for body in (
            b"\r\n",
            b"1;a\nb\r\nx\r\n0\r\n\r\n",
            b"1\r\nxy\r\n0\r\n\r\n",
            b"10000000000000000\r\nx\r\n0\r\n\r\n",
            b"0\r\n X: a\r\n\r\n",
        ):
            self.check_closed(put + body, 400, self.sink)
        good = put + b"1;a=b\r\nx\r\n0\r\nX: a\r\n\r\n"
        self.check_kept(good, 204, self.sink)

    def test_limits_of_a_head(self) -> None:
        for status, data in (
            (414, _head("GET /" + "x" * 8192 + " HTTP/1.1", "Host: [::1]")),
            (431, _get(*(f"X-{number}: x" for number in range(99)))),
            (431, _get("X: " + "x" * (16_385 - len(_get()) - 5))),
            (505, _head("GET /f HTTP/2.0", "Host: [::1]")),
            (505, _head("GET /f HTTP/0.9", "Host: [::1]")),
            (417, _get("Expect: 200-ok")),
        ):
            self.check_closed(data, status)

    def test_methods(self) -> None:
        for method in ("PUT", "DELETE", "MKCOL", "POST", "TRACE"):
            data = _head(f"{method} /f HTTP/1.1", "Host: [::1]", _AUTH)
            self.check_kept(data, 405)
            self.assertIn("GET", self.answer_to(data)[0].fields["allow"])
        for target in ("x:443", "http://", "*", "/", "%"):
            self.check_kept(_head(f"CONNECT {target} HTTP/1.1", "Host: [::1]"), 405)
        for method in ("PATCH", "get", "REPORT", "X"):
            self.check_kept(_head(f"{method} /f HTTP/1.1", "Host: [::1]", _AUTH), 501)

    def test_options_needs_no_credentials(self) -> None:
        for target in ("*", "/f", "/none", "/", "/-/health", "/-/none"):
            data = _head(f"OPTIONS {target} HTTP/1.1", "Host: [::1]")
            self.check_kept(data, 204)
            self.assertIn("OPTIONS", self.answer_to(data)[0].fields["allow"])
        allowed = self.answer_to(_head("OPTIONS /-/accounts HTTP/1.1", "Host: [::1]"))[0]
        self.assertEqual(allowed.fields["allow"], "POST, OPTIONS")

    def test_a_body_that_is_not_read_ends_the_connection(self) -> None:
        body = b"GET /f HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        for method, status in (("GET", 200), ("PUT", 405), ("PATCH", 501)):
            lines = (f"{method} /f HTTP/1.1", "Host: [::1]", _AUTH)
            for data in (
                _head(*lines, f"Content-Length: {len(body)}") + body,
                _head(*lines, "Content-Length: 1000000000", "Expect: 100-continue"),
                _head(*lines, "Transfer-Encoding: Chunked") + b"1\r\nx\r\n0\r\n\r\n",
            ):
                self.check_closed(data, status)

    def test_the_answer_to_a_body_that_is_not_read_arrives(self) -> None:
        """Closing at once would reset the connection, with most of the file on its way."""
        client = self.client()
        fields = (_AUTH, "Content-Length: 100000")
        client.send(request("/large", *fields, body=b"x" * 100_000))
        self.assertEqual(client.answer().body, _LARGE)
        self.assertTrue(client.is_ended())

    def test_pipelined_requests_come_in_any_pieces(self) -> None:
        data = (
            b"\r\n" + _get() + _get("Range: bytes=1-2") + _head("HEAD /f HTTP/1.1", "Host: [::1]")
        )
        for size in (1, 3, 100, len(data)):
            client = self.client()
            for at in range(0, len(data), size):
                client.send(data[at : at + size])
            client.half_close()
            self.assertEqual(client.answer().body, b"content")
            self.assertEqual(client.answer().body, b"on")
            self.assertEqual(client.answer("HEAD").status, 401)
            self.assertTrue(client.is_ended())

    def test_connections_of_both_versions(self) -> None:
        for data, closes, said in (
            (_get("Connection: close"), True, "close"),
            (_get("Connection: x, CLOSE"), True, "close"),
            (_head("GET /f HTTP/1.0", _AUTH), True, "close"),
            (_head("GET /f HTTP/1.0", _AUTH, "Connection: Keep-Alive"), False, "keep-alive"),
        ):
            answer, client = self.answer_to(data + _get())
            self.assertEqual((answer.status, answer.fields["connection"]), (200, said))
            if closes:
                self.assertTrue(client.is_ended())
            else:
                self.assertEqual(client.answer().body, b"content")


class ConnectionsTest(SceneTest):
    @in_clear
    def test_the_ready_line_names_all_listeners(self) -> None:
        server = self.scene.fileserver(
            self.scene.authserver(), *FLAG, "--telemetry-listen", "127.0.0.1:0"
        )
        self.assertRegex(
            server.ready_line,
            r"\AREADY 127\.0\.0\.1:\d+ http=127\.0\.0\.1:\d+ telemetry=127\.0\.0\.1:\d+\n\Z",
        )

    def test_a_port_alone_is_on_this_machine(self) -> None:
        server = start(self.scene, "fileserver", "--http-listen", "0")
        self.assertEqual(server.further_address("http")[0], "127.0.0.1")

    @in_clear
    def test_connections_of_both_protocols_count_together(self) -> None:
        for kind in ("fileserver", "fileserver without idle threads"):
            server = start(self.scene, kind, *FLAG, "--max-connections", "1")
            native = self.scene.client(server)
            self.assertEqual(native.ask("ping"), "OK")
            refused = self.scene.keep(HttpClient(server))
            answer = refused.answer()
            self.assertEqual((answer.status, answer.closes()), (503, True))
            self.assertEqual(answer.fields["retry-after"], "1")
            self.assertTrue(refused.is_ended())
            native.half_close()
            self.assertTrue(native.is_ended())
            client = self.scene.keep(HttpClient(server))
            self.assertEqual(client.ask("/-/health").status, 200)
            self.assertEqual(self.scene.client(server).reply(), "busy")

    @in_clear
    def test_the_health_is_told_to_this_host_beyond_the_limit(self) -> None:
        for kind in ("fileserver", "fileserver without idle threads", "fileserver with loops"):
            with self.subTest(kind):
                server = start(self.scene, kind, *FLAG, "--max-connections", "1")
                native = self.scene.client(server)
                self.assertEqual(native.ask("ping"), "OK")
                silent = [self.scene.keep(HttpClient(server)) for _ in range(20)]
                for target in ("/-/health", "/-/live"):
                    client = self.scene.keep(HttpClient(server))
                    answer = client.ask(target)
                    self.assertEqual((answer.status, answer.body), (200, b"OK\n"))
                    self.assertTrue(client.is_ended())
                for target, method in (("/f", "GET"), ("/-/health", "DELETE"), ("/healthz", "GET")):
                    client = self.scene.keep(HttpClient(server))
                    answer = client.ask(target, method=method)
                    self.assertEqual((answer.status, answer.closes()), (503, True))
                    self.assertEqual(answer.fields["retry-after"], "1")
                self.assertEqual([one.answer().status for one in silent], [503] * 20)
                self.assertEqual(native.ask("ping"), "OK")
                self.assertEqual(server.stop(), 0)

    @in_clear
    def test_beyond_the_limit_the_health_is_that_of_the_authserver(self) -> None:
        authserver = self.scene.authserver()
        server = self.scene.fileserver(authserver, *FLAG, "--max-connections", "1")
        native = self.scene.client(server)
        self.assertEqual(native.ask("ping"), "OK")
        authserver.kill()
        self.assertEqual(self.scene.keep(HttpClient(server)).ask("/-/health").status, 503)
        self.assertEqual(self.scene.keep(HttpClient(server)).ask("/-/live").status, 200)

    def test_a_head_that_does_not_end_is_closed_without_an_answer(self) -> None:
        server = start(self.scene, "fileserver", *FLAG, "--idle-timeout", "0.3")
        for part in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: [::1]\r\n"):
            client = self.scene.keep(HttpClient(server))
            client.send(part)
            self.assertTrue(client.is_ended())

    def test_an_idle_connection_is_closed_when_the_server_stops(self) -> None:
        server = start(self.scene, "fileserver", *FLAG)
        client = self.scene.keep(HttpClient(server))
        self.assertEqual(client.ask("/-/health").status, 200)
        self.assertEqual(server.stop(), 0)
        self.assertTrue(client.is_ended())

    def test_a_request_under_way_is_finished_when_the_server_stops(self) -> None:
        server = start(self.scene, "fileserver", *FLAG)
        client = self.scene.keep(HttpClient(server))
        body = b'{"user": "amy", "password": "secret"}'
        client.send(
            request("/-/accounts", f"Content-Length: {len(body)}", method="POST", body=body)
            + request("/-/health")
        )
        answer = client.answer()
        self.assertEqual(answer.status, 201)
        self.assertEqual(server.stop(), 0)

    def test_requests_are_counted(self) -> None:
        flags = (*FLAG, "--uploads", "folder", *telemetry.FLAG)
        server = start(self.scene, "fileserver", *flags)
        self.scene.write("f", b"content")
        client = self.scene.keep(HttpClient(server, "amy", "secret"))
        client.ask("/-/accounts", method="POST", body=b'{"user":"amy","password":"secret"}')
        for path in ("/f", "/f", "/none", "/-/health"):
            client.ask(path)
        for path, method in (("/new", "MKCOL"), ("/f", "DELETE"), ("/none", "DELETE")):
            client.ask(path, method=method)
        client.ask("/f", method="PUT", body=b"again")
        client.ask("/f", "If-None-Match: *", "Content-Length: 0", method="PUT")
        expected = {
            ("new", "OK"): 1,
            ("get", "OK"): 8,
            ("put", "OK"): 1,
            ("put", "exists"): 1,
            ("change", "OK"): 2,
            ("change", "not-found"): 1,
            ("file", "OK"): 2,
            ("file", "not-found"): 1,
            ("ping", "OK"): 1,
        }
        eventually(
            lambda: telemetry.scrape(server).requests() == expected,
            f"{expected}, not {telemetry.scrape(server).requests()}",
        )
        times = telemetry.scrape(server).samples["turnstile_request_duration_seconds_count"]
        self.assertEqual((times["put",], times["change",]), (2, 3))
