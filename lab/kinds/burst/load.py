"""A burst: N transfers that are asked for in the same moment. One round in one run of loadgen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...workloads import transfers
from ...workloads.load import Asked, Load
from ...workloads.outcome import Result
from ...workloads.transfers import Transfer
from ..kind import LESS, MORE, NEITHER, Figure

SHORTEST_WATCHED_S = 0.5  # samples are too far apart to say anything of a shorter one
_SLOWEST_BYTES_S = 50_000.0  # for an estimate of how long a run takes

_VIEWS = ("bursts",)
FIGURES = (
    Figure(name="rate_bytes_s", unit="B/s", better=MORE),  # all bytes over the span of the burst
    # 1: all transfers took place at the same time.
    Figure(name="simultaneity", better=MORE, title="overlap", views=_VIEWS),
    Figure(name="release_spread_ms", unit="ms", better=LESS),
    Figure(name="first_byte_ms", unit="ms", better=LESS, title="first byte", views=_VIEWS),
    Figure(name="server_rate_bytes_s", unit="B/s", better=MORE),  # the same by the server's own log
    # Of the single transfers.
    Figure(name="slowest_bytes_s", unit="B/s", better=MORE, title="slowest", views=_VIEWS),
    # Jain's index of their rates: 1 if all are alike.
    Figure(name="fairness", better=MORE, title="fairness", views=_VIEWS),
    # The part of its files that was in the page cache before.
    Figure(name="resident_before", unit="share", better=NEITHER, title="cached", views=_VIEWS),
)


@dataclass(frozen=True, kw_only=True)
class Burst(Load):
    """What is asked of the load generator for one trial; see load.py."""

    server: str  # HOST:PORT
    threads: int  # the number of transfers
    user: str
    password: str
    size_name: str
    size_bytes: int
    same_file: bool  # all transfers are of one file; else each has its own
    flags: tuple[str, ...] = ()  # of the stage
    hold: Path | None = None  # the control group of the server, which is held while all ask
    record: Path | None = None  # where loadgen writes a line for each transfer

    @property
    def run_s(self) -> float:
        return self.threads * self.size_bytes / _SLOWEST_BYTES_S

    def command_flags(self) -> list[str]:
        sent = ["get", "--server", self.server, "--threads", str(self.threads)]
        flags = [*sent, "--user", self.user, "--release", "transfer", "--requests", "1"]
        if self.hold:
            flags += ["--hold", str(self.hold)]
        if self.record:
            flags += ["--transfers", str(self.record)]
        if self.same_file:
            return [*flags, "--file", f"{self.size_name}1.txt", *self.flags]
        return [*flags, "--file", f"{self.size_name}%d.txt", "--unique", "1", *self.flags]

    def parse(self, raw: dict[str, Any]) -> Result:
        """Its window is the span of the burst, and its rate is that of the span."""
        burst = raw["burst"]
        span_s = burst["span_s"]
        return Result.of(
            raw,
            requests=burst["transfers"],
            elapsed_s=span_s,
            throughput_rps=burst["transfers"] / span_s if span_s else 0.0,
            bytes=burst["bytes"],
        )

    def failures(self, result: Result) -> list[str]:
        """Whether every transfer of the burst took place; how far they overlap is a figure."""
        found = [f"load generator: {reason}" for reason in result.invalid_because]
        if result.requests != self.threads:
            found.append(f"{result.requests} of {self.threads} transfers ({result.error_list})")
        elif result.bytes != self.threads * self.size_bytes:
            found.append(
                f"{result.bytes} bytes are not {self.threads} transfers of {self.size_bytes}"
            )
        return found

    def can_be_spoiled(self, result: Result) -> bool:
        return result.elapsed_s >= SHORTEST_WATCHED_S

    def file_names(self) -> list[str]:
        last = 1 if self.same_file else self.threads
        return [f"{self.size_name}{number}.txt" for number in range(1, last + 1)]

    def transfers(self) -> list[Transfer]:
        return transfers.of_client(self.record) if self.record else []

    def figures(self, result: Result) -> dict[str, float | None]:
        burst = result.raw["burst"]
        return {
            "rate_bytes_s": burst["rate_bytes_s"],
            "simultaneity": burst["simultaneity"],
            "release_spread_ms": burst["release_spread_ms"],
            "first_byte_ms": burst["first_byte_ms"],
        }


def load(asked: Asked) -> Burst:
    size, stage = asked.planned.size, asked.planned.stage
    assert size  # a burst is of files
    return Burst(
        server=asked.server,
        threads=asked.setting.threads,
        user=asked.user,
        password=asked.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        same_file=stage.same_file,
        hold=asked.hold,
        record=asked.record,
        flags=stage.loadgen,
    )
