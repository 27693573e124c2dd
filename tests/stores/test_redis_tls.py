"""Redis with TLS (--redis-tls): the server, and a sentinel."""

import contextlib
import socket
import ssl
import unittest

import e2e_path  # noqa: F401
from certificates import make_certificates
from databases import Redis
from needs import missing
from peers import Listening, Relay
from programs import run
from scene import SceneTest

from rig.host import free_port

NEEDS = missing("openssl")
USER, PASSWORD = "easilyfounduser", "easily-found-password"


class Wire(Relay):
    """Keeps the bytes that go to `target`."""

    seen = b""

    def forward(self, received: bytes) -> bytes:
        self.seen += received
        return received


class Sentinel(Listening):
    """Speaks TLS only, and names 127.0.0.1 with this port as the primary."""

    def __init__(self, context: ssl.SSLContext, port: int) -> None:
        self._context, self._port = context, port
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            self._context.wrap_socket(connection, server_side=True) as one,
        ):
            while asked := one.recv(1000):
                primary = f"*2\r\n$9\r\n127.0.0.1\r\n${len(str(self._port))}\r\n{self._port}\r\n"
                one.sendall(primary.encode() if b"GET-MASTER" in asked else b"*0\r\n")


@unittest.skipIf(NEEDS, NEEDS)
class RedisTlsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        make_certificates(self.scene.folder)
        self.encrypted = ("--store", "redis", "--redis-tls", "on")
        self.trusted = ("--redis-tls-ca", str(self.scene.folder / "ca.pem"))

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

    def assert_not_started(self, word: str, *flags: object, status: int = 1) -> None:
        done = run("authserver", "--listen", "127.0.0.1:0", *map(str, flags))
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(word, done.stderr.splitlines()[-1])

    def test_nobody_on_the_way_reads_names_and_passwords(self) -> None:
        redis = self.redis("server")
        for port, is_readable in ((self.tls_port, False), (redis.port, True)):
            wire = self.scene.keep(Wire(("127.0.0.1", port)))
            tls = () if is_readable else ("--redis-tls", "on", *self.trusted)
            flags = ("--store", "redis", "--redis-port", wire.address[1], *tls)
            server = self.scene.authserver(*flags, "--password-scheme", "plain")
            client = self.scene.client(server)
            with self.subTest(is_readable=is_readable):
                self.assertIn(client.ask(f"new:{USER}:{PASSWORD}"), ("OK", "exists"))
                self.assertEqual(client.ask(f"auth:{USER}:{PASSWORD}"), "OK")
                self.assertEqual(client.ask(f"auth:{USER}:wrong"), "denied")
                self.assertGreater(len(wire.seen), 100)
                self.assertEqual(USER.encode() in wire.seen, is_readable)
                self.assertEqual(PASSWORD.encode() in wire.seen, is_readable)
                redis.disconnect_all()  # a kept connection that is gone is replaced unnoticed
                self.assertEqual(client.ask(f"auth:{USER}:{PASSWORD}"), "OK")

    def test_a_server_that_is_not_believed_gets_nothing(self) -> None:
        redis = self.redis("other")
        flags = (*self.encrypted, "--redis-port", self.tls_port)
        self.assert_not_started("mismatch", *flags, *self.trusted)
        self.assert_not_started("its certificate is not accepted", *flags)  # by the system
        self.assert_not_started("TLS", *self.encrypted, "--redis-port", redis.port, *self.trusted)

    def test_a_sentinel_is_asked_in_tls_and_so_is_the_server_that_it_names(self) -> None:
        self.redis("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        folder = self.scene.folder
        context.load_cert_chain(folder / "server-cert.pem", folder / "server-key.pem")
        sentinel = self.scene.keep(Sentinel(context, self.tls_port))
        at = f"127.0.0.1:{sentinel.address[1]}"
        flags = (*self.encrypted, *self.trusted, "--redis-sentinel", at)
        client = self.scene.client(self.scene.authserver(*flags, "--password-scheme", "plain"))
        self.assertEqual(client.ask_all([b"new:a:pw", b"auth:a:pw", b"ping"]), ["OK"] * 3)
        self.assert_not_started("its certificate is not accepted", *flags[:4], *flags[-2:])

    def test_flags_and_files_that_do_not_fit_are_refused(self) -> None:
        ca = self.scene.folder / "ca.pem"
        self.assert_not_started("needs --redis-tls on", "--redis-tls-ca", ca, status=2)
        socket_file = ("--redis-socket", "/tmp/no.sock")
        self.assert_not_started("no name", *self.encrypted, *socket_file, status=2)
        self.assert_not_started("No such file", *self.encrypted, "--redis-tls-ca", "/no/file")
