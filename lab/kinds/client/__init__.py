"""One file, which a program that people use fetches over several channels."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Download:
    """Which program gets a file, and how: see kinds/client/load.py."""

    client: str  # a name of systems/clients/known.py
    protocol: str = "http"  # or "ftp"
    stuck_s: float = 0.0  # so long, one of the connections loses all its packets
    stuck_after_s: float = 0.0  # after the start of the program
    kills: int = 0  # so often the program is killed at a random moment, and goes on where it was
    is_saved: bool = False  # the program writes the file, even if it could throw it away
    most_channels: int = 0  # in place of all that are more; 0: any number


KIND = Kind(
    name="client",
    suffix="-client",
    title=", a download",
    heading="One file over several channels",
    rate="rate_bytes_s",
    has_own_stages=True,
    is_by_http=True,
    needs_log=True,
)
