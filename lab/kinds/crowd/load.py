"""A crowd: N users on few threads, each reading slowly at its own pace. One run of loadgen each."""

from dataclasses import dataclass
from typing import Any

from ...workloads.load import Asked, Load
from ...workloads.outcome import Result, starved_share
from ..kind import LESS, MORE, Figure

ENGINES = ("epoll", "poll", "sigio", "io_uring")  # of the load generator
_MOST_OF_A_CORE = 0.9  # of the cores that the load generator may use; above, it is the limit

_ENGINES, _MAXIMA = ("crowd_engines",), ("crowd_maxima",)
FIGURES = (
    Figure(name="users_held", better=MORE),
    # Each user by its worst fetch, as a part of its rate.
    Figure(name="rate_error_p50", unit="share", better=LESS),
    Figure(
        name="rate_error_worst",
        unit="share",
        better=LESS,
        title="worst rate error",
        views=_ENGINES,
    ),
    # Of the load generator, and its cores the least and the most of its samples.
    Figure(name="wakeups_per_read", better=LESS, title="wake-ups", views=_ENGINES),
    Figure(name="signal_overflows", better=LESS, title="overflows", views=_ENGINES),
    Figure(name="loadgen_least_cores", unit="cores", better=LESS, title="least", views=_ENGINES),
    Figure(name="loadgen_most_cores", unit="cores", better=LESS, title="most", views=_ENGINES),
    # What a user adds to the servers, while the users hold.
    Figure(name="processes_each", better=LESS, title="processes each", views=_MAXIMA),
    Figure(name="threads_each", better=LESS, title="threads each", views=_MAXIMA),
    Figure(name="descriptors_each", better=LESS, title="descriptors each", views=_MAXIMA),
    Figure(
        name="proportional_bytes_each",
        unit="B",
        better=LESS,
        title="memory each",
        views=_MAXIMA,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Crowd(Load):
    """What is asked of the load generator for one trial; see load.py. All ask for one file."""

    server: str  # HOST:PORT
    threads: int  # the number of users
    user: str
    password: str
    size_name: str
    size_bytes: int
    rate_bytes_s: float
    least_rate_percent: int
    engine: str
    ramp_s: float
    stable_s: float
    flags: tuple[str, ...] = ()  # of the stage

    @property
    def run_s(self) -> float:
        """How long a run takes at least, and its first fetch."""
        return self.ramp_s + 2 * self.size_bytes / self.rate_bytes_s + 3 * self.stable_s

    def command_flags(self) -> list[str]:
        sent = ["get", "--server", self.server, "--users", str(self.threads)]
        flags = [*sent, "--user", self.user, "--file", f"{self.size_name}1.txt"]
        flags += ["--pace", f"{self.rate_bytes_s:g}", "--engine", self.engine]
        flags += ["--least-rate", str(self.least_rate_percent), "--ramp", f"{self.ramp_s:g}"]
        return [*flags, "--until-stable", f"{self.stable_s:g}", *self.flags]

    def parse(self, raw: dict[str, Any]) -> Result:
        """Its window is the time for which the number of users was stable.

        The time of a fetch follows from Little's law: loadgen does not measure it.
        """
        end_s = raw["started_unix_s"] + raw["elapsed_s"]
        fetches, elapsed_s = raw["requests"], raw["elapsed_s"]
        rate = fetches / elapsed_s
        held, cpu = raw["users"]["held"], raw["cpu"]
        return Result(
            requests=fetches,
            elapsed_s=elapsed_s,
            throughput_rps=rate,
            bytes=raw["bytes"],
            errors=dict(raw["drop_outs"]["causes"]),
            response_ms={"mean": 1000 * held / rate if rate else 0.0},
            start_s=end_s - max(raw["steady_s"], 1.0),
            end_s=end_s,
            is_valid=raw["valid"],
            invalid_because=list(raw["invalid_because"]),
            used_cores=cpu["used_cores"],
            starved_share=starved_share(raw),
            is_bottleneck=cpu["most_cores"] > _MOST_OF_A_CORE * cpu["allowed_cores"],
            raw=raw,
        )

    def failures(self, result: Result) -> list[str]:
        """Why the result says nothing about the server; [] if it does, whoever dropped out."""
        users = result.raw["users"]
        found = [f"load generator: {reason}" for reason in result.invalid_because]
        if result.raw["end"] == "signal":
            found.append("the run was stopped")
        if result.is_bottleneck and users["held"] < self.threads:
            found.append("users dropped out, and the load generator was at its limit")
        return found

    @property
    def look_after_s(self) -> float | None:
        """A user has all that it needs once it has begun, so in the middle of the wait."""
        return self.ramp_s + self.stable_s / 2

    def without_server(self) -> dict[str, float] | None:
        """There was no room for so many users."""
        return {"users_held": 0.0}

    def can_be_spoiled(self, result: Result) -> bool:
        """Users that hold in spite of other programs hold."""
        return bool(result.raw["users"]["held"] < self.threads)

    def figures(self, result: Result) -> dict[str, float | None]:
        raw = result.raw
        return {
            "users_held": raw["users"]["held"],
            "rate_error_p50": raw["rate_error"]["p50"],
            "rate_error_worst": raw["rate_error"]["worst"],
            "wakeups_per_read": raw["wakeups"]["per_useful_read"],
            "signal_overflows": raw["wakeups"]["signal_overflows"],
            "loadgen_least_cores": raw["cpu"]["least_cores"],
            "loadgen_most_cores": raw["cpu"]["most_cores"],
        }


def load(asked: Asked) -> Crowd:
    """Users are started no faster than they could log in: what is searched is how many hold."""
    stage, trial, size = asked.planned.stage, asked.planned.mode.crowd, asked.planned.size
    how = stage.crowd
    assert how and trial and size  # see plan/options.py
    return Crowd(
        server=asked.server,
        threads=asked.setting.threads,
        user=asked.user,
        password=asked.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        rate_bytes_s=how.rate_bytes_s,
        least_rate_percent=how.least_rate_percent,
        engine=how.engine,
        ramp_s=max(1.0, asked.setting.threads / trial.starts_per_s),
        stable_s=trial.stable_s,
        flags=stage.loadgen,
    )
