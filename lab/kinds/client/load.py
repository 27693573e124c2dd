"""Downloads of one file by a program that people use: curl, aria2, lftp and others.

A run is one attempt: one program gets one file over a number of channels, which is N of this
workload. The program is started at the place of the load generator, see systems/clients.

What it says itself is not used. Times are those of the lab's clock, from the start of the process
to its end, so that log-in and start-up count. How many bytes were sent is in the log of the server.
When the last one was sent is not: for the log, it is when the kernel took it. A program that can
throw away what it gets does so, and the attempt has succeeded if the parts in the log make up the
file. Others write to memory, and what they wrote is compared with the file. Parts that a program
leaves in files of their own are not put together within the time.

An attempt that fails is an answer: it counts as one of the attempts of its point, and no rate is
made of it. So a mean of rates is one of those that succeeded; see kinds/client/analysis.py.

The round trip beside a download is foretold by the windows of its channels: each has a whole window
under way. What the link itself does not hold waits in its queue.
"""

from dataclasses import dataclass
from typing import Any

from rig.link import InForce, Link
from rig.login import Login

from ...plan.from_json import from_json
from ...workloads.load import Asked, Load
from ...workloads.outcome import Result
from ..burst.load import SHORTEST_WATCHED_S
from ..kind import LESS, MORE, NEITHER, Figure

FAILED = "the fetch failed"  # how the failure of such an attempt begins
_SAME_WINDOW = 1.25  # segments; behind a loss the kernel offers about one more
_BITS, _MS_PER_S, _BYTES_PER_GB = 8, 1000, 1e9
_USUAL_BYTES_S = 50e6  # where no link has a rate
# Beyond the time that a fetch should take, by the rate of the link, and by what windows allow.
_PATIENCE_S, _TIMES_OF_RATE, _TIMES_OF_WINDOWS = 60.0, 20.0, 4.0

FIGURES = (
    Figure(name="channels", better=NEITHER),  # that the program was told to use
    Figure(name="channels_seen", better=NEITHER),  # connections with data at once, at most
    Figure(name="cpu_s_per_gb", unit="s/GB", better=LESS),  # of the program, as the kernel says
    # As our load generator says: of one file, at most, while earlier bytes were missing.
    Figure(name="reorder_bytes_max", unit="B", better=LESS),
    Figure(name="succeeded", better=MORE),  # 1, or 0: the mean over attempts is a share
    # Of the rate of the process, which is rate_bytes_s.
    Figure(name="share_of_nominal", unit="share", better=MORE),
    Figure(name="share_of_probed", unit="share", better=MORE),
    # In force, as the kernel of the server says.
    Figure(name="window_bytes", unit="B", better=NEITHER),
    Figure(name="mss_bytes", unit="B", better=NEITHER),
    Figure(name="mtu_bytes", unit="B", better=NEITHER),
    Figure(name="kernel_bytes", unit="B", better=LESS),
    Figure(name="retransmitted", unit="share", better=LESS),
    Figure(name="rtt_predicted_ms", unit="ms", better=NEITHER),
    Figure(name="rtt_at_most_ms", unit="ms", better=NEITHER),  # where it is less than foretold
    # Of a program that is killed and started again.
    Figure(name="kills", better=NEITHER),
    Figure(name="true_prefixes", unit="share", better=MORE),  # of the files that it left
    # What was asked for although it had it, by the size of the file.
    Figure(name="fetched_again", unit="share", better=LESS),
)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What is known of one fetch once it has ended. Times are those of our clock."""

    start_s: float
    end_s: float
    failure: str  # why it did not succeed; "" if it did
    sent_bytes: int  # by the log of the server
    seen: InForce
    sent_segments: int  # of TCP, by the server
    retransmitted_segments: int
    cpu_s: float  # of the program, with all that it waited for
    reorder_bytes_max: int | None = None  # None if it does not say
    kills: int = 0  # while it ran
    true_prefixes: int = 0  # after how many of them the file that was left was a beginning
    again_bytes: int | None = None  # that it had when it was killed; None if the log cannot tell

    @property
    def elapsed_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True, kw_only=True)
class FetchLoad(Load):
    """One attempt; see load.py."""

    threads: int  # the channels
    server: str  # HOST:PORT
    user: str
    password: str
    protocol: str
    name: str
    size_bytes: int
    link: Link | None = None  # the way to the client, if it is one of ours
    probed_bytes_s: float | None = None  # what the way carried without our programs
    congestion: str = ""  # that was asked for; "": any will do
    window_bytes: int = 0  # that was asked for; 0: any will do
    receiver: Login | None = None  # to which the file is copied; None: to the client
    receiver_name: str = ""  # under which it takes the file
    flags: tuple[str, ...] = ()  # of our load generator
    is_saved: bool = False  # the program is not to throw away what it gets
    stuck_s: float = 0.0  # of a connection; see plan/users.py
    stuck_after_s: float = 0.0
    kills: int = 0

    @property
    def needs_stall(self) -> bool:
        return self.stuck_s > 0

    def command_flags(self) -> list[str]:
        """None: its program is another one, see kinds/client/fetching.py."""
        return []

    @property
    def run_s(self) -> float:
        """As fast as the link and the windows of all channels let it be."""
        return max(self._rate_s, self._windows_s)

    @property
    def timeout_s(self) -> float:
        return _PATIENCE_S + max(_TIMES_OF_RATE * self._rate_s, _TIMES_OF_WINDOWS * self._windows_s)

    @property
    def _rate_s(self) -> float:
        has_rate = self.link and self.link.rate
        rate = self.link.bits_per_s / _BITS if self.link and has_rate else _USUAL_BYTES_S
        return self.size_bytes / rate

    @property
    def _windows_s(self) -> float:
        """Each channel brings a window in a round trip; 0.0 where none limits it."""
        if not (self.window_bytes and self.link):
            return 0.0
        round_trips = self.size_bytes / (self.threads * self.window_bytes)
        return round_trips * self.link.delay_ms / _MS_PER_S

    def parse(self, raw: dict[str, Any]) -> Result:
        """raw is an attempt, as asdict() gives it, and may have more."""
        attempt = from_json(Attempt, raw)
        failed, seconds = bool(attempt.failure), attempt.elapsed_s
        return Result(
            requests=0 if failed else 1,
            elapsed_s=seconds,
            throughput_rps=0.0 if failed else 1 / seconds,
            bytes=attempt.sent_bytes,
            errors={"failed": 1} if failed else {},
            response_ms=dict.fromkeys(("mean", "p50", "p90", "p99", "max"), 1000 * seconds),
            start_s=attempt.start_s,
            end_s=attempt.end_s,
            used_cores=0.0,
            is_bottleneck=False,
            raw=raw,
        )

    def failures(self, result: Result) -> list[str]:
        attempt = from_json(Attempt, result.raw)
        why = attempt.failure.replace("; ", ", ")  # which divides the failures of a run
        found = [f"{FAILED}: {why}"] if why else []
        used = attempt.seen.congestion
        if self.congestion and used not in ("", self.congestion):
            found.append(f"the connections used {used}, not {self.congestion}")
        return found

    def notes(self, result: Result) -> list[str]:
        """That the window in force is another one by clearly more than a segment.

        What the kernel makes of a buffer is its own affair: see rig/link.py.
        """
        seen = from_json(Attempt, result.raw).seen
        if not self.window_bytes or self.receiver or seen.window_bytes is None:
            return []
        if abs(seen.window_bytes - self.window_bytes) <= _SAME_WINDOW * (seen.mss_bytes or 0):
            return []
        return [f"the window in force was of {seen.window_bytes} bytes, not of {self.window_bytes}"]

    def can_be_spoiled(self, result: Result) -> bool:
        return result.elapsed_s >= SHORTEST_WATCHED_S

    def figures(self, result: Result) -> dict[str, float | None]:
        attempt = from_json(Attempt, result.raw)
        seen, rate = attempt.seen, None if attempt.failure else self.size_bytes / attempt.elapsed_s
        lost = _share(attempt.retransmitted_segments, attempt.sent_segments)
        way = None if self.receiver else self.link
        trip = round_trip(way, seen, self.threads, lost or 0.0)
        return {
            "channels": self.threads,
            "channels_seen": seen.at_once or None,
            "cpu_s_per_gb": None
            if attempt.failure
            else _BYTES_PER_GB * attempt.cpu_s / self.size_bytes,
            "reorder_bytes_max": attempt.reorder_bytes_max,
            "succeeded": 0.0 if attempt.failure else 1.0,
            "rate_bytes_s": rate,
            "share_of_nominal": _share(rate, self._nominal_bytes_s),
            "share_of_probed": _share(rate, None if self.receiver else self.probed_bytes_s),
            "window_bytes": seen.window_bytes,
            "mss_bytes": seen.mss_bytes,
            "mtu_bytes": seen.mtu_bytes,
            "kernel_bytes": seen.kernel_bytes,
            "retransmitted": lost,
            "rtt_predicted_ms": trip.ms,
            "rtt_at_most_ms": trip.at_most_ms,
            **self._of_kills(attempt),
        }

    def _of_kills(self, attempt: Attempt) -> dict[str, float | None]:
        """{} where none was asked for."""
        if not self.kills:
            return {}
        return {
            "kills": attempt.kills,
            "true_prefixes": _share(attempt.true_prefixes, attempt.kills),
            "fetched_again": None
            if attempt.failure
            else _share(attempt.again_bytes, self.size_bytes),
        }

    @property
    def _nominal_bytes_s(self) -> float | None:
        """None where a file goes from server to server, perhaps not over the link."""
        if self.receiver or not self.link or not self.link.rate:
            return None
        return self.link.bits_per_s / _BITS


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def load(asked: Asked) -> FetchLoad:
    planned, tcp = asked.planned, asked.planned.stage.tcp
    assert planned.size  # see plan/options.py
    how = planned.stage.download
    assert how
    return FetchLoad(
        threads=asked.setting.threads,
        server=asked.server,
        user=asked.user,
        password=asked.password,
        protocol=how.protocol,
        name=f"{planned.size.name}1.txt",
        size_bytes=planned.size.size_bytes,
        link=asked.link,
        probed_bytes_s=asked.probed_bytes_s,
        congestion=tcp.congestion_over(asked.link) if asked.link else tcp.congestion,
        receiver=asked.receiver,
        window_bytes=tcp.window_bytes,
        flags=planned.stage.loadgen,
        is_saved=how.is_saved,
        stuck_s=how.stuck_s,
        stuck_after_s=how.stuck_after_s,
        kills=how.kills,
        receiver_name=asked.upload_name if asked.receiver else "",
    )


_USUAL_HEADERS = 52  # of TCP and IP, with time stamps
_FEW = 0.005  # as a share: so few segments may be sent again, as at the end of a connection


@dataclass(frozen=True)
class RoundTrip:
    """It has one of both, or neither where the link has no delay or the window is not known."""

    ms: float | None = None
    at_most_ms: float | None = None  # where windows are not whole all the time


def round_trip(link: Link | None, seen: InForce, channels: int, lost: float) -> RoundTrip:
    """lost is the share of the segments that were sent again.

    Where the queue overflows, or where segments are lost, senders make their windows smaller.
    """
    if not link or not link.delay_ms or not seen.window_bytes or not seen.mss_bytes:
        return RoundTrip()
    filled_ms = min(channels, seen.at_once) * _packets_bytes(seen) * _ms_per_byte(link)
    most_ms = link.delay_ms + link.queue_bytes * _ms_per_byte(link)
    found_ms = max(link.delay_ms, min(filled_ms, most_ms))
    if filled_ms > most_ms or lost > _FEW:
        return RoundTrip(at_most_ms=found_ms)
    return RoundTrip(ms=found_ms)


def _packets_bytes(seen: InForce) -> int:
    """Of a whole window. A sender fills what is left of it with a short packet."""
    assert seen.window_bytes and seen.mss_bytes  # see above
    headers = seen.mtu_bytes - seen.mss_bytes if seen.mtu_bytes else _USUAL_HEADERS
    return seen.window_bytes + headers * -(-seen.window_bytes // seen.mss_bytes)


def _ms_per_byte(link: Link) -> float:
    return _BITS * _MS_PER_S / link.bits_per_s
