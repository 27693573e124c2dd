"""Certificates of an authority that only a test trusts."""

import shutil
import subprocess
from pathlib import Path

NO_OPENSSL = "" if shutil.which("openssl") else "no openssl is installed"


def make_certificates(folder: Path) -> None:
    """Makes ca.pem and signs server-cert.pem, for this host, and other-cert.pem, for another."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True)

    new_key = ["-newkey", "rsa:2048", "-nodes", "-days", "2"]
    openssl(
        "req",
        "-x509",
        *new_key,
        "-subj",
        "/CN=a test's authority",
        "-keyout",
        "ca-key.pem",
        "-out",
        "ca.pem",
    )
    for name, host, alias in (
        ("server", "127.0.0.1", "IP:127.0.0.1"),
        ("other", "db.invalid", "DNS:db.invalid"),
    ):
        openssl(
            "req",
            *new_key[:3],
            "-subj",
            f"/CN={host}",
            "-keyout",
            f"{name}-key.pem",
            "-out",
            f"{name}.csr",
        )
        (folder / "names").write_text(f"subjectAltName={alias}")
        openssl(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca-key.pem",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "names",
            "-out",
            f"{name}-cert.pem",
        )
