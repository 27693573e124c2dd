"""docs/tls: nginx and Caddy end TLS in front of the HTTP front with the configurations there."""

import http.client
import socket
import ssl
import urllib.request

from tls_scene import LARGE, NAMES, ProxyTest
from waiting import eventually


class ConfigurationTest(ProxyTest):
    def assert_works(self) -> None:
        for name in NAMES:
            self.assertEqual(self.ask(urllib.request.quote(name)), (200, name.encode()))
        self.assertEqual(self.ask("large"), (200, LARGE))
        self.assertEqual(self.ask("large", Range="bytes=5-9"), (206, LARGE[5:10]))
        self.assertEqual(self.transport_security, "max-age=31536000")
        self.assertEqual(self.ask("none")[0], 404)
        self.assertEqual(self.ask("new", method="PUT", body=LARGE)[0], 201)
        self.assertEqual(self.ask("new"), (200, LARGE))
        chunked = (LARGE[begin : begin + 100_000] for begin in range(0, len(LARGE), 100_000))
        self.assertEqual(self.ask("chunked", method="PUT", body=chunked)[0], 201)
        self.assertEqual((self.scene.root / "chunked").read_bytes(), LARGE)
        # The client cannot choose its address: it is what the proxy has seen.
        self.assertEqual(self.ask("one", "wrong", X_Forwarded_For="203.0.113.9")[0], 401)
        line = 'auth-failed address=127.0.0.1 user="alice" front=http'
        eventually(lambda: line in self.fileserver.log(), line)
        self.assertNotIn("203.0.113.9", self.fileserver.log())


class NginxTest(ConfigurationTest):
    needs = ("openssl", "nginx")
    fileserver_flags = ("--http-host", "files.example.com")

    def test_nginx(self) -> None:
        plain = self.start_nginx()
        self.assert_works()
        self.assertEqual(self.ask("one", Host="files.example.com")[0], 200)
        self.assertEqual(self.ask("one", Host="evil.example")[0], 421)
        self.assert_speaks_http_2()
        self.assert_leads_to_tls(plain)

    def assert_leads_to_tls(self, port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/a%20b?c", headers={"Host": "files.example.com"})
        answer = connection.getresponse()
        place = "https://files.example.com/a%20b?c"
        self.assertEqual((answer.status, answer.getheader("location")), (301, place))

    def assert_speaks_http_2(self) -> None:
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.set_alpn_protocols(["h2"])
        with (
            socket.create_connection(("localhost", self.port)) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            self.assertEqual(connection.selected_alpn_protocol(), "h2")


class CaddyTest(ConfigurationTest):
    needs = ("openssl", "caddy")

    def test_caddy(self) -> None:
        options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"
        place = f"localhost:{self.port}"
        site = self.configuration("Caddyfile", **{"files.example.com": place})
        (self.folder / "Caddyfile").write_text(options + site)
        self.start_proxy("caddy", "run", "--config", str(self.folder / "Caddyfile"))
        self.assert_works()


del ConfigurationTest, ProxyTest  # Without this, unittest would run the base classes too.
