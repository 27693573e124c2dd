"""Clients that come one by one, from many hosts, and upload for a fixed life.

A load generator runs on each host, with a share of the clients. What they recorded of each upload
is put together here: no rate is a sum of rates, no mean one of means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...workloads import uploads
from ...workloads.load import Asked, Load
from ...workloads.outcome import Result
from ...workloads.uploads import Stretch, Upload
from ..kind import LESS, MORE, NEITHER, Figure
from . import Ramp
from .gathered import Gathered, groups_between, upload_of

_VIEWS = ("ramp",)
_MOST_ERRORS = 0.01  # of all outcomes
_LEAST_LEFT = 2 / 3  # of the testers, and of the clients
_LEAST_OF_N = 0.97  # of the clients' time on the plateau must be in uploads
_MOST_LATE_MS = 50.0  # of a tester's start
_OF_THE_LINKS = 0.1  # of the cores
_OF_END = ("uploads_borne", "first_failed_s")

FIGURES = (
    Figure(name="testers", better=NEITHER),
    Figure(name="testers_lost", better=LESS),
    Figure(name="last_loss_s", unit="s", better=NEITHER),
    Figure(name="start_spread_ms", unit="ms", better=LESS),  # from the first tester to the last
    Figure(name="clock_error_ms", unit="ms", better=LESS),  # the most, of other hosts
    # Of the plateau: when all clients are there. After a loss, all of the testers that are left; it
    # begins when no upload is under way that was so at the loss.
    Figure(name="plateau_from_s", unit="s", better=NEITHER),
    Figure(name="plateau_s", unit="s", better=NEITHER),
    Figure(name="plateau_bytes_s", unit="B/s", better=MORE, title="plateau", views=_VIEWS),
    Figure(name="plateau_mean_ms", unit="ms", better=LESS),
    Figure(name="plateau_check", better=NEITHER),  # the part of the clients' time in uploads
    # Of one that goes on until the server's memory ends, or at whose limit the kernel ended some of
    # it earlier.
    Figure(name="memory_limit_bytes", unit="B", better=NEITHER),
    Figure(name="uploads_borne", better=MORE),  # the most under way until the first one failed
    Figure(name="first_failed_s", unit="s", better=MORE),
)


@dataclass(frozen=True, kw_only=True)
class RampLoad(Load):
    """See load.py. The flags are those of the whole load; each host has a share of it."""

    threads: int  # all clients
    server: str
    user: str
    password: str
    ramp: Ramp
    memory_bytes: int | None = None  # that the servers may use; None: all of this host
    upload_name: str = ""
    flags: tuple[str, ...] = ()

    def command_flags(self) -> list[str]:
        ramp = self.ramp
        flags = ["put", "--server", self.server, "--user", self.user]
        flags += ["--threads", str(self.threads), "--size", str(ramp.file_bytes)]
        flags += ["--ramp", f"{ramp.every_s * self.threads:g}", "--life", f"{ramp.life_s:g}"]
        flags += ["--file", self.upload_name] if self.upload_name else []
        return [*flags, *self.flags]

    @property
    def run_s(self) -> float:
        return self.ramp.length_s

    @property
    def needs_memory(self) -> bool:
        return True

    @property
    def kernels_share(self) -> float:
        """Hosts on this machine have a switch, and links with a rate."""
        return _OF_THE_LINKS

    def parse(self, raw: dict[str, Any]) -> Result:
        """The merged result of the testers that are left, with what together() added."""
        return Result.of(
            raw,
            requests=raw["requests"],
            elapsed_s=self.ramp.length_s,
            throughput_rps=raw["requests"] / self.ramp.length_s,
            bytes=raw["bytes"],
        )

    def failures(self, result: Result) -> list[str]:
        raw = result.raw["ramp"]
        found = self._failures_of_testers(raw)
        if not result.requests:
            return [*found, "no upload succeeded"]
        must_hold = not self.ramp.until_it_ends
        if raw["gave_up"] and must_hold:
            found.append(f"no upload of {raw['gave_up'][0]} succeeded")
        errors = result.errors_total / (result.errors_total + result.requests)
        if errors > _MOST_ERRORS and must_hold:
            found.append(f"{errors:.1%} errors ({result.error_list})")
        expected = result.requests * self.ramp.file_bytes
        if result.bytes != expected:
            found.append(f"{result.bytes} bytes are not {result.requests} uploads")
        check = raw["plateau_check"]
        if check is not None and check < _LEAST_OF_N and must_hold:
            found.append(f"on the plateau the clients spent {check:.1%} of their time in uploads")
        return found

    def _failures_of_testers(self, raw: dict[str, Any]) -> list[str]:
        found = []
        lost, started = len(raw["lost"]), raw["testers"]
        if 1 - lost / started < _LEAST_LEFT:
            found.append(f"{lost} of {started} testers were lost: {raw['lost'][0]}")
        if raw["most_late_ms"] > _MOST_LATE_MS:
            found.append(f"a tester began {raw['most_late_ms']:.0f} ms late")
        return found

    def without_server(self) -> dict[str, float] | None:
        """That it ends is what some ramps ask for."""
        return {} if self.ramp.until_it_ends else None

    def at_its_limit(self) -> RampLoad:
        return replace(self, ramp=replace(self.ramp, until_it_ends=True))

    def notes(self, result: Result) -> list[str]:
        raw = result.raw["ramp"]
        lost = len(raw["lost"])
        return [f"{lost} of {raw['testers']} testers were lost"] if lost else []

    def figures(self, result: Result) -> dict[str, float | None]:
        raw = result.raw["ramp"]
        return {
            "testers": raw["testers"],
            "testers_lost": len(raw["lost"]),
            "memory_limit_bytes": self.memory_bytes,
            **{name: raw[name] if self.ramp.until_it_ends else None for name in _OF_END},
            **{
                name: raw[name]
                for name in (
                    "last_loss_s",
                    *("start_spread_ms", "clock_error_ms", "plateau_s", "plateau_bytes_s"),
                    *("plateau_mean_ms", "plateau_check", "plateau_from_s"),
                )
            },
        }


def uploads_of(gathered: Gathered) -> list[Upload]:
    """Those of the testers that are left."""
    lost = {one.tester for one in gathered.lost}
    left = (one for one in gathered.transfers if one.tester not in lost)
    return [upload for one in left if (upload := upload_of(one))]


def together(gathered: Gathered, seen: Sequence[Upload], ramp: Ramp) -> dict[str, Any]:
    """What is added to the merged result, under "ramp"."""
    late_ms = list(gathered.start_late_ms.values())
    errors_s = [one.error_s for one in gathered.clocks]
    loss_s = gathered.last_loss_s
    from_s, to_s = ramp.plateau_s
    from_s = max(from_s, loss_s or 0.0, _last_end_s(seen, loss_s))
    return {
        "testers": gathered.testers,
        "lost": [f"{one.tester}: {one.why}" for one in gathered.lost],
        "gave_up": gathered.gave_up,
        "start_spread_ms": max(late_ms) - min(late_ms),
        "most_late_ms": max(late_ms),
        "clock_error_ms": 1000 * max(errors_s) if errors_s else None,
        "last_loss_s": loss_s,
        "plateau_from_s": from_s,
        **_of_plateau(uploads.between(seen, from_s, to_s), gathered.raw["threads"]),
        **_of_end(seen),
        "groups": {
            name: asdict(group) for name, group in groups_between(gathered, from_s, to_s).items()
        },
    }


def _of_end(seen: Sequence[Upload]) -> dict[str, float | None]:
    failed_s = min((one.end_s for one in seen if not one.is_whole), default=math.inf)
    return {
        "uploads_borne": uploads.most_under_way(seen, failed_s),
        "first_failed_s": failed_s if failed_s < math.inf else None,
    }


def _last_end_s(seen: Sequence[Upload], loss_s: float | None) -> float:
    """Of the uploads that were under way at the loss: they had to share links with the lost ones.
    0 without any.
    """
    if loss_s is None:
        return 0.0
    return max((one.end_s for one in seen if one.start_s < loss_s < one.end_s), default=0.0)


def _of_plateau(plateau: Stretch | None, clients: int) -> dict[str, float | None]:
    if plateau is None or not clients:
        return dict.fromkeys(
            ("plateau_s", "plateau_bytes_s", "plateau_mean_ms", "plateau_check"), None
        )
    return {
        "plateau_s": plateau.seconds,
        "plateau_bytes_s": plateau.bytes_per_s,
        "plateau_mean_ms": None if plateau.mean_s is None else 1000 * plateau.mean_s,
        "plateau_check": plateau.check(clients),
    }


def load(asked: Asked) -> RampLoad:
    ramp, machine = asked.planned.ramp, asked.planned.stage.machine
    assert ramp  # see plan/plan.py
    return RampLoad(
        threads=asked.setting.threads,
        server=asked.server,
        user=asked.user,
        password=asked.password,
        ramp=ramp,
        memory_bytes=machine.memory_bytes if machine else None,
        upload_name=asked.upload_name,
        flags=asked.planned.stage.loadgen,
    )
