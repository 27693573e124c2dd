"""The profile `tls`: nginx ends TLS in front of the HTTP front, with a certificate of its own."""

import os
import socketserver
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from engine import SETTINGS, System, run
from needs import missing
from waiting import eventually

IMAGE = f"{SETTINGS['IMAGES']}/proxy:{SETTINGS['TAG']}"
SELF_MADE = (
    *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
    *("-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
)
CANNOT_VERIFY = 60  # exit status of curl
LARGE = os.urandom(3_000_000)  # nginx takes 1 MB by default
PUBLISHED = {"9000", "443", "9090"}  # 9090 is Prometheus, which does not run here
GUESSES = 20  # twice as many as the fileserver allows
# Prints the address of its container, and the status of each guess.
GUESS = f"""
hostname -i
for n in {{1..{GUESSES}}}; do
  curl -k -s -o /dev/null -w '%{{http_code}}\\n' -u "alice:wrong$n" "$1/1KB1.txt"
done
"""


def make_certificate(folder: Path) -> None:
    """Makes certificate.pem and key.pem for localhost."""
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"))
    run("openssl", *SELF_MADE, *files)


@unittest.skipIf(missing("curl", "openssl"), missing("curl", "openssl"))
class Https(unittest.TestCase):
    system: System
    port: int
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.system = System(STORE="sqlite", UPLOADS="folder", NEW_ACCOUNTS="closed")
        cls.addClassCleanup(cls.system.remove)
        cls.system.compose("--profile", "tls", "up", "--detach", "--wait", "--no-build")
        host, _, port = cls.system.compose("port", "network", "443").strip().rpartition(":")
        assert host == "127.0.0.1", host
        cls.port = int(port)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        certificate = cls.system.inside("proxy", "cat /etc/turnstile/tls/certificate.pem")
        (cls.folder / "ca.pem").write_text(certificate, encoding="ascii")
        cls.system.inside("authserver", "ask <<<new:alice:wonderland")

    def curl(self, *words: str, password: str = "wonderland", port: int = 0) -> tuple[int, str]:
        """Exit status, and status of the answer. The last word is a path; the body goes to out."""
        *options, path = words
        done = subprocess.run(
            [
                *("curl", "-s", "--noproxy", "*", "-o", "out", "-w", "%{http_code}", *options),
                *("-u", f"alice:{password}", f"https://localhost:{port or self.port}/{path}"),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def body(self) -> bytes:
        return (self.folder / "out").read_bytes()

    def test_a_file_comes_through_tls(self) -> None:
        self.assertEqual(self.curl("--cacert", "ca.pem", "1KB7.txt"), (0, "200"))
        expected = self.system.inside("fileserver", "cat /srv/files/1KB7.txt").encode()
        self.assertEqual(self.body(), expected)

    def test_a_wrong_password_is_401(self) -> None:
        self.assertEqual(self.curl("--cacert", "ca.pem", "1KB7.txt", password="no"), (0, "401"))

    def test_accounts_are_made_at_the_authserver_only(self) -> None:
        self.assertEqual(self.system.ask("new:ben:wonderland"), "denied")
        made = ("-d", '{"user": "ben", "password": "wonderland"}', "-/accounts")
        self.assertEqual(self.curl("--cacert", "ca.pem", *made), (0, "403"))

    def test_an_upload_passes(self) -> None:
        (self.folder / "large").write_bytes(LARGE)
        put = self.curl("--cacert", "ca.pem", "-T", "large", "uploaded")
        self.assertEqual(put, (0, "201"))
        self.assertEqual(self.curl("--cacert", "ca.pem", "uploaded"), (0, "200"))
        self.assertEqual(self.body(), LARGE)

    def test_an_impostor_and_an_unknown_certificate_are_refused(self) -> None:
        self.assertEqual(self.curl("1KB7.txt"), (CANNOT_VERIFY, "000"))
        make_certificate(self.folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "certificate.pem", self.folder / "key.pem")
        with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as impostor:
            impostor.socket = context.wrap_socket(impostor.socket, server_side=True)
            threading.Thread(target=impostor.handle_request, daemon=True).start()
            port = impostor.server_address[1]
            answer = self.curl("--cacert", "ca.pem", "1KB7.txt", port=port)
        self.assertEqual(answer, (CANNOT_VERIFY, "000"))

    def test_who_guesses_passwords_locks_out_only_himself(self) -> None:
        container = self.system.compose("ps", "--quiet", "network").strip()
        told = run("docker", "inspect", "--format", "{{.NetworkSettings.IPAddress}}", container)
        own, *answers = run(
            *("docker", "run", "--rm", "--entrypoint", "bash", IMAGE),
            *("-c", GUESS, "guess", f"https://{told.strip()}"),
        ).split()
        self.assertEqual(answers[0], "401")
        self.assertEqual(answers[-1], "429")
        self.assertEqual(self.curl("--cacert", "ca.pem", "1KB7.txt"), (0, "200"))
        line = f'auth-failed address={own} user="alice" front=http'
        eventually(lambda: line in self.system.log("fileserver"), line)

    def test_only_the_native_port_and_tls_are_published(self) -> None:
        container = self.system.compose("ps", "--quiet", "network").strip()
        ports = run("docker", "port", container)
        self.assertEqual({line.partition("/")[0] for line in ports.split("\n") if line}, PUBLISHED)

    def test_nginx_is_not_root_writes_nothing_and_alone_can_read_its_key(self) -> None:
        self.assertNotEqual(self.system.inside("proxy", "id -u"), "0\n")
        written = self.system.inside("proxy", "touch /etc/turnstile/tls/x /var/x 2>&1 || true")
        self.assertEqual(written.count("Read-only file system"), 2, written)
        key = self.system.inside("proxy", "stat -c '%a %U' /etc/turnstile/tls/key.pem")
        self.assertEqual(key, "400 www-data\n")
        listed = ("--entrypoint", "bash", IMAGE, "-c", "ls /etc/turnstile* || true")
        self.assertEqual(run("docker", "run", "--rm", *listed), "", "the image has no key")


@unittest.skipIf(missing("openssl"), missing("openssl"))
class Certificates(unittest.TestCase):
    """What the service `secrets` gives nginx."""

    def setUp(self) -> None:
        self.system = System(TLS_NAME="files.example.com")
        self.addCleanup(self.system.remove)

    def secrets(self, *words: str) -> str:
        return self.system.compose("run", "--rm", "-T", *words)

    def given(self) -> str:
        return self.secrets("--entrypoint", "cat", "secrets", "/readers/proxy/certificate.pem")

    def names(self) -> str:
        script = "openssl x509 -noout -ext subjectAltName -in /readers/proxy/certificate.pem"
        shown = self.secrets("--entrypoint", "bash", "secrets", "-c", script)
        return shown.split("\n")[1].strip()

    def test_a_certificate_is_made_once_for_each_name(self) -> None:
        self.secrets("secrets")
        self.assertEqual(self.names(), "DNS:files.example.com")
        first = self.given()
        self.secrets("secrets")
        self.assertEqual(self.given(), first)
        self.secrets("-e", "TLS_NAME=192.0.2.7", "secrets")
        self.assertEqual(self.names(), "IP Address:192.0.2.7")
        self.secrets("secrets")
        self.assertEqual(self.given(), first)

    def test_a_certificate_of_the_user_is_taken_and_then_its_successor(self) -> None:
        folder = Path(self.system.own_secrets.name)
        for _ in range(2):
            make_certificate(folder)
            self.secrets("secrets")
            self.assertEqual(self.given(), (folder / "certificate.pem").read_text())
