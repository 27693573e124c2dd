"""Certificates of an authority that only a test trusts."""

import subprocess
from pathlib import Path

from needs import missing

NO_OPENSSL = missing("openssl")


def make_certificates(folder: Path) -> None:
    """Makes ca.pem and signs server-cert.pem, for this host, and other-cert.pem, for another."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True)

    new_key = ["-newkey", "rsa:2048", "-nodes"]
    authority = ("-subj", "/CN=a test's authority", "-keyout", "ca-key.pem", "-out", "ca.pem")
    openssl("req", "-x509", *new_key, "-days", "2", *authority)
    signed = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2")
    for name, host, alias in (
        ("server", "127.0.0.1", "IP:127.0.0.1"),
        ("other", "db.invalid", "DNS:db.invalid"),
    ):
        key, request = f"{name}-key.pem", f"{name}.csr"
        openssl("req", *new_key, "-subj", f"/CN={host}", "-keyout", key, "-out", request)
        (folder / "names").write_text(f"subjectAltName={alias}")
        made = ("-extfile", "names", "-out", f"{name}-cert.pem")
        openssl("x509", "-req", "-in", request, *signed, *made)
