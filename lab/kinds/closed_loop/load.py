"""A closed loop: N users, each with one request under way. One run of the load generator each."""

import math
import statistics
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...workloads.load import Asked, Load
from ...workloads.outcome import Result
from ..kind import NEITHER, Figure

_MOST_OF_N = 1.03
_MOST_ERRORS = 0.01  # of all outcomes; with more, throughput is mostly that of failures

FIGURES = (Figure(name="n_check", better=NEITHER),)  # X·(R + Z) / N; Z is 0 without --think


@dataclass(frozen=True, kw_only=True)
class ClosedLoop(Load):
    """What is asked of the load generator for one point; see load.py."""

    least_of_n: ClassVar[float] = 0.97  # the least that X·R may be of N

    request: str  # new or get
    server: str  # HOST:PORT
    threads: int
    seconds: float
    warmup_s: float
    flags: tuple[str, ...] = ()  # of the stage
    user: str = ""
    password: str = ""
    size_name: str = ""
    size_bytes: int = 0  # of a file; a `new` has none
    files_per_thread: int = 0
    asks_once: bool = False  # ends the run early instead of asking for a file again

    def command_flags(self) -> list[str]:
        sent = [self.request, "--server", self.server, "--threads", str(self.threads)]
        flags = [*sent, "--seconds", f"{self.seconds:g}", "--warmup", f"{self.warmup_s:g}"]
        if self.request == "get":
            flags += ["--user", self.user, "--file", f"{self.size_name}%d.txt"]
            flags += ["--unique", str(self.files_per_thread)]
            flags += ["--once"] if self.asks_once else []
        return [*flags, *(flag for flag in self.flags if self._has_effect(flag))]

    def _has_effect(self, flag: str) -> bool:
        """Of a flag of the stage, whose rows may be of both requests."""
        return self.request == "get" or flag != "--pipeline"

    @property
    def run_s(self) -> float:
        return self.seconds + self.warmup_s

    def parse(self, raw: dict[str, Any]) -> Result:
        return Result.of(
            raw,
            requests=raw["requests"],
            elapsed_s=raw["elapsed_s"],
            throughput_rps=raw["throughput_rps"],
            bytes=raw["bytes"],
            noise=_noise(raw["per_second"][: int(raw["elapsed_s"])]),
            made_in_all=_made_in_all(raw),
        )

    def failures(self, result: Result) -> list[str]:
        found = [f"load generator: {reason}" for reason in result.invalid_because]
        if not result.requests:
            return [*found, "no request succeeded"]
        share = self._n_check(result)
        if result.is_valid and not self.least_of_n <= share <= _MOST_OF_N:
            law = "X·(R + Z)" if result.think_s else "X·R"
            found.append(f"{law} is {share:.3f} of N")
        found += self._missing_bytes(result)
        errors = result.errors_total / (result.errors_total + result.requests)
        if errors > _MOST_ERRORS:
            found.append(f"{errors:.1%} errors ({result.error_list})")
        return found

    def _n_check(self, result: Result) -> float:
        """X·(R + Z) / N. By the response time law it is 1 in a closed loop."""
        cycle_s = result.response_ms["mean"] / 1000 + result.think_s
        return result.throughput_rps * cycle_s / self.threads

    def _missing_bytes(self, result: Result) -> list[str]:
        """Requires: it has requests."""
        if not self.size_bytes or result.bytes == result.requests * self.size_bytes:
            return []
        return [f"{result.bytes} bytes are not {result.requests} requests of {self.size_bytes}"]

    def notes(self, result: Result) -> list[str]:
        if not self.asks_once or result.elapsed_s >= self.seconds:
            return []
        return [
            f"ended after {result.elapsed_s:.1f} s, when the first thread had fetched "
            f"its {self.files_per_thread} files"
        ]

    def figures(self, result: Result) -> dict[str, float | None]:
        return {"n_check": self._n_check(result)}


@dataclass(frozen=True, kw_only=True)
class Drawn(ClosedLoop):
    """All users ask for the same files, each as often as any other."""

    files: int
    seed: int  # chooses the files

    def command_flags(self) -> list[str]:
        flags = ["get", "--server", self.server, "--threads", str(self.threads)]
        flags += ["--seconds", f"{self.seconds:g}", "--warmup", f"{self.warmup_s:g}"]
        flags += ["--user", self.user, "--file", f"{self.size_name}%d.txt"]
        flags += ["--files", str(self.files), "--seed", str(self.seed)]
        return [*flags, *self.flags]


def load(asked: Asked) -> ClosedLoop:
    """A cold run has no warm-up, which would use up files and be as cold as the rest."""
    planned, threads = asked.planned, asked.setting.threads
    mode, size, is_cold = planned.mode, planned.size, planned.stage.cold
    made = ClosedLoop(
        request=planned.cell.request,
        server=asked.server,
        threads=threads,
        seconds=mode.seconds,
        warmup_s=mode.warmup_s,
        flags=planned.stage.loadgen,
    )
    if size is None:
        return made
    return replace(
        made,
        warmup_s=0 if is_cold else mode.warmup_s,
        user=asked.user,
        password=asked.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        files_per_thread=max(1, planned.file_count // threads),
        asks_once=is_cold,
    )


def _made_in_all(raw: dict[str, Any]) -> int | None:
    if raw["connection"] != "per-request" or (raw["warmup_s"] and "warmup_requests" not in raw):
        return None  # a connection has several requests, or those of the warm-up are unknown
    uncounted = raw.get("warmup_requests", 0) + raw.get("cooldown_requests", 0)
    errors = raw["errors"]
    made: int = raw["requests"] + errors["total"] - errors.get("unfinished", 0) + uncounted
    return made  # those that are unfinished were never sent


def _noise(per_second: list[dict[str, Any]]) -> float:
    """Relative standard error of the throughput per second. Requires: whole seconds."""
    rates = [float(second["requests"]) for second in per_second]
    if len(rates) < 2 or not any(rates):
        return 0.0
    return statistics.stdev(rates) / math.sqrt(len(rates)) / statistics.fmean(rates)
