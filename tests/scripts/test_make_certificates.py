"""scripts/make-certificates: an authority and a certificate for each host."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from needs import missing

SCRIPT = Path(__file__).parents[2] / "scripts" / "make-certificates"
NO_OPENSSL = missing("openssl")


def make(folder: Path, *hosts: str) -> None:
    subprocess.run([SCRIPT, folder, *hosts], check=True, capture_output=True)


def shown(certificate: Path) -> str:
    command = ["openssl", "x509", "-in", str(certificate), "-noout", "-text"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


class MakeCertificatesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / "tls"

    @unittest.skipIf(NO_OPENSSL, NO_OPENSSL)
    def test_an_authority_is_kept_and_keys_are_for_their_owner_only(self) -> None:
        make(self.folder)
        authority = (self.folder / "ca.pem").read_bytes()
        make(self.folder, "a.example,10.0.0.1,fe80::1")
        self.assertEqual((self.folder / "ca.pem").read_bytes(), authority)
        modes = {one.name: one.stat().st_mode & 0o777 for one in self.folder.iterdir()}
        pairs = ("a.example-key.pem", "a.example.pem", "localhost-key.pem", "localhost.pem")
        self.assertEqual(sorted(modes), sorted((*pairs, "ca-key.pem", "ca.pem")))
        for name, mode in modes.items():
            self.assertEqual(mode, 0o600 if "key" in name else 0o644, name)
        text = shown(self.folder / "a.example.pem")
        self.assertRegex(text, r"DNS:a\.example, IP Address:10\.0\.0\.1, IP Address:FE80")
        self.assertRegex(text, "TLS Web Server Authentication, TLS Web Client Authentication")
        self.assertRegex(shown(self.folder / "ca.pem"), "CA:TRUE, pathlen:0")

    @unittest.skipIf(NO_OPENSSL, NO_OPENSSL)
    def test_half_an_authority_is_not_completed(self) -> None:
        make(self.folder)
        (self.folder / "ca-key.pem").unlink()
        done = subprocess.run([SCRIPT, self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("only one of ca.pem and ca-key.pem", done.stderr)

    def test_what_is_no_host_is_refused(self) -> None:
        for words in (
            (),
            ("--no",),
            (self.folder, "../a"),
            (self.folder, "a b;c"),
            (self.folder, "-a"),
        ):
            done = subprocess.run([SCRIPT, *words], capture_output=True)
            self.assertEqual(done.returncode, 2, words)
        self.assertFalse(self.folder.exists())
