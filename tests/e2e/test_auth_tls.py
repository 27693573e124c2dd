"""The hop to the authserver in TLS: both ends prove who they are (scripts/make-certificates)."""

import functools
import multiprocessing.util
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import server_pairs
from client import Client
from peers import Relay
from programs import Program, run
from scene import SceneTest, for_each
from telemetry import FLAG as TELEMETRY
from telemetry import scrape
from test_auth_outage import outage_lines
from waiting import LONG_S, eventually

from rig.host import free_port

SCRIPT = Path(__file__).parents[2] / "scripts" / "make-certificates"
MODELS = ("thread", "event", "process")
SERVER, CLIENT, OTHER = "127.0.0.1", "files.example", "other.example"
PASSWORD = "easily-found-password"


def make_certificates(folder: Path, *hosts: str) -> None:
    subprocess.run([SCRIPT, folder, *hosts], check=True, capture_output=True)


@functools.cache
def shared() -> Path:
    """An authority and its pairs, and another one below it, which the tests do not change."""
    folder = Path(tempfile.mkdtemp(prefix="turnstile-authority-"))
    # atexit does nothing in a process that multiprocessing has forked, as the runner does.
    multiprocessing.util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)
    make_certificates(folder, SERVER, CLIENT, OTHER)
    make_certificates(folder / "stranger", SERVER, CLIENT)
    return folder


def server_flags(folder: Path, pair: str = SERVER, authority: str = "ca.pem") -> tuple[str, ...]:
    return (
        *("--tls-certificate", f"{folder}/{pair}.pem", "--tls-key", f"{folder}/{pair}-key.pem"),
        *("--tls-client-ca", f"{folder}/{authority}"),
    )


def client_flags(folder: Path, pair: str = CLIENT, authority: str = "ca.pem") -> tuple[str, ...]:
    return (
        *("--auth-certificate", f"{folder}/{pair}.pem", "--auth-key", f"{folder}/{pair}-key.pem"),
        *("--auth-ca", f"{folder}/{authority}"),
    )


def in_tls(authserver: Program) -> str:
    host, port = authserver.further_address("tls")
    return f"tls:{host}:{port}"


class Wire(Relay):
    """Keeps what is sent to `target`."""

    seen = b""

    def forward(self, received: bytes) -> bytes:
        self.seen += received
        return received


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class HopTest(SceneTest):
    def setUp(self) -> None:
        # Under nohup the tests ignore this signal, and so would the servers that they start.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        super().setUp()
        self.scene.write("a.txt", b"content")

    def ask_for_accounts(self, *flags: object, folder: Path | None = None) -> Program:
        """An authserver with both listeners, which knows `a`."""
        listen = () if "--tls-listen" in flags else ("--tls-listen", "127.0.0.1:0")
        own = () if "--tls-key" in flags else server_flags(folder or shared())
        scheme = ("--password-scheme", "plain")
        authserver = self.scene.authserver(*listen, *own, *scheme, *TELEMETRY, *flags)
        self.assertIn(self.scene.client(authserver).ask("new:a:pw"), ("OK", "exists"))
        return authserver

    def serve(self, auth: str, model: str, *flags: object, folder: Path | None = None) -> Program:
        own = () if "--auth-ca" in flags else client_flags(folder or shared())
        return self.scene.fileserver(auth, "--model", model, *own, *flags)

    @for_each(MODELS)
    def test_all_is_asked_in_tls_and_nobody_on_the_way_reads_it(self, model: str) -> None:
        authserver = self.ask_for_accounts("--model", "process" if model == "process" else "thread")
        self.assertRegex(authserver.ready_line, r"^READY \S+ tls=\S+ telemetry=\S+\n?$")
        wire = self.scene.keep(Wire(authserver.further_address("tls")))
        server = self.serve(f"tls:127.0.0.1:{wire.address[1]}", model)
        client = self.scene.client(server)
        new, get = f"new:{model}:{PASSWORD}", f"get:{model}:{PASSWORD}"
        lines = [new, new, f"get:{model}:wrong", get]
        expected = ["OK", "exists", "denied", "OK"]
        self.assertEqual([client.ask(line) for line in lines], expected)
        self.assertEqual(client.ask("a.txt"), b"content")
        self.assertEqual(client.ask("ping"), "OK")
        self.assertGreater(len(wire.seen), 500)
        self.assertNotIn(PASSWORD.encode(), wire.seen)
        clear = self.scene.client(authserver)  # beside it, for the store is the same
        self.assertEqual(clear.ask(f"auth:{model}:{PASSWORD}"), "OK")

    @for_each(("thread", "event"))
    def test_a_crowd_that_asks_together_gets_its_own_answers(self, model: str) -> None:
        authserver = self.ask_for_accounts()
        server = self.serve(in_tls(authserver), model)
        first = self.scene.client(server)
        for name in range(8):
            self.assertIn(first.ask(f"new:u{name}:pw{name}"), ("OK", "exists"))
        wrong: list[object] = []

        def ask(number: int) -> None:
            name = number % 8
            right, other = f"get:u{name}:pw{name}".encode(), f"get:u{name}:pw".encode()
            client = Client(server.address)
            with client.socket:
                answers = [client.ask_all([right, b"a.txt", right, other]) for _ in range(5)]
            wrong.extend(one for one in answers if one != ["OK", b"content", "OK", "denied"])

        crowd = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for one in crowd:
            one.start()
        for one in crowd:
            one.join(LONG_S)
        self.assertEqual(wrong, [])
        self.assertEqual(scrape(authserver).value("turnstile_tls_handshakes_total", "failed"), 0)

    @for_each(("event", "process"))
    def test_an_authserver_that_is_killed_and_comes_back_is_found(self, model: str) -> None:
        place = ("--tls-listen", f"127.0.0.1:{free_port()}")
        authserver = self.ask_for_accounts(*place)
        server = self.serve(in_tls(authserver), model)
        client = self.scene.client(server)
        self.assertEqual(client.ask_all([b"get:a:pw", b"ping"]), ["OK", "OK"])
        authserver.kill()
        self.assertEqual(client.ask_all([b"get:a:pw", b"ping"]), ["unavailable", "unavailable"])
        self.ask_for_accounts(*place)
        eventually(lambda: client.ask("ping") == "OK", "it is found")
        self.assertEqual(client.ask_all([b"get:a:pw", b"a.txt"]), ["OK", b"content"])

    @for_each(("thread", "event"))
    def test_an_authserver_that_hangs_is_unavailable_in_time(self, model: str) -> None:
        authserver = self.ask_for_accounts()
        server = self.serve(in_tls(authserver), model, "--auth-timeout", "0.6")
        client, silent = self.scene.client(server), self.scene.client(server)
        eventually(lambda: client.ask("get:a:pw") == "OK", "it answers")  # a busy machine is late
        authserver.pause()
        try:
            # On a kept connection, and on one whose handshake nobody answers.
            self.assertEqual(client.ask("get:a:pw"), "unavailable")
            self.assertEqual(silent.ask("ping"), "unavailable")
        finally:
            authserver.resume()
        eventually(lambda: client.ask("get:a:pw") == "OK", "it answers again")

    @for_each(("thread", "process"))
    def test_a_stop_ends_kept_connections_at_once(self, model: str) -> None:
        authserver = self.ask_for_accounts("--model", model, "--drain-seconds", LONG_S)
        server = self.serve(in_tls(authserver), "thread")
        self.assertEqual(self.scene.client(server).ask("get:a:pw"), "OK")
        authserver.signal(signal.SIGTERM)
        self.assertEqual(authserver.wait(), 0)

    def test_a_connection_for_each_request_works_too(self) -> None:
        authserver = self.ask_for_accounts()
        server = self.serve(in_tls(authserver), "event", "--auth-connection", "per-request")
        client = self.scene.client(server)
        lines = [b"ping", b"get:a:pw", b"get:a:no"]
        self.assertEqual(client.ask_all(lines), ["OK", "OK", "denied"])
        eventually(
            lambda: scrape(authserver).value("turnstile_tls_handshakes_total", "made") >= 3,
            "each has a handshake",
        )

    def test_who_cannot_prove_who_it_is_is_not_asked(self) -> None:
        folder = shared()
        # What the log says, and the flags of the authserver and the fileserver. Whether the alert
        # is read depends on what the fileserver writes meanwhile, and on the version of OpenSSL.
        refused = "unknown ca|broke|closed the connection"
        cases = (
            ("certificate", (), client_flags(folder, authority="stranger/ca.pem"), "thread"),
            ("mismatch", server_flags(folder, OTHER), client_flags(folder), "event"),
            (refused, (), client_flags(folder, f"stranger/{CLIENT}"), "process"),
            (refused, (), client_flags(folder, f"stranger/{CLIENT}"), "event"),
        )
        for reason, theirs, ours, model in cases:
            authserver = self.ask_for_accounts(*theirs)
            server = self.serve(in_tls(authserver), model, *ours)
            client = self.scene.client(server)
            with self.subTest(reason, model=model):
                answers = client.ask_all([b"ping", b"new:b:pw", b"get:a:pw"])
                self.assertEqual(answers, ["unavailable"] * 3)
                (away,) = outage_lines(server)[0]
                self.assertRegex(away, reason)
                self.assertEqual(self.scene.client(authserver).ask("auth:b:pw"), "denied")

    def test_a_name_is_checked_as_well_as_an_address(self) -> None:
        folder = self.scene.folder / "names"
        make_certificates(folder, "localhost")
        authserver = self.ask_for_accounts(*server_flags(folder, "localhost"))
        _, port = authserver.further_address("tls")
        for host, answer in (("localhost", "OK"), ("127.0.0.1", "unavailable")):
            client = self.scene.client(
                self.serve(f"tls:{host}:{port}", "thread", *client_flags(folder, "localhost"))
            )
            self.assertEqual(client.ask("ping"), answer, host)

    @for_each(("thread", "process"))
    def test_a_client_without_a_certificate_gets_no_connection(self, model: str) -> None:
        authserver = self.ask_for_accounts("--model", model)
        context = ssl.create_default_context(cafile=f"{shared()}/ca.pem")
        address = authserver.further_address("tls")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.minimum_version = context.maximum_version = version
            refused = self.assertRaises((ssl.SSLError, ConnectionResetError, BrokenPipeError))
            with refused, socket.create_connection(address, LONG_S) as raw:
                one = context.wrap_socket(raw, server_hostname="127.0.0.1")
                one.sendall(b"ping\n")
                self.assertEqual(one.recv(100), b"")
        with socket.create_connection(address, LONG_S) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self.assertTrue(raw.recv(100).startswith(b"HTTP/1.1 400 "))
        failed = "turnstile_tls_handshakes_total", "failed"
        eventually(lambda: scrape(authserver).value(*failed) == 2, "both have failed")
        context.load_cert_chain(f"{shared()}/{CLIENT}.pem", f"{shared()}/{CLIENT}-key.pem")
        with socket.create_connection(address, LONG_S) as raw:
            one = context.wrap_socket(raw, server_hostname="127.0.0.1")
            one.sendall(b"ping\n")
            self.assertEqual(one.recv(100), b"OK\n")

    @for_each(("event", "process"))
    def test_a_hangup_reads_all_certificates_again(self, model: str) -> None:
        folder = self.scene.folder / "tls"
        make_certificates(folder, SERVER, CLIENT)
        ours = "process" if model == "process" else "thread"
        authserver = self.ask_for_accounts("--model", ours, folder=folder)
        per_request = ("--auth-connection", "per-request")
        server = self.serve(in_tls(authserver), model, *per_request, folder=folder)
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")

        (folder / f"{SERVER}-key.pem").rename(folder / "kept")
        shutil.copy(folder / f"{CLIENT}-key.pem", folder / f"{SERVER}-key.pem")
        authserver.signal(signal.SIGHUP)
        eventually(lambda: "stays as it was" in authserver.log(), "the wrong pair is told")
        self.assertEqual(client.ask("ping"), "OK")

        for name in ("ca.pem", "ca-key.pem"):
            (folder / name).unlink()
        make_certificates(folder, SERVER, CLIENT)  # of a new authority
        authserver.signal(signal.SIGHUP)
        eventually(lambda: client.ask("ping") == "unavailable", "the authserver has it")
        server.signal(signal.SIGHUP)
        eventually(lambda: client.ask("ping") == "OK", "the fileserver has it too")

    def has_refused(self, server: Program, count: int) -> bool:
        return scrape(server).value("turnstile_tls_handshakes_total", "refused") == count

    def test_half_handshakes_of_one_address_hold_no_other_out(self) -> None:
        authserver = self.ask_for_accounts("--model", "process", "--tls-handshakes", "8")
        address = authserver.further_address("tls")
        for _ in range(6):
            self.scene.keep(socket.create_connection(address, LONG_S, ("127.0.0.2", 0)))
        eventually(lambda: self.has_refused(authserver, 4), "a quarter has a place")
        client = self.scene.client(self.serve(in_tls(authserver), "thread"))
        self.assertEqual(client.ask("ping"), "OK")


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class FilesTest(SceneTest):
    def assert_ends(self, name: str, status: int, word: str, *flags: str) -> None:
        done = run(name, "--listen", "127.0.0.1:0", *flags)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(word, done.stderr.splitlines()[-1])

    def test_files_that_cannot_be_used_are_refused_with_one_line(self) -> None:
        folder, empty = shared(), self.scene.folder / "empty.pem"
        empty.touch()
        open_key = self.scene.folder / "open.pem"
        shutil.copy(folder / f"{SERVER}-key.pem", open_key)
        open_key.chmod(0o644)
        listen = ("--tls-listen", "127.0.0.1:0", "--sqlite-path", str(self.scene.folder / "a.db"))
        auth = ("--root", str(self.scene.root), "--auth", "tls:127.0.0.1:1")
        for last, word in (
            (("--tls-client-ca", str(empty)), "no certificate in PEM"),
            (("--tls-client-ca", "/no/such/file"), "No such file"),
            (("--tls-key", str(open_key)), "others may use the key"),
            (("--tls-key", f"{folder}/{CLIENT}-key.pem"), "not the key of"),
        ):
            self.assert_ends("authserver", 1, word, *listen, *server_flags(folder), *last)
        for last, word in (
            (("--auth-ca", str(empty)), "no certificate in PEM"),
            (("--auth-certificate", str(empty)), "no certificate in PEM"),
            (("--auth-key", str(open_key)), "others may use the key"),
            (("--auth-key", f"{folder}/{SERVER}-key.pem"), "not the key of"),
        ):
            self.assert_ends("fileserver", 1, word, *auth, *client_flags(folder), *last)

    def test_flags_that_do_not_fit_are_wrong_usage(self) -> None:
        folder = shared()
        tls = ("--tls-listen", "127.0.0.1:0")
        self.assert_ends("authserver", 2, "--tls-client-ca", *tls, *server_flags(folder)[:4])
        self.assert_ends("authserver", 2, "--tls-listen", *server_flags(folder))
        self.assert_ends("fileserver", 2, "--auth-ca", "--auth", "tls:127.0.0.1:1")
        self.assert_ends("fileserver", 2, "--auth tls:", *client_flags(folder))
        self.assert_ends("fileserver", 2, "tls:HOST:PORT", "--auth", "tls:127.0.0.1:x")
