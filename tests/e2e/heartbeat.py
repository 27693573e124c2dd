"""How long this machine has stood still, by a thread that should do a little every 20 ms."""

import os
import threading
import time
from pathlib import Path

_BEAT_S = 0.02


class Heartbeat:
    """It writes to the disk too, because the server waits for that as well."""

    def __init__(self, beside: Path) -> None:
        self._path = beside / "heartbeat"
        self.worst_s = 0.0

    def live(self, is_over: threading.Event) -> None:
        with self._path.open("wb", buffering=0) as file:
            while True:
                begun = time.monotonic()
                if is_over.wait(_BEAT_S):
                    return
                os.pwrite(file.fileno(), b"x" * 4096, 0)
                os.fsync(file.fileno())
                self.worst_s = max(self.worst_s, time.monotonic() - begun - _BEAT_S)

    def lag_s(self, promised_s: float) -> float:
        """How late something may be on such a machine that is promised within this time."""
        return promised_s + 10 * self.worst_s
