"""How long the way from the load generator to the servers and back takes while a load runs.

A program beside the load generator sends ten small datagrams a second, and a thread of the lab
beside the servers answers them. What of a response time is not the way can be blamed on a server.
"""

from __future__ import annotations

import math
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from rig.errors import Failed
from rig.place import Place

from ..kinds.kind import measured
from .moment import Sample

_MS_PER_S = 1000
_TIMEOUT_S = 10.0
_LOST_AFTER_S = 2.0  # beyond the longest time that a link of ours can take
_GOES_ON, _ENDS = b"+", b"."
# Sends, and prints for each datagram when it was sent and how long its answer took, or "-" if it is
# lost. It ends when an answer says so and all others have come or are lost. Where none has come at
# all, it ends as soon as the first one is lost.
_PROBE = """
import socket, struct, sys, time
EVERY_S, LOST_AFTER_S = 0.1, float(sys.argv[3])
way = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
way.connect((sys.argv[1], int(sys.argv[2])))
sent, took, is_over, number = [], {}, False, 0
due = time.monotonic()
while True:
    now = time.monotonic()
    if is_over and (len(took) == number or now - sent[-1][1] > LOST_AFTER_S):
        break
    if sent and not took and now - sent[0][1] > LOST_AFTER_S:
        break
    if not is_over and now >= due:
        sent.append((time.time(), time.monotonic()))
        try:
            way.send(struct.pack("!Q56x", number))
        except OSError:
            pass
        number += 1
        due = max(due + EVERY_S, now)
    way.settimeout(max(0.001, (now + EVERY_S if is_over else due) - time.monotonic()))
    try:
        answer = way.recv(64)
    except OSError:
        continue
    came = time.monotonic()
    of = struct.unpack("!Q", answer[1:9])[0]
    if came - sent[of][1] <= LOST_AFTER_S:
        took.setdefault(of, came - sent[of][1])
    is_over = is_over or answer[:1] == b"."
for of, (at, _) in enumerate(sent):
    print(f"{at:.6f} {took[of]:.6f}" if of in took else f"{at:.6f} -")
"""


@dataclass(frozen=True)
class RoundTrip:
    sent_s: float  # wall clock, ours
    took_ms: float | None  # None: it was lost


class RoundTrips:
    """Asks while the block is active. found() is empty where no probe can run, for want of Python
    on another host for example.
    """

    def __init__(self, place: Place, logs: Path):
        self._place = place
        self._log = logs / "round-trips.log"
        self._lost_after_s = place.longest_s + _LOST_AFTER_S
        self._answer = _GOES_ON
        self._is_closed = Event()
        self._found: list[RoundTrip] = []

    def __enter__(self) -> RoundTrips:
        self._ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._ours.bind((self._place.host, 0))
        self._ours.settimeout(0.1)
        self._thread = Thread(target=self._echo, name="round trips")
        self._thread.start()
        host, port = self._ours.getsockname()
        command = ["python3", "-I", "-S", "-c", _PROBE, host, str(port), f"{self._lost_after_s}"]
        self._probe = self._place.start("round trips", command, self._log)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._answer = _ENDS
        try:
            if kind is None:
                with suppress(Failed):
                    _, said = self._probe.wait_for_output(self._lost_after_s + _TIMEOUT_S)
                    self._found = _read(said, self._place.clock_ahead_s)
        finally:
            self._probe.stop()
            self._is_closed.set()
            self._thread.join()
            self._ours.close()

    def helpers(self) -> list[int]:
        """Processes of ours on this machine, beside the lab itself."""
        return [self._probe.pid] if self._place.is_here else []

    def found(self) -> list[RoundTrip]:
        """In the order of time. Requires: the block was left."""
        return self._found

    def _echo(self) -> None:
        while not self._is_closed.is_set():
            with suppress(TimeoutError, ConnectionError):
                data, sender = self._ours.recvfrom(64)
                self._ours.sendto(self._answer + data[:63], sender)


def _read(said: str, ahead_s: float) -> list[RoundTrip]:
    lines = (line.split() for line in said.splitlines())
    return [
        RoundTrip(float(at) - ahead_s, None if took == "-" else _MS_PER_S * float(took))
        for at, took in lines
    ]


def figures(trips: list[RoundTrip], window: list[Sample]) -> dict[str, float]:
    """Of those that were sent within the window; {} without one.

    The p50 is that of the middle half of the window, as queues fill at its start and empty at its
    end. A probe that never got an answer has ended early, and has lost all.
    """
    if trips and all(one.took_ms is None for one in trips):
        return {"rtt_lost": 1.0}
    start_s, end_s = window[0].time_s, window[-1].time_s
    inside = [one for one in trips if start_s < one.sent_s <= end_s]
    if not inside:
        return {}
    quarter_s = (end_s - start_s) / 4
    middle = [one for one in inside if start_s + quarter_s < one.sent_s <= end_s - quarter_s]
    came = _times_ms(inside)
    return measured(
        {
            "rtt_p50_ms": _p50(_times_ms(middle) or came),
            "rtt_max_ms": came[-1] if came else None,
            "rtt_lost": (len(inside) - len(came)) / len(inside),
        }
    )


def _times_ms(trips: list[RoundTrip]) -> list[float]:
    """In the order of size; those that are lost have none."""
    return sorted(one.took_ms for one in trips if one.took_ms is not None)


def _p50(sorted_ms: list[float]) -> float | None:
    return sorted_ms[math.ceil(len(sorted_ms) / 2) - 1] if sorted_ms else None
