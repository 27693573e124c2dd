"""Certificates for tests, made by openssl, and clients that speak TLS."""

import functools
import multiprocessing.util
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from needs import missing

MISSING = missing("openssl")  # why tests that need this module are skipped; empty: they are not

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
RSA = ("-newkey", "rsa:2048")
WEAK = ("-newkey", "rsa:1024")


class Pair(NamedTuple):
    certificate: Path
    key: Path

    def flags(self) -> tuple[str, ...]:
        return ("--tls-certificate", str(self.certificate), "--tls-key", str(self.key))

    def replace_by(self, other: "Pair") -> None:
        """As a renewal does: with a rename, the certificate first."""
        for ours, theirs in zip(self, other, strict=True):
            copy = ours.with_suffix(".new")
            shutil.copy(theirs, copy)
            copy.replace(ours)


def make(folder: Path, name: str = "one", *options: str, key: tuple[str, ...] = EC) -> Pair:
    """`options` are further ones of openssl req, such as `-days 1`, which is not the default."""
    pair = Pair(folder / f"{name}.pem", folder / f"{name}-key.pem")
    days = () if "-days" in options or "-not_after" in options else ("-days", "30")
    secret = () if "-passout" in options else ("-nodes",)
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        [
            *("openssl", "req", "-x509", *key, *secret, *days, "-subj", f"/CN={name}"),
            *("-addext", names, *options, "-keyout", str(pair.key), "-out", str(pair.certificate)),
        ],
        check=True,
        capture_output=True,
    )
    pair.key.chmod(0o600)
    return pair


@functools.cache
def shared() -> Pair:
    """A pair for all tests of this process, which do not change it."""
    folder = Path(tempfile.mkdtemp(prefix="turnstile-certificates-"))
    # atexit does nothing in a process that multiprocessing has forked, as the runner does.
    multiprocessing.util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)
    return make(folder)


def https_flags() -> tuple[str, ...]:
    return ("--https-listen", "127.0.0.1:0", *shared().flags())


def server_context() -> ssl.SSLContext:
    """Of a server with the shared pair."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*shared())
    return made


def context(*protocols: str, **versions: ssl.TLSVersion) -> ssl.SSLContext:
    """Of a client that believes any certificate. ALPN offers the protocols."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    for name, version in versions.items():
        setattr(made, name, version)
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


def attentive() -> ssl.SSLContext:
    """Of a client for whom an end without a goodbye is an ssl.SSLError. In Debian's Python it is
    none otherwise.
    """
    made = context()
    made.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    return made
