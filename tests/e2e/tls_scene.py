"""A fileserver behind a proxy that ends TLS with a configuration of docs/tls."""

import base64
import os
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from http_client import FLAG
from needs import found, missing
from scene import SceneTest
from waiting import eventually

from rig.host import free_port

TLS = Path(__file__).parents[2] / "docs" / "tls"
LARGE = os.urandom(3_000_000)
NAMES = ("a b+c%.txt", "ä/%2e.txt", "one")


class ProxyScene(SceneTest):
    """A proxy that ends TLS. Subclasses start what is behind it, and then the proxy."""

    needs: tuple[str, ...] = ("openssl",)

    def setUp(self) -> None:
        if reason := missing(*self.needs):
            self.skipTest(reason)
        super().setUp()
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

    def start_proxy(self, *command: str) -> None:
        log = (self.folder / "log").open("ab")
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
                self.transport_security = answer.headers["Strict-Transport-Security"]
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


class ProxyTest(ProxyScene):
    """A fileserver behind a proxy. Subclasses start the proxy."""

    configurations = TLS
    site = "nginx.conf"
    upstream = ("127.0.0.1:8080", "http")  # as the file has it, and which port it is
    fileserver_flags: tuple[str, ...] = ()

    def setUp(self) -> None:
        super().setUp()
        for name in NAMES:
            self.scene.write(name, name.encode())
        self.scene.write("large", LARGE)
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = ("--trusted-proxy", "127.0.0.1", "--uploads", "folder", *self.fileserver_flags)
        environment = self.environment()
        self.fileserver = self.scene.fileserver(self.authserver, *FLAG, *flags, env=environment)

    def environment(self) -> dict[str, str]:
        """Variables of the fileserver."""
        return {}

    def configuration(self, name: str, **places: str) -> str:
        """The file with the places of this test. Each of them must be in the file."""
        upstream, kind = self.upstream
        host, port = self.fileserver.further_address(kind)
        text = (self.configurations / name).read_text()
        for old, new in {
            upstream: f"{host}:{port}",
            "/etc/turnstile/tls": str(self.folder),
            **places,
        }.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def start_nginx(self, around: str = "", **places: str) -> int:
        """nginx with the configuration of the site. Returns its port for plain HTTP.

        `around` is what stands around that file: defaults that it may override.
        """
        plain = free_port()
        places |= {"listen 443": f"listen 127.0.0.1:{self.port}"}
        places |= {"listen 80;": f"listen 127.0.0.1:{plain};"}
        (self.folder / "site.conf").write_text(self.configuration(self.site, **places))
        temporary = "".join(
            f"{kind}_temp_path temporary_{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "main.conf").write_text(
            "daemon off; pid pid; error_log stderr; events {}\n"
            + f"http {{ access_log off;\n{temporary}{around}include site.conf; }}\n"
        )
        self.start_proxy(found("nginx"), "-p", str(self.folder), "-e", "stderr", "-c", "main.conf")
        return plain
