"""Three fileservers with a folder each, behind haproxy with the configuration of docs/scaling.

All ways between them are in TLS. The hosts have one address, and so one certificate.
"""

import http.client
import os
import re
import ssl
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from http_client import basic
from needs import found
from programs import Program
from scene import create_account
from test_auth_tls import SERVER, client_flags, in_tls, server_flags, shared
from tls_scene import ProxyScene

from rig.host import free_port
from rig.servers import fileserver_flags

CONFIGURATION = Path(__file__).parents[2] / "docs" / "scaling" / "haproxy.cfg"
HOSTS = ("one", "two", "three")
NAMES = tuple(f"file{number}" for number in range(300))
USER = ("alice", "wonderland")


@dataclass
class Host:
    """A fileserver with a port for HTTPS that stays, and its folder."""

    name: str
    port: int
    root: Path
    server: Program


class SpreadTest(ProxyScene):
    needs: tuple[str, ...] = ("openssl", "haproxy")

    def setUp(self) -> None:
        super().setUp()
        listen = ("--tls-listen", "127.0.0.1:0", *server_flags(shared()))
        self.authserver = self.scene.authserver("--password-scheme", "plain", *listen)
        create_account(self.authserver, *USER)
        self.hosts: dict[str, Host] = {}

    def start_hosts(self, *flags: object, shared: bool = False) -> None:
        """Each has a folder of its own, unless they share one. Then starts haproxy before them."""
        for name in HOSTS:
            root = self.scene.root if shared else self.folder_of(name)
            port = free_port()
            self.hosts[name] = Host(name, port, root, self.start_host(port, root, *flags))
        self.start_haproxy()

    def folder_of(self, name: str) -> Path:
        folder = self.scene.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def start_host(self, port: int, root: Path, *flags: object, authority: str = ".") -> Program:
        """`authority` is the folder of who has certified it, below the shared one."""
        listen = ("--https-listen", f"127.0.0.1:{port}", "--trusted-proxy", "127.0.0.1")
        to_test = ("--telemetry-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
        own = server_flags(shared() / authority)[:-2]
        behind = fileserver_flags(in_tls(self.authserver), root)
        hop = client_flags(shared(), SERVER)
        return self.scene.start("fileserver", [*behind, *hop, *listen, *own, *to_test, *flags])

    def start_haproxy(self, without: str = "") -> None:
        """Starts it, or another one on another port, `without` the line of a host."""
        self.port = free_port()
        pem = self.folder / "both.pem"
        pem.write_bytes((self.folder / "key.pem").read_bytes() + self.certificate.read_bytes())
        text = CONFIGURATION.read_text()
        places = {"maxconn 4000 ": "maxconn 100 "}
        places |= {"bind :80\n": f"bind 127.0.0.1:{free_port()}\n"}
        places |= {"bind :443 ": f"bind 127.0.0.1:{self.port} "}
        places |= {"/etc/haproxy/turnstile.pem": str(pem)}
        places |= {"/etc/haproxy/turnstile-ca.pem": str(shared() / "ca.pem")}
        for number, host in enumerate(self.hosts.values(), start=1):
            places[f"10.0.0.{number}:8443"] = f"127.0.0.1:{host.port}"
            places[f"verifyhost 10.0.0.{number}"] = f"verifyhost {SERVER}"
        for old, new in places.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        if os.geteuid() != 0:  # then it cannot become somebody else
            text = re.sub(r"^ +(user|group|chroot) .*\n", "", text, flags=re.MULTILINE)
        if without:
            text, count = re.subn(rf"^ +server {without} .*\n", "", text, flags=re.MULTILINE)
            self.assertEqual(count, 1)
        path = self.folder / f"haproxy-{self.port}.cfg"
        path.write_text(text)
        self.start_proxy(found("haproxy"), "-db", "-f", str(path))

    def connected(self) -> http.client.HTTPSConnection:
        """A connection to haproxy, which the caller closes."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        return http.client.HTTPSConnection("localhost", self.port, timeout=60, context=context)

    def get_all(self, names: tuple[str, ...] = NAMES) -> dict[str, tuple[int, bytes]]:
        """Status and body of each name, all on one connection."""
        connection = self.connected()
        found = {}
        try:
            for name in names:
                connection.request("GET", f"/{name}", headers={"Authorization": basic(*USER)})
                answer = connection.getresponse()
                found[name] = answer.status, answer.read()
        finally:
            connection.close()
        return found

    def write_signed(self) -> None:
        """Every name on every host, with the name of the host as its bytes."""
        for host in HOSTS:
            for name in NAMES:
                (self.folder_of(host) / name).write_bytes(host.encode())

    def places(self) -> dict[str, str]:
        """Which host serves each name. Requires: write_signed(). Every answer must be the file."""
        answers = self.get_all()
        self.assertEqual(Counter(status for status, _ in answers.values()), {200: len(NAMES)})
        return {name: body.decode() for name, (_, body) in answers.items()}


def moved(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def of(host: str, places: dict[str, str]) -> set[str]:
    return {name for name, place in places.items() if place == host}
