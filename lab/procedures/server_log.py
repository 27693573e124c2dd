"""What the server wrote about the transfers of one trial."""

import math
import time
from collections.abc import Sequence

from rig.transfer_log import TURNSTILE, TransferLog

from ..observe import transfer_logs
from ..observe.log_formats import Served
from ..observe.moment import INTERVAL_S
from ..observe.transfer_logs import Recorded
from ..results.series import Courses
from ..workloads import transfers, uploads
from ..workloads.transfers import Transfer
from ..workloads.uploads import Upload

_PATIENCE_S = 3.0  # the server writes within a tenth of a second
_QUIET_S = 0.3


class ServerLog:
    """Made before a trial: it knows only lines that come after that. Without a log it has none."""

    def __init__(self, log: TransferLog | None):
        self._log = log
        self._begin = log.path.stat().st_size if log and log.path.exists() else 0

    @property
    def has_parts(self) -> bool:
        """Whether its lines tell which parts of a file were sent."""
        return self._log is not None and self._log.form == TURNSTILE

    def transfers(self, wanted: int) -> list[Transfer]:
        """Those of the trial, when there are as many as wanted or none has come for a while.

        Of our own server only: the logs of others do not say when a file was asked for.
        """
        if not self.has_parts or not wanted:
            return []
        lines = self._when_there_are(wanted).split(b"\n")[:-1]
        return transfers.of_server([line.decode("ascii") for line in lines])

    def recorded(self, wanted: int) -> Recorded:
        """The same of any server, as it saw them."""
        if self._log is None or not wanted:
            return Recorded([], 0)
        return transfer_logs.read(self._log.form, self._when_there_are(wanted))

    def of_file(self, size_bytes: int) -> list[Served]:
        """How the server saw a file that was fetched, in any number of parts, when they have so
        many bytes and no more is written, or when none has come for a while.

        Some clients ask for more than they take, so there may be more bytes than the file has.
        """
        if self._log is None:
            return []
        deadline, data = time.monotonic() + _PATIENCE_S, b""
        while True:
            time.sleep(_QUIET_S)
            before, data = data, self._written()
            served = transfer_logs.read(self._log.form, data).served
            is_there = data == before and sum(one.bytes for one in served) >= size_bytes
            if is_there or time.monotonic() > deadline:
                return served

    def _when_there_are(self, wanted: int) -> bytes:
        """What was written, when it has so many whole lines or is not going to."""
        deadline = time.monotonic() + _PATIENCE_S
        while (data := self._written()).count(b"\n") < wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        return data

    def _written(self) -> bytes:
        """b"" while the server has made no file."""
        assert self._log
        if not self._log.path.exists():
            return b""
        with open(self._log.path, "rb") as file:
            file.seek(self._begin)
            return file.read()


_MOST_STEPS = 2000


def both_views(
    clients: Sequence[Upload], served: Sequence[Served], start_s: float, length_s: float
) -> Courses:
    """A step is as long as that between two samples of the machine, or longer in a long run."""
    step_s = INTERVAL_S * max(1, math.ceil(length_s / INTERVAL_S / _MOST_STEPS))
    server = [
        Upload(
            start_s=one.start_s - start_s,
            end_s=one.end_s - start_s,
            bytes=one.bytes,
            is_whole=one.is_whole,
        )
        for one in served
    ]
    return Courses(
        step_s,
        uploads.over_time(clients, length_s, step_s),
        uploads.over_time(server, length_s, step_s) if server else [],
    )
