"""--telemetry-listen: the requests of HTTP that it takes."""

import socket
import threading

import telemetry
from processes import descriptors
from scene import SharedSceneTest
from telemetry import FLAG, get


class HttpTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.server = cls.scene.authserver(*FLAG)

    def status_of(self, request: bytes) -> int:
        return telemetry.exchange(self.server, request).status

    def test_get_and_head(self) -> None:
        for path, content_type in (
            ("/metrics", telemetry.CONTENT_TYPE),
            ("/healthz", "text/plain; charset=utf-8"),
            ("/livez", "text/plain; charset=utf-8"),
        ):
            answer = get(self.server, path)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.fields["content-type"], content_type)
            self.assertEqual(answer.fields["connection"], "close")
            self.assertEqual(int(answer.fields["content-length"]), len(answer.body.encode()))
            self.assertRegex(answer.fields["date"], r"\A\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\Z")
            head = get(self.server, path, "HEAD")
            self.assertEqual((head.status, head.body), (200, ""))
            self.assertEqual(head.fields["content-type"], content_type)
            self.assertGreater(int(head.fields["content-length"]), 0)

    def test_forms_of_a_request_that_are_fine(self) -> None:
        for request in (
            b"GET /metrics HTTP/1.0\r\n\r\n",
            b"GET /metrics HTTP/1.0\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n",
            b"GET /metrics?a=b HTTP/1.1\r\nHost:\r\n\r\n",
            b"GET /healthz? HTTP/1.7\r\nhost: a:1\r\n\r\n",
            b"GET http://a.b:1/healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\nA:" + b"a" * 8000 + b"\r\n\r\n",
        ):
            with self.subTest(request[:60]):
                self.assertEqual(self.status_of(request), 200)

    def test_other_paths_are_not_found(self) -> None:
        for path in (
            "/",
            "/metrics/",
            "/Metrics",
            "/healthz/x",
            "/livez/x",
            "/-/live",
            "//metrics",
            "/%6detrics",
            "/-/health",
        ):
            with self.subTest(path):
                self.assertEqual(get(self.server, path).status, 404)
        self.assertEqual(get(self.server, "/x", "HEAD").body, "")

    def test_other_methods_are_not_allowed(self) -> None:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get", "FISH"):
            for path in ("/metrics", "/nothing"):
                with self.subTest(method=method, path=path):
                    answer = get(self.server, path, method)
                    self.assertEqual(answer.status, 405)
                    self.assertEqual(answer.fields["allow"], "GET, HEAD")
        self.assertEqual(self.status_of(b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), 405)
        self.assertEqual(self.status_of(b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n"), 405)

    def test_malformed_requests(self) -> None:
        for request in (
            b"GET /metrics\r\n\r\n",
            b"GET  /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics  HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics HTTP/1.1 \r\nHost: x\r\n\r\n",
            b"GET /metrics http/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics HTTP/11\r\nHost: x\r\n\r\n",
            b"GET metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics#a HTTP/1.1\r\nHost: x\r\n\r\n",
            b"G@T /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b" GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n folded: x\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"GET /metrics HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            # These are answered at once, without waiting for the end of the head.
            b"GET /metrics HTTP/1.1\nHost: x\n",
            b"GET /metrics\0 HTTP/1.1\r\n",
            b"GET /metrics\r HTTP/1.1\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01",
            b"ping\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nHost: x\r\n",
        ):
            with self.subTest(request):
                self.assertEqual(self.status_of(request), 400)
        self.assertEqual(self.status_of(b"GET /metrics HTTP/2.0\r\nHost: x\r\n\r\n"), 505)
        expectation = b"GET /metrics HTTP/1.1\r\nHost: x\r\nExpect: much\r\n\r\n"
        self.assertEqual(self.status_of(expectation), 417)

    def test_heads_that_are_too_long(self) -> None:
        for start, status in ((b"GET /", 414), (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", 431)):
            with self.subTest(status):
                self.assertEqual(self.status_of(start + b"a" * (16384 - len(start))), status)
                self.assertEqual(self.status_of(start + b"a" * 17000 + b"\r\n\r\n"), status)
        fields = b"A: b\r\n" * 101
        self.assertEqual(self.status_of(b"GET / HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n"), 431)

    def test_a_request_in_single_bytes(self) -> None:
        with socket.create_connection(telemetry.address_of(self.server)) as connection:
            for byte in b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n":
                connection.sendall(bytes([byte]))
            self.assertEqual(telemetry.read_answer(connection).status, 200)

    def test_a_client_that_finishes_sending_first(self) -> None:
        with socket.create_connection(telemetry.address_of(self.server)) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(telemetry.read_answer(connection).status, 200)

    def test_slow_clients_keep_nobody_out_and_are_closed(self) -> None:
        slow = []
        before = descriptors(self.server.pid)
        for _ in range(100):
            connection = socket.create_connection(telemetry.address_of(self.server))
            self.addCleanup(connection.close)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            slow.append(connection)
        self.assertEqual(get(self.server, "/healthz").status, 200)
        self.assertLess(descriptors(self.server.pid), before + 30, "a few are open at once")
        for connection in slow:
            connection.settimeout(30)
            self.assertEqual(connection.recv(1), b"")

    def test_many_at_once(self) -> None:
        statuses: list[int] = []

        def ask() -> None:
            for _ in range(10):
                statuses.append(get(self.server, "/metrics").status)

        asking = [threading.Thread(target=ask) for _ in range(8)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        self.assertEqual(statuses, [200] * 80)
