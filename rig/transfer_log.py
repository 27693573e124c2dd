"""Where a server writes a line for each transfer."""

from dataclasses import dataclass
from pathlib import Path

TURNSTILE, XFERLOG, NETLOGGER = "turnstile", "xferlog", "netlogger"  # see observe/log_formats.py


@dataclass(frozen=True)
class TransferLog:
    """The file, which may not be there before the first transfer, and the form of its lines."""

    path: Path
    form: str = TURNSTILE
