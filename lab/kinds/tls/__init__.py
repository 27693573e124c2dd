"""A closed loop by HTTP, in clear or in TLS, on kept connections or with one for each request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..kind import Kind

SERVER, PROXY = "server", "proxy"  # who encrypts: the one with the files, or nginx in front of it
KEPT, NEW, RESUMED = "kept", "new", "resumed"


@dataclass(frozen=True, kw_only=True)
class Encryption:
    """Who encrypts, with which key, and how often keys are agreed upon."""

    files: ClassVar[int] = 8  # of each size: memory is not what is measured

    by: str = ""  # SERVER or PROXY; "": nobody
    key: str = "p256"  # see rig/certificates.py
    connections: str = KEPT  # or NEW: one for each request; or RESUMED: which resumes one before

    @property
    def loadgen(self) -> tuple[str, ...]:
        """The flags of the load generator. The server is measured, so any certificate will do."""
        kept = "keep-alive" if self.connections == KEPT else "per-request"
        flags = ("--protocol", "http", "--connection", kept)
        if not self.by:
            return flags
        resumes = "on" if self.connections == RESUMED else "off"
        return (*flags, "--tls", "--tls-insecure", "--tls-resume", resumes)


def carried(used: Mapping[str, float]) -> float:
    """Of what all components used, that of those which a file passes. Whether a user may have it is
    asked of others.
    """
    return sum(used.get(name, 0.0) for name in ("fileserver", "proxy"))


KIND = Kind(
    name="tls",
    suffix="-tls",
    title=", in TLS and in clear",
    heading="What encryption costs",
    has_own_stages=True,
    takes_threads=True,
    few_files=Encryption.files,
    is_by_http=True,
    is_about_cpu=True,
)
