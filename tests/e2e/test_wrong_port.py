"""A client of HTTP that comes to the native port gets an answer that it understands."""

import http.client

from http_client import FLAG
from programs import Program
from scene import SharedSceneTest, with_loops


@with_loops
class WrongPortTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.plain = cls.scene.fileserver(authserver)
        cls.with_http = cls.scene.fileserver(authserver, *FLAG)

    def ask(self, server: Program, method: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(*server.address)
        self.addCleanup(connection.close)
        connection.request(method, "/hello.txt", headers={"Accept": "*/*"})
        return connection.getresponse()

    def test_the_answer_is_one_of_http_that_names_the_way_to_it(self) -> None:
        http_host, http_port = self.with_http.further_address("http")
        for server, hint in (
            (self.plain, "--http-listen 8080"),
            (self.with_http, f"HTTP is served at {http_host}:{http_port}"),
        ):
            for method in ("GET", "PUT"):
                with self.subTest(method=method, hint=hint):
                    answer = self.ask(server, method)
                    body = answer.read().decode()
                    self.assertEqual(answer.status, 400)
                    self.assertEqual(len(body.splitlines()), 2)
                    self.assertIn(hint, body)
                    self.assertEqual(answer.getheader("connection"), "close")

    def test_only_the_first_line_of_a_connection_is_taken_for_http(self) -> None:
        client = self.connect(self.plain)
        lines = [b"ping", b"GET / HTTP/1.1"]
        self.assertEqual(client.ask_all(lines), ["OK", "denied"])

    def test_a_file_with_such_a_name_is_served_to_who_has_logged_in(self) -> None:
        self.scene.write("GET /a HTTP/1.1", b"content")
        client = self.connect(self.plain)
        lines = [b"get:alice:wonderland", b"GET /a HTTP/1.1"]
        self.assertEqual(client.ask_all(lines), ["OK", b"content"])
