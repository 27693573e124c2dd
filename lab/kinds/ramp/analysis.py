"""What a ramp shows: both views of it, what clients cost the server, and where throughput ends."""

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...analysis import blocks, knee, regression, two_views
from ...analysis.blocks import Estimate
from ...analysis.knee import Knee
from ...analysis.regression import Line, OfCpu
from ...analysis.two_views import Agreement
from ...results import series
from ...results.records import Run
from ...results.series import Courses
from ...workloads.uploads import Moment
from . import Ramp
from .gathered import OfGroup

_MOST_ARE_KNOWN = 0.9  # of the steps
_SETTLED = 0.15  # of the clients; by much fewer the link of a ramp is full
_FULL = 0.95  # of the cores

_Values = Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What was sampled in each step; None where nothing was."""

    memory_bytes: _Values  # of the host, by Ganglia's formula
    server_bytes: _Values  # the proportional set size of the servers
    killed: _Values  # of the group's processes, those that the kernel has ended since its start
    cpu_cores: _Values  # of the host
    core_count: int  # of the host
    received_bytes_s: _Values  # by the interface that carries the load
    added_processes: _Values  # of the host
    # Of the servers' control group: what it holds, the kernel's memory for it too, without page
    # cache, and its CPU.
    group_bytes: _Values
    server_cores: _Values


@dataclass(frozen=True)
class RampResult:
    """One run. Requires: it has courses."""

    run: Run
    ramp: Ramp
    courses: Courses
    machine: Machine
    groups: Mapping[str, OfGroup] = field(default_factory=dict)  # of hosts, on the plateau

    @property
    def is_trial(self) -> bool:
        """Whether it went on until memory ended, or was to."""
        return self.run.figure("uploads_borne") is not None

    @property
    def times_s(self) -> list[float]:
        return [moment.t for moment in self.courses.clients]

    @property
    def plateau_s(self) -> tuple[float, float]:
        """As the ramp's own; after a loss of testers it begins later. It may be empty."""
        from_s, to_s = self.ramp.plateau_s
        return max(from_s, self.run.figure("plateau_from_s") or 0.0), to_s

    @property
    def plateau(self) -> range:
        """The steps that lie in it whole."""
        from_s, to_s = self.plateau_s
        step_s = self.courses.step_s
        return range(math.ceil(from_s / step_s), max(0, int(to_s / step_s)))

    @property
    def way_up(self) -> range:
        """The steps in which clients come and none has left."""
        return range(min(self.plateau.start, int(self.ramp.life_s / self.courses.step_s)))

    def rates(self, steps: range) -> list[float]:
        """Bytes/s in these steps, of which can be told how far chance goes: what the server's
        interface received, or else the clients' uploads by the moment of their end.

        The courses do not serve for that: they spread an upload over its time, which ties a step
        to its neighbours.
        """
        known = _known(self.machine.received_bytes_s, steps)
        if len(known) >= _MOST_ARE_KNOWN * len(steps):
            return known
        return self._ended(self.courses.clients, steps)

    @cached_property
    def memory(self) -> Line | None:
        """Of the host, over uploads under way. Memory is fitted on the way up only: programs and
        the kernel keep what they had when clients leave.
        """
        return self._over_load(self.machine.memory_bytes)

    @cached_property
    def group_memory(self) -> Line | None:
        """Of the servers, with what the kernel holds for them."""
        return self._over_load(self.machine.group_bytes)

    @cached_property
    def server_memory(self) -> Line | None:
        """Of the servers, as PSS."""
        return self._over_load(self.machine.server_bytes)

    @property
    def settled(self) -> range:
        """The steps of the way up in which more clients hardly bring more throughput any more."""
        clients, least = self.courses.clients, _SETTLED * self.ramp.clients
        return range(
            next((i for i in self.way_up if clients[i].load >= least), self.way_up.stop),
            self.way_up.stop,
        )

    @cached_property
    def cores(self) -> Estimate | None:
        """The CPU of the host on the plateau."""
        return blocks.mean(_known(self.machine.cpu_cores, self.plateau))

    @cached_property
    def cores_over_load(self) -> Line | None:
        """The CPU of the host, where throughput has settled."""
        return self._over_load(self.machine.cpu_cores, self.settled)

    def is_full(self, steps: range) -> bool:
        """Whether no core is free, so that the CPU cannot answer to anything."""
        known = _known(self.machine.cpu_cores, steps)
        return bool(known) and sum(known) / len(known) > _FULL * self.machine.core_count

    @cached_property
    def cpu(self) -> OfCpu | None:
        rows = [
            (cores, moment.bytes_per_s, moment.load)
            for cores, moment in zip(self.machine.cpu_cores, self.courses.clients)
            if cores is not None
        ]
        return regression.of_cpu(*zip(*rows)) if rows else None

    @cached_property
    def knee(self) -> Knee:
        """Of the way up, and the plateau; on the way down clients leave amid uploads."""
        last = max(self.plateau.stop, 1)
        up = self.courses.clients[:last]
        return knee.of_values([one.load for one in up], [one.bytes_per_s for one in up])

    @cached_property
    def agreement(self) -> Agreement | None:
        """Of throughput; None without the server's view."""
        courses = self.courses
        if not courses.server:
            return None
        clients, server = (
            dict(enumerate(self._ended(moments, range(len(moments)))))
            for moments in (courses.clients, courses.server)
        )
        return two_views.compare(clients, server, self.plateau)

    def mean_of(self, values: _Values) -> float | None:
        """Over the plateau."""
        known = _known(values, self.plateau)
        return sum(known) / len(known) if known else None

    def _ended(self, moments: Sequence[Moment], steps: range) -> list[float]:
        """The bytes/s of whole uploads, by the moment of their end."""
        each = self.ramp.file_bytes / self.courses.step_s
        return [each * moments[i].ended for i in steps]

    def _over_load(self, values: _Values, steps: range | None = None) -> Line | None:
        """On the way up, or in these steps of it."""
        clients = self.courses.clients
        known = [(clients[i].load, values[i]) for i in steps or self.way_up if i < len(values)]
        rows = [(load, value) for load, value in known if value is not None]
        return regression.fit([x for x, _ in rows], [y for _, y in rows]) if rows else None


def _known(values: _Values, steps: range) -> list[float]:
    found = (values[i] for i in steps if i < len(values))
    return [value for value in found if value is not None]


def of_run(run: Run, ramp: Ramp, evidence: Mapping[str, Any]) -> RampResult | None:
    """None where nothing was kept of it."""
    found = series.courses_of(evidence)
    if found is None:
        return None
    times_s = [moment.t for moment in found.clients]
    return RampResult(run, ramp, found, _machine(evidence["samples"], times_s), _groups(evidence))


def _groups(evidence: Mapping[str, Any]) -> dict[str, OfGroup]:
    """{} for a run of before they were kept apart."""
    kept = evidence.get("loadgen", {}).get("ramp", {}).get("groups", {})
    return {name: OfGroup(**group) for name, group in kept.items()}


def _machine(samples: Sequence[Mapping[str, float]], times_s: Sequence[float]) -> Machine:
    known = _Samples(samples, times_s)
    return Machine(
        memory_bytes=known.at(lambda one: one.get("memory.ganglia_used_bytes")),
        server_bytes=known.at(_server_bytes),
        killed=known.at(lambda one: one.get("group.oom_kills")),
        cpu_cores=known.rate(_busy_s),
        core_count=sum(name.endswith(".idle_s") for name in samples[0]) if samples else 0,
        received_bytes_s=known.rate(lambda one: one.get("link.received_bytes")),
        added_processes=known.at(lambda one: one.get("host.added_processes")),
        group_bytes=known.at(_group_bytes),
        server_cores=known.rate(lambda one: one.get("group.cpu_s")),
    )


def _server_bytes(sample: Mapping[str, float]) -> float | None:
    sizes = [size for name, size in sample.items() if name.endswith(".proportional_bytes")]
    return sum(sizes) if sizes else None


def _group_bytes(sample: Mapping[str, float]) -> float | None:
    used, cached = (sample.get(f"group.{name}_bytes") for name in ("used", "cached"))
    return None if used is None or cached is None else used - cached


def _busy_s(sample: Mapping[str, float]) -> float:
    return sum(
        value
        for name, value in sample.items()
        if name.startswith("core.") and name.endswith((".user_s", ".system_s"))
    )


_Reading = Callable[[Mapping[str, float]], float | None]


class _Samples:
    """Samples as values at the middles of steps."""

    def __init__(self, samples: Sequence[Mapping[str, float]], times_s: Sequence[float]):
        self._samples = samples
        self._taken_s = [one["time_s"] for one in samples]
        self._times_s = times_s
        self._half_s = (times_s[1] - times_s[0]) / 2 if len(times_s) > 1 else 0.5

    def at(self, reading: _Reading) -> list[float | None]:
        """That of the nearest sample within the step."""
        return [self._nearest(t, reading) for t in self._times_s]

    def _nearest(self, t: float, reading: _Reading) -> float | None:
        after = bisect.bisect(self._taken_s, t)
        near = [i for i in (after - 1, after) if 0 <= i < len(self._taken_s)]
        near = [i for i in near if abs(self._taken_s[i] - t) <= self._half_s]
        if not near:
            return None
        return reading(self._samples[min(near, key=lambda i: abs(self._taken_s[i] - t))])

    def rate(self, reading: _Reading) -> list[float | None]:
        """The growth of a counter, in a second, within each step."""
        return [self._growth(t, reading) for t in self._times_s]

    def _growth(self, t: float, reading: _Reading) -> float | None:
        first, last = (self._count(at, reading) for at in (t - self._half_s, t + self._half_s))
        if first is None or last is None:
            return None
        return (last - first) / (2 * self._half_s)

    def _count(self, t: float, reading: _Reading) -> float | None:
        """A counter at this moment; None before the first sample and after the last."""
        after = min(bisect.bisect(self._taken_s, t), len(self._taken_s) - 1)
        if after < 1:
            return None
        from_s, to_s = self._taken_s[after - 1 : after + 1]
        if not from_s <= t <= to_s:
            return None
        before, then = (reading(self._samples[i]) for i in (after - 1, after))
        if before is None or then is None:
            return None
        return before + (then - before) * (t - from_s) / (to_s - from_s)
