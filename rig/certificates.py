"""Certificates for servers that are measured, made by openssl. Nobody is to believe them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .processes import run_tool

KEYS = {
    "p256": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "rsa2048": ("rsa:2048",),
    "rsa4096": ("rsa:4096",),
}


@dataclass(frozen=True)
class KeyPair:
    """PEM files. Only this user may read the key."""

    certificate: Path
    key: Path


@contextmanager
def made(folder: Path, key: str) -> Iterator[KeyPair]:
    """One of KEYS, in a folder of its own below this one, which is removed at the end.

    Failed without openssl.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="certificate-", dir=folder) as name:
        pair = KeyPair(Path(name) / "certificate.pem", Path(name) / "key.pem")
        command = ["openssl", "req", "-x509", "-newkey", *KEYS[key], "-nodes", "-days", "30"]
        files = ["-out", str(pair.certificate), "-keyout", str(pair.key)]
        run_tool([*command, "-subj", "/CN=localhost", *files], "a certificate")
        yield pair
