"""Runs the load generator once and reads its result."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from . import intervals
from .errors import Failed
from .processes import Program

_GRACE_S = 90  # beyond the time a run should take: its slowest request, and writing the result


@dataclass(frozen=True)
class Load:
    """What is asked of the load generator for one point."""

    request: str  # new or get
    server: str  # HOST:PORT
    threads: int
    seconds: float
    warmup_s: float
    flags: tuple[str, ...] = ()  # of the stage
    user: str = ""
    password: str = ""
    size_name: str = ""
    files_per_thread: int = 0
    asks_once: bool = False  # the run ends early rather than to ask for a file again

    def command(self, program: Path) -> list[str]:
        command = [
            str(program),
            self.request,
            "--server",
            self.server,
            "--threads",
            str(self.threads),
            "--seconds",
            f"{self.seconds:g}",
            "--warmup",
            f"{self.warmup_s:g}",
        ]
        if self.request == "get":
            command += [
                "--user",
                self.user,
                "--file",
                f"{self.size_name}%d.txt",
                "--unique",
                str(self.files_per_thread),
                *(["--once"] if self.asks_once else []),
            ]
        return [*command, *self.flags, "--json", "-"]


@dataclass(frozen=True)
class Result:
    """The load generator's own words; times as it measured them."""

    requests: int
    elapsed_s: float
    throughput_rps: float
    bytes: int
    errors: dict[str, int]
    response_ms: dict[str, float]
    phases_ms: dict[str, float]
    n_check: float
    is_valid: bool
    invalid_because: list[str]
    start_s: float
    end_s: float
    used_cores: float
    is_bottleneck: bool
    noise: float
    made_in_all: int | None  # warm-up and errors included; None if it does not say
    raw: dict = field(repr=False)

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())


def start(load: Load, program: Path, cores: tuple[int, ...], log_path: Path) -> Program:
    """The password goes by the environment: a command line is for everyone to see."""
    return Program(
        "loadgen", load.command(program), cores, log_path, {"LOADGEN_PASSWORD": load.password}
    )


def finish(program: Program, load: Load) -> Result:
    """Waits for the end of the run. Failed when it ends without a result."""
    _, output = program.finish(load.seconds + load.warmup_s + _GRACE_S)
    try:
        return parse(json.loads(output))
    except (ValueError, KeyError) as error:
        raise Failed(f"loadgen gave no result ({error}): {program.last_words()}") from error


def parse(raw: dict) -> Result:
    """KeyError where a field of the contract is missing."""
    errors = {cause: count for cause, count in raw["errors"].items() if cause != "total" and count}
    return Result(
        raw["requests"],
        raw["elapsed_s"],
        raw["throughput_rps"],
        raw["bytes"],
        errors,
        raw["response_time_ms"],
        raw.get("phases_ms", {}),
        raw["n_check"],
        raw["valid"],
        list(raw["invalid_because"]),
        raw["window"]["start_unix_s"],
        raw["window"]["end_unix_s"],
        raw["cpu"]["used_cores"],
        raw["cpu"]["is_bottleneck"],
        _noise(raw["per_second"]),
        _made_in_all(raw),
        raw,
    )


def _made_in_all(raw: dict) -> int | None:
    if raw["connection"] != "per-request" or (raw["warmup_s"] and "warmup_requests" not in raw):
        return None  # then requests are not connections, or not all of them are known
    return raw["requests"] + raw["errors"]["total"] + raw.get("warmup_requests", 0)


def _noise(per_second: list[dict]) -> float:
    """Relative standard error of the throughput, from its seconds; the last one is not whole."""
    rates = [float(second["requests"]) for second in per_second[:-1]]
    if len(rates) < 2 or not any(rates):
        return 0.0
    return intervals.standard_error(rates) / statistics.fmean(rates)
