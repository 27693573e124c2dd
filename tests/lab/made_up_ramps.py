"""Runs of ramps that are made up, so that what they show is known."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import examples

from lab.kinds.ramp import Ramp
from lab.kinds.ramp import analysis as ramps
from lab.kinds.ramp.analysis import RampResult
from lab.plan.catalog import Cell
from lab.results import series
from lab.results.records import Run
from lab.results.series import Courses
from lab.workloads.uploads import Moment
from rig.nodes import Group

KIB, MIB = 1 << 10, 1 << 20
STEP_S = 0.25
RAMP_OF_TESTS = Ramp(
    name="made-up",
    title="100 clients on 10 hosts",
    clients=100,
    every_s=0.1,
    life_s=40,
    file_bytes=KIB,  # so small that whole uploads tell the rate
    hosts=(Group(name="far", count=10, link="10mbit"),),
    scales={},
)

# Of the load, 0 to 1, and of how much of the plateau is over, 0 to 1.
Shape = Callable[[float, float], float]


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """Values have noise of this share of themselves, or of this many bytes or cores."""

    ramp: Ramp = RAMP_OF_TESTS
    rate: Shape = lambda load, _: 40 * MIB * min(1.0, 2 * load)  # bytes/s; the knee is at half
    rate_noise: float = 0.02
    memory_of_each: float = 64 * KIB
    memory_noise: float = 16 * KIB
    cores_of_each_mib: float = 0.02  # of a second
    cores_of_each_upload: float = 0.0
    cpu_noise: float = 0.005
    server: float | None = 1.0  # of the clients' view; None for a server without a log
    server_noise: float = 0.001
    killed_s: float = math.inf  # when the kernel ends a process, beside three of an earlier run
    seed: int = 1

    def evidence(self) -> dict[str, Any]:
        source = random.Random(self.seed)
        clients = [self._moment(index, source) for index in range(self._count)]
        server = [self._of_server(one, source) for one in clients] if self.server else []
        samples = self._samples(clients, source)
        return {**series.packed_courses(Courses(STEP_S, clients, server)), "samples": samples}

    def result(self, **changes: Any) -> RampResult:
        """changes are those of the run."""
        found = ramps.of_run(run(self.ramp, **changes), self.ramp, self.evidence())
        assert found
        return found

    @property
    def _count(self) -> int:
        return int(self.ramp.length_s / STEP_S + 0.5)

    def _moment(self, index: int, source: random.Random) -> Moment:
        t = (index + 0.5) * STEP_S
        come = min(1.0, t / self.ramp.last_start_s)
        gone = min(1.0, max(0.0, t - self.ramp.life_s) / self.ramp.last_start_s)
        start_s, end_s = self.ramp.plateau_s
        over = min(1.0, max(0.0, (t - start_s) / (end_s - start_s)))
        rate = self.rate(come - gone, over) * (1 + source.gauss(0, self.rate_noise))
        load = self.ramp.clients * (come - gone)
        return _brought(Moment(t=t, load=load, ended=0, bytes_per_s=0.0, mean_ms=20.0), rate)

    def _of_server(self, one: Moment, source: random.Random) -> Moment:
        assert self.server
        factor = self.server * (1 + source.gauss(0, self.server_noise))
        return _brought(one, one.bytes_per_s * factor)

    def _samples(self, clients: list[Moment], source: random.Random) -> list[dict[str, float]]:
        """One in the middle of each step, and one between two steps."""
        found = []
        busy_s = received = 0.0
        for index in range(2 * len(clients) + 1):
            one = clients[min(index // 2, len(clients) - 1)]
            used = self.memory_of_each * one.load + source.gauss(0, self.memory_noise)
            found.append(
                {
                    "time_s": index * STEP_S / 2,
                    "memory.ganglia_used_bytes": 500 * MIB + used,
                    "fileserver.proportional_bytes": 5 * MIB + used / 2,
                    "authserver.proportional_bytes": 5 * MIB + used / 2,
                    "group.oom_kills": 3.0 + (index * STEP_S / 2 >= self.killed_s),
                    "core.0.user_s": busy_s / 2,
                    "core.1.system_s": busy_s / 2,
                    "core.0.idle_s": index * 9.0,
                    "core.1.idle_s": index * 9.0,
                    "link.received_bytes": received,
                    "host.added_processes": 3.0,
                    "group.used_bytes": 30 * MIB + used,
                    "group.cached_bytes": 20.0 * MIB,
                    "group.cpu_s": busy_s / 4,
                }
            )
            busy_s += STEP_S / 2 * (self._cores(one) + source.gauss(0, self.cpu_noise))
            received += STEP_S / 2 * one.bytes_per_s
        return found

    def _cores(self, one: Moment) -> float:
        of_bytes = self.cores_of_each_mib * one.bytes_per_s / MIB
        return 0.1 + of_bytes + self.cores_of_each_upload * one.load


def _brought(one: Moment, rate: float) -> Moment:
    """At this rate."""
    return replace(one, bytes_per_s=rate, ended=max(0, round(rate * STEP_S / KIB)))


def run(ramp: Ramp, stage: str = "sink", **changes: Any) -> Run:
    usual = {
        "testers": float(ramp.host_count),
        "testers_lost": 0.0,
        "plateau_bytes_s": 40.0 * MIB,
        "plateau_mean_ms": 20.0,
    }
    cell = Cell(stage, ramp.name, workload="ramp")
    return examples.run(ramp.clients, cell=cell, store="", **{**usual, **changes})
