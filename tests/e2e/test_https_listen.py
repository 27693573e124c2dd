"""--https-listen: HTTP in TLS."""

import contextlib
import os
import select
import signal
import socket
import ssl
import subprocess
import time
import unittest
from pathlib import Path

import server_pairs
from http_client import Answer, HttpClient, request
from https_scene import CREDENTIALS, LARGE, MODELS, HttpsScene, Tls, connect
from programs import run
from scene import for_each
from server_pairs import Pair, attentive, context
from telemetry import scrape
from waiting import LONG_S, eventually

HSTS = "strict-transport-security"
_ULPS = Path("/proc/sys/net/ipv4/tcp_available_ulp")
KERNEL_ENCRYPTS = _ULPS.exists() and "tls" in _ULPS.read_text(encoding="ascii").split()


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def run_openssl(*arguments: str, stdin: bytes, at_least_s: float) -> bytes:
    process = subprocess.Popen(
        ["openssl", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdin
    time.sleep(at_least_s)
    process.stdin.write(stdin)
    process.stdin.flush()
    try:
        output, _ = process.communicate(timeout=LONG_S)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    return output


class HttpsTest(HttpsScene):
    @for_each(MODELS)
    def test_a_file_comes_in_both_versions_and_the_end_is_told(self, model: str) -> None:
        server = self.serve(model)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            made = context("http/1.1", minimum_version=version, maximum_version=version)
            client = self.tls(server, made)
            self.assertEqual(client.socket.selected_alpn_protocol(), "http/1.1")
            for _ in range(3):
                client.ask("/small.txt")
                self.assertTrue(client.socket.recv(1 << 16).endswith(b"\r\n\r\nsmall\n"))
            client.ask("/large.bin", "Connection: close")
            head, _, body = client.until_end().partition(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 200"), head)
            self.assertEqual(body, LARGE)
        self.assertEqual(self.handshakes(server, "made"), 2)

    @for_each(MODELS)
    def test_requests_in_one_record_and_in_many_are_answered_in_order(self, model: str) -> None:
        server = self.serve(model)
        client = self.tls(server)
        one = request("/small.txt", CREDENTIALS)
        last = request("/small.txt", CREDENTIALS, "Connection: close")
        client.socket.sendall(one * 3)
        for byte in one + last:
            client.socket.sendall(bytes([byte]))
        self.assertEqual(client.until_end().count(b"HTTP/1.1 200"), 5)

    def test_alpn_takes_http_1_1_and_nothing_else(self) -> None:
        server = self.serve("thread")
        both = self.tls(server, context("h2", "http/1.1"))
        self.assertEqual(both.socket.selected_alpn_protocol(), "http/1.1")
        self.assertIsNone(self.tls(server).socket.selected_alpn_protocol())
        with self.assertRaises(ssl.SSLError):
            self.tls(server, context("h2"))
        eventually(lambda: self.handshakes(server, "failed") == 1, "it is counted")

    def test_only_tls_1_3_has_tickets(self) -> None:
        server = self.serve("event")
        for version, resumes in (("TLSv1_2", False), ("TLSv1_3", True)):
            chosen = ssl.TLSVersion[version]
            made = context(minimum_version=chosen, maximum_version=chosen)
            first = self.tls(server, made)
            first.ask("/small.txt")
            first.socket.recv(1 << 16)
            raw = connect(server)
            second = self.scene.keep(
                made.wrap_socket(raw, server_hostname="localhost", session=first.socket.session)
            )
            self.assertEqual(second.session_reused, resumes, version)

    @for_each(MODELS)
    def test_every_answer_keeps_browsers_at_https(self, model: str) -> None:
        server = self.serve(model, "--http-listen", "127.0.0.1:0")
        for target, fields, status in (
            ("/small.txt", (), 200),
            ("/no", (), 404),
            ("/", ("Host: x",), 400),
            ("/-/health", (), 200),
        ):
            answer = self.answer(server, target, *fields)
            self.assertEqual(status_of(answer), status)
            self.assertIn(b"Strict-Transport-Security: max-age=31536000\r\n", answer)
        plain: Answer = self.scene.keep(HttpClient(server)).ask("/-/health")
        self.assertNotIn(HSTS, plain.fields)

    @for_each(MODELS)
    def test_a_cookie_is_for_encrypted_connections_only(self, model: str) -> None:
        server = self.serve(model, "--http-listen", "127.0.0.1:0")
        told = b'{"user": "alice", "password": "wonderland"}'
        answer = self.answer(server, "/-/session", method="POST", body=told)
        self.assertRegex(answer, rb"Set-Cookie: turnstile=[\w-]{43};[^\r]*; Secure\r\n")
        plain = self.scene.keep(HttpClient(server)).ask("/-/session", method="POST", body=told)
        self.assertNotIn("Secure", plain.fields["set-cookie"])

    @for_each(MODELS)
    def test_http_without_tls_is_400_in_clear_words(self, model: str) -> None:
        server = self.serve(model)
        for line in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"PROPFIND / HTTP/1.1\r\n"):
            with connect(server) as raw:
                raw.sendall(line)
                answer = b""
                while part := raw.recv(1 << 16):
                    answer += part
            head, _, body = answer.partition(b"\r\n\r\n")
            self.assertEqual(status_of(head), 400)
            self.assertIn(b"https://", body)
            self.assertIn(b"Content-Length: %d\r\n" % len(body), answer)
        eventually(lambda: self.handshakes(server, "plain") == 2, "they are counted")

    @for_each(MODELS)
    def test_what_is_no_tls_is_closed(self, model: str) -> None:
        server = self.serve(model)
        for garbage in (b"get:alice:wonderland\n", b"\x16\x03\x01\xff\xff", b"\x80" * 600, b"\0"):
            with connect(server) as raw:
                raw.sendall(garbage)
                raw.shutdown(socket.SHUT_WR)
                with self.subTest(garbage[:5]):
                    try:
                        while raw.recv(1 << 16):
                            pass
                    except ConnectionResetError:
                        pass
        self.assertEqual(status_of(self.answer(server, "/small.txt")), 200)

    @for_each(MODELS)
    def test_a_file_that_is_cut_ends_without_a_goodbye(self, model: str) -> None:
        server = self.serve(model, "--files", "disk")
        path = self.scene.write("cut.bin", LARGE)
        os.truncate(path, 1 << 30)  # more than all buffers on the way
        client = self.tls(server, attentive())
        client.ask("/cut.bin", "Connection: close")
        client.socket.recv(1000)
        os.truncate(path, len(LARGE))
        with self.assertRaises((ssl.SSLError, ConnectionResetError)):
            client.until_end()

    @for_each(MODELS)
    def test_an_upload_that_is_under_way_ends_after_a_stop(self, model: str) -> None:
        server = self.serve(model, "--drain-seconds", LONG_S)
        client = self.tls(server)
        head = request(f"/{model}.bin", CREDENTIALS, f"Content-Length: {len(LARGE)}", method="PUT")
        client.socket.sendall(head + LARGE[:100_000])
        eventually(
            lambda: scrape(server).value("turnstile_received_bytes_total") > 100_000,
            "the upload has begun",
        )
        server.signal(signal.SIGTERM)
        time.sleep(0.2)  # the server shuts the sockets down meanwhile, or has done so
        client.socket.sendall(LARGE[100_000:])
        self.assertEqual(status_of(client.until_end()), 201)
        self.assertEqual((self.scene.root / f"{model}.bin").read_bytes(), LARGE)
        self.assertEqual(server.wait(), 0)

    @for_each(MODELS)
    def test_half_a_body_without_a_goodbye_changes_nothing(self, model: str) -> None:
        server = self.serve(model)
        client = self.tls(server)
        client.ask("/small.txt", "Content-Length: 100", method="PUT")
        client.socket.sendall(b"half")
        socket.socket.shutdown(client.socket, socket.SHUT_WR)
        # OpenSSL 3.5 also writes when it reads.
        with contextlib.suppress(ssl.SSLEOFError, ConnectionResetError, BrokenPipeError):
            client.until_end()
        self.assertTrue(self.answer(server, "/small.txt").endswith(b"\r\n\r\nsmall\n"))

    @for_each(MODELS)
    def test_a_client_cannot_renegotiate(self, model: str) -> None:
        server = self.serve(model)
        host, port = server.further_address("https")
        command = ("s_client", "-connect", f"{host}:{port}", "-tls1_2", "-quiet", "-no_ign_eof")
        done = run_openssl(*command, stdin=b"R\n", at_least_s=1)
        self.assertRegex(done, rb"(?i)no renegotiation|unexpected message|renegotiat")

    def test_all_listeners_are_in_the_ready_line_and_served(self) -> None:
        server = self.serve("thread", "--http-listen", "127.0.0.1:0")
        self.assertRegex(server.ready_line, r"^READY \S+ http=\S+ https=\S+ telemetry=\S+\n?$")
        self.assertEqual(self.scene.client(server).ask("get:alice:wonderland"), "OK")


class HalfHandshakesTest(HttpsScene):
    @for_each(MODELS)
    def test_those_of_one_address_hold_no_other_out(self, model: str) -> None:
        server = self.serve(model, "--tls-handshakes", "8", "--idle-timeout", "60")
        opened = [self.scene.keep(connect(server, "127.0.0.2")) for _ in range(20)]
        eventually(lambda: self.handshakes(server, "refused") == 18, "a quarter has a place")
        # Two loops accept at once, so the places need not be those of the first ones.
        eventually(lambda: len(select.select(opened, [], [], 0)[0]) == 18, "the others are closed")
        closed = select.select(opened, [], [], 0)[0]
        self.assertEqual({raw.recv(1) for raw in closed}, {b""})
        self.assertEqual(status_of(self.answer(server, "/small.txt")), 200)
        for raw in set(opened) - set(closed):
            raw.close()
        eventually(lambda: self.handshakes(server, "gone") == 2, "their places are free")
        self.tls(server, source="127.0.0.2")

    @for_each(MODELS)
    def test_one_takes_no_longer_than_the_idle_time(self, model: str) -> None:
        server = self.serve(model, "--idle-timeout", "0.5")
        raw = self.scene.keep(connect(server))
        raw.sendall(b"\x16\x03\x01\x02\x00\x01")  # of a ClientHello
        self.assertEqual(raw.recv(1), b"")
        eventually(lambda: self.handshakes(server, "late") == 1, "it is counted")

    def test_one_ends_also_where_nobody_is_ever_idle_for_too_long(self) -> None:
        servers = [self.serve(model, "--idle-timeout", "0") for model in MODELS]
        half = [self.scene.keep(connect(server)) for server in servers]
        for raw in half:
            raw.sendall(b"\x16\x03\x01\x02\x00\x01")
            raw.settimeout(60)
        for raw, server in zip(half, servers, strict=True):
            self.assertEqual(raw.recv(1), b"")
            eventually(lambda: self.handshakes(server, "late") == 1, "it is counted")


class FilesTest(HttpsScene):
    """--tls-certificate and --tls-key."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = self.scene.folder / "tls"
        self.folder.mkdir()

    def make(self, name: str = "one", *options: str, **more) -> Pair:
        return server_pairs.make(self.folder, name, *options, **more)

    def assert_refused(self, pair: Pair, *words: str) -> None:
        flags = ("--listen", "127.0.0.1:0", "--https-listen", "127.0.0.1:0", *pair.flags())
        done = run("fileserver", "--root", self.scene.root, *flags)
        self.assertEqual(done.returncode, 1, done.stderr)
        last = done.stderr.splitlines()[-1]
        for word in words:
            self.assertIn(word, last)

    def test_files_that_cannot_be_used_are_refused_with_one_line(self) -> None:
        good, other = self.make(), self.make("other")
        nothing = self.folder / "no"
        text = self.folder / "text"
        text.write_text("no PEM\n")
        text.chmod(0o600)
        self.assert_refused(Pair(nothing, good.key), str(nothing), "No such file")
        self.assert_refused(Pair(good.certificate, nothing), str(nothing), "No such file")
        self.assert_refused(Pair(text, good.key), str(text), "no certificate in PEM")
        self.assert_refused(Pair(good.certificate, text), str(text), "no private key in PEM")
        self.assert_refused(Pair(self.folder, good.key), "not a regular file")
        self.assert_refused(
            Pair(good.certificate, other.key), str(other.key), "not the key of", "one.pem"
        )
        good.key.chmod(0o604)
        self.assert_refused(good, str(good.key), "0604", "chmod o=")

    def test_an_encrypted_key_is_refused_and_nobody_is_asked(self) -> None:
        pair = self.make("secret", "-passout", "pass:word")
        self.assert_refused(pair, str(pair.key), "the key is encrypted")

    def test_a_weak_key_is_refused(self) -> None:
        pair = self.make("weak", key=server_pairs.WEAK)
        self.assert_refused(pair, str(pair.certificate), "weak", "1024")

    def test_flags_that_do_not_fit_are_wrong_usage(self) -> None:
        pair = server_pairs.shared()
        listen = ("--https-listen", "127.0.0.1:0")
        process = ("--model", "process")
        for flags in (
            listen,
            pair.flags(),
            (*listen, "--tls-key", pair.key),
            (*listen, *pair.flags(), *process),
            ("--tls-listen", "127.0.0.1:0"),
        ):
            done = run("fileserver", *flags)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    @for_each(MODELS)
    def test_a_hangup_reads_both_again_or_keeps_what_was(self, model: str) -> None:
        pair, other = self.make(), self.make("other", key=server_pairs.RSA)
        first, second = (
            ssl.PEM_cert_to_DER_cert(one.certificate.read_text()) for one in (pair, other)
        )
        server = self.serve(model, pair=pair)
        before = self.tls(server)
        self.assertEqual(before.socket.getpeercert(binary_form=True), first)

        pair.replace_by(Pair(other.certificate, pair.key))
        server.signal(signal.SIGHUP)
        eventually(lambda: "the certificate stays as it was" in server.log(), "the line")
        self.assertEqual(self.tls(server).socket.getpeercert(binary_form=True), first)

        pair.replace_by(other)
        server.signal(signal.SIGHUP)
        eventually(
            lambda: self.tls(server).socket.getpeercert(binary_form=True) == second, "the new one"
        )
        before.ask("/small.txt", "Connection: close")
        self.assertTrue(before.until_end().endswith(b"small\n"))

    def test_the_end_of_the_certificate_is_told(self) -> None:
        server = self.serve("thread", pair=self.make("soon", "-days", "3"))
        self.assertIn("the certificate ends soon", server.log())
        left_s = scrape(server).value("turnstile_tls_certificate_not_after_seconds") - time.time()
        self.assertLess(abs(left_s - 3 * 86400), 3600)
        self.assertNotIn("ends soon", self.serve("thread", pair=self.make("later")).log())


class KernelTest(HttpsScene):
    """--tls-kernel on."""

    @unittest.skipUnless(KERNEL_ENCRYPTS, "this kernel does not encrypt (modprobe tls)")
    @for_each(MODELS)
    def test_the_kernel_encrypts_all_that_is_sent_and_openssl_ends_it(self, model: str) -> None:
        server = self.serve(model, "--tls-kernel", "on")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            before = self.encrypted_by_kernel()
            client = self.tls(server, context(minimum_version=version, maximum_version=version))
            name = f"/{model}-{version.name}"
            client.ask(name, method="PUT", body=LARGE)
            self.assertEqual(status_of(client.socket.recv(1 << 16)), 201)
            client.ask("/large.bin", "Range: bytes=5-1000004")
            self.assertEqual(self.body(client, 1_000_000), LARGE[5:1_000_005])
            for _ in range(3):
                client.ask("/small.txt")
                self.assertTrue(client.socket.recv(1 << 16).endswith(b"\r\n\r\nsmall\n"))
            client.ask(name, "Connection: close")
            self.assertEqual(client.until_end().partition(b"\r\n\r\n")[2], LARGE)
            self.assertEqual(self.encrypted_by_kernel(), before + 1)

    def body(self, client: Tls, size: int) -> bytes:
        received = b""
        while len(received.partition(b"\r\n\r\n")[2]) < size:
            received += client.socket.recv(1 << 16)
        return received.partition(b"\r\n\r\n")[2]

    @staticmethod
    def encrypted_by_kernel() -> int:
        """Connections of this host so far, by software."""
        text = Path("/proc/net/tls_stat").read_text(encoding="ascii")
        return int(dict(line.split() for line in text.splitlines())["TlsTxSw"])

    @unittest.skipIf(KERNEL_ENCRYPTS, "this kernel encrypts")
    def test_where_the_kernel_cannot_openssl_encrypts_and_the_log_says_so(self) -> None:
        server = self.serve("event", "--tls-kernel", "on")
        self.assertEqual(status_of(self.answer(server, "/large.bin")), 200)
        line = "--tls-kernel: this kernel does not encrypt, so OpenSSL does: No such file"
        self.assertIn(line, server.log())
