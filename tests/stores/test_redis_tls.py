"""Redis with TLS: stunnel encrypts for the authserver, with the configuration of docs/stores.md."""

import contextlib
import re
import socket
import unittest
from pathlib import Path

import e2e_path  # noqa: F401
from certificates import make_certificates
from databases import Redis
from needs import missing
from peers import Relay
from programs import run
from scene import SceneTest
from waiting import eventually

from rig.host import free_port
from rig.processes import Program

NEEDS = missing("openssl", "stunnel4")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "stores.md"
USER, PASSWORD = "easilyfounduser", "easily-found-password"


class Wire(Relay):
    """Keeps the bytes that go to `target`."""

    seen = b""

    def forward(self, received: bytes) -> bytes:
        self.seen += received
        return received


def documented() -> str:
    """The configuration that docs/stores.md shows."""
    found = re.search(r"^```ini\n(\[redis\]\n.+?)^```", DOCS.read_text("utf-8"), re.M | re.S)
    assert found, DOCS
    return found[1]


@unittest.skipIf(NEEDS, NEEDS)
class RedisTlsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        make_certificates(self.scene.folder)

    def redis(self, certificate: str) -> Redis:
        """Its further port takes connections with TLS. `certificate` is "server" or "other"."""
        self.tls_port = free_port()
        key = self.scene.folder / f"{certificate}-key.pem"
        options = ["--tls-port", str(self.tls_port), "--tls-auth-clients", "no"]
        options += ["--tls-cert-file", str(self.scene.folder / f"{certificate}-cert.pem")]
        options += ["--tls-key-file", str(key)]
        redis = Redis(self.scene.folder / "redis", *options)
        self.addCleanup(redis.close)
        return redis

    def stunnel(self, *changes: tuple[str, str]) -> int:
        """Starts it, and returns the port for the authserver."""
        port = free_port()
        text = documented()
        for old, new in (("127.0.0.1:6380", f"127.0.0.1:{port}"), *changes):
            self.assertEqual(text.count(old), 1, f"{old} in {text}")
            text = text.replace(old, new)
        settings = self.scene.folder / "stunnel.conf"
        settings.write_text(f"foreground = yes\npid =\n{text}")
        command = ["stunnel4", str(settings)]
        stunnel = Program("stunnel4", command, self.scene.folder / "stunnel.log")
        self.addCleanup(stunnel.kill)
        eventually(lambda: listens(port) or not stunnel.is_running(), "stunnel listens")
        self.assertTrue(stunnel.is_running(), stunnel.log())
        return port

    def through(self, target: object) -> tuple[tuple[str, str], ...]:
        return (
            ("redis.example.com:6379", str(target)),
            ("/etc/stunnel/redis-ca.pem", str(self.scene.folder / "ca.pem")),
            ("checkHost = redis.example.com", "checkIP = 127.0.0.1"),
        )

    def test_nobody_on_the_way_reads_names_and_passwords(self) -> None:
        redis = self.redis("server")
        for port, is_readable in ((self.tls_port, False), (redis.port, True)):
            wire = self.scene.keep(Wire(("127.0.0.1", port)))
            near = wire.address[1] if is_readable else self.stunnel(*self.through(wire))
            flags = ("--store", "redis", "--redis-port", near, "--password-scheme", "plain")
            client = self.scene.client(self.scene.authserver(*flags))
            with self.subTest(is_readable=is_readable):
                self.assertIn(client.ask(f"new:{USER}:{PASSWORD}"), ("OK", "exists"))
                self.assertEqual(client.ask(f"auth:{USER}:{PASSWORD}"), "OK")
                self.assertEqual(client.ask(f"auth:{USER}:wrong"), "denied")
                self.assertGreater(len(wire.seen), 100)
                self.assertEqual(USER.encode() in wire.seen, is_readable)
                self.assertEqual(PASSWORD.encode() in wire.seen, is_readable)

    def test_a_server_with_the_certificate_of_another_host_gets_nothing(self) -> None:
        self.redis("other")
        port = self.stunnel(*self.through(f"127.0.0.1:{self.tls_port}"))
        flags = ("--listen", "127.0.0.1:0", "--store", "redis", "--redis-port", str(port))
        done = run("authserver", *flags)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
