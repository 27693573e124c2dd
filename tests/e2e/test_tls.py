"""docs/tls: nginx and Caddy end TLS in front of the HTTP front with the configurations there."""

import base64
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from http_client import FLAG
from scene import SceneTest, create_account
from waiting import eventually

from lab.rig.host import free_port

TLS = Path(__file__).parents[2] / "docs" / "tls"
LARGE = os.urandom(3_000_000)
NAMES = ("a b+c%.txt", "ä/%2e.txt", "one")


class ProxyTest(SceneTest):
    """A fileserver behind a proxy. Subclasses start the proxy."""

    needs: tuple[str, ...] = ("openssl",)

    def setUp(self) -> None:
        for tool in self.needs:
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        super().setUp()
        for name in NAMES:
            self.scene.write(name, name.encode())
        self.scene.write("large", LARGE)
        authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
        flags = ("--trusted-proxy", "127.0.0.1", "--uploads", "folder")
        self.fileserver = self.scene.fileserver(authserver, *FLAG, *flags)
        self.folder = self.scene.folder / "proxy"
        self.folder.mkdir()
        self.certificate = self.folder / "certificate.pem"
        self.make_certificate()
        self.port = free_port()

    def make_certificate(self) -> None:
        names = "subjectAltName=DNS:files.example.com,DNS:localhost"
        subprocess.run(
            [
                *(
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                ),
                *("-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", names),
                *("-keyout", str(self.folder / "key.pem"), "-out", str(self.certificate)),
            ],
            check=True,
            capture_output=True,
        )

    def configuration(self, name: str, **places: str) -> str:
        """The file in docs/tls with the places of this test. Each of them must be in the file."""
        host, port = self.fileserver.further_address("http")
        text = (TLS / name).read_text()
        for old, new in {
            "127.0.0.1:8080": f"{host}:{port}",
            "/etc/turnstile/tls": str(self.folder),
            **places,
        }.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def start_proxy(self, *command: str) -> None:
        log = (self.folder / "log").open("wb")
        self.addCleanup(log.close)
        proxy = subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | {"HOME": str(self.folder)}
        )
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.terminate)
        context = ssl.create_default_context(cafile=str(self.certificate))
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))

        def answers() -> bool:
            self.assertIsNone(proxy.poll(), (self.folder / "log").read_text())
            try:
                return self.ask("-/health")[0] == 200
            except (urllib.error.URLError, ConnectionError):
                return False

        eventually(answers, "the proxy answers")

    def ask(
        self,
        name: str,
        password: str = "wonderland",
        method: str = "GET",
        body: bytes | Iterable[bytes] | None = None,
        **fields: str,
    ) -> tuple[int, bytes]:
        """Status and body of the answer through the proxy."""
        fields["Authorization"] = "Basic " + base64.b64encode(f"alice:{password}".encode()).decode()
        fields = {key.replace("_", "-"): value for key, value in fields.items()}
        asked = urllib.request.Request(
            f"https://localhost:{self.port}/{name}", method=method, headers=fields, data=body
        )
        try:
            with self.opener.open(asked, timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def assert_works(self) -> None:
        for name in NAMES:
            self.assertEqual(self.ask(urllib.request.quote(name)), (200, name.encode()))
        self.assertEqual(self.ask("large"), (200, LARGE))
        self.assertEqual(self.ask("large", Range="bytes=5-9"), (206, LARGE[5:10]))
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


class NginxTest(ProxyTest):
    needs = ("openssl", "nginx")

    def test_nginx(self) -> None:
        plain = free_port()
        listens = {"listen 443": f"listen 127.0.0.1:{self.port}"}
        listens["listen 80;"] = f"listen 127.0.0.1:{plain};"
        site = self.configuration("nginx.conf", **listens)
        (self.folder / "site.conf").write_text(site)
        temporary = "".join(
            f"{kind}_temp_path temporary_{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "main.conf").write_text(
            "daemon off; pid pid; error_log stderr; events {}\n"
            + f"http {{ access_log off;\n{temporary}include site.conf; }}\n"
        )
        self.start_proxy("nginx", "-p", str(self.folder), "-e", "stderr", "-c", "main.conf")
        self.assert_works()
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

    def test_an_answer_may_take_an_hour(self) -> None:
        for kind in ("send", "read"):
            self.configuration("nginx.conf", **{f"proxy_{kind}_timeout 1h;": ""})


class CaddyTest(ProxyTest):
    needs = ("openssl", "caddy")

    def test_caddy(self) -> None:
        options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"
        place = f"localhost:{self.port}"
        site = self.configuration("Caddyfile", **{"files.example.com": place})
        (self.folder / "Caddyfile").write_text(options + site)
        self.start_proxy("caddy", "run", "--config", str(self.folder / "Caddyfile"))
        self.assert_works()


del ProxyTest  # Without this, unittest would run the base class too.
