"""What the server wrote about the transfers of one trial."""

from __future__ import annotations

import time
from pathlib import Path

from ..workloads import transfers
from ..workloads.transfers import Transfer

_PATIENCE_S = 3.0  # the server writes within a tenth of a second


class ServerLog:
    """Made before a trial: it knows only lines that come after that. Without a path it has none."""

    def __init__(self, path: Path | None):
        self._path = path
        self._begin = path.stat().st_size if path and path.exists() else 0

    def transfers(self, wanted: int) -> list[Transfer]:
        """Those of the trial, when there are as many as wanted or none has come for a while."""
        if self._path is None or not wanted:
            return []
        deadline = time.monotonic() + _PATIENCE_S
        while len(lines := self._lines()) < wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        return transfers.of_server(lines)

    def _lines(self) -> list[str]:
        """Whole ones."""
        assert self._path
        with open(self._path, encoding="ascii") as file:
            file.seek(self._begin)
            return [line for line in file if line.endswith("\n")]
