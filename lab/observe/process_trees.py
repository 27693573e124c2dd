"""The counters of components over time, each a process with all that it started.

Few processes are read in every sample. Many are read in a thread of their own, so that no sample
has to wait for them. At the end each sample gets what lies between two such readings.
"""

import time
from bisect import bisect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from .moment import INTERVAL_S, Moment, Sample, is_gauge, on_line
from .proc_processes import has_more_than, read_process
from .rounds import Rounds

MOST_SHARE = 0.05  # of a core, for reading components with many processes
FEW = 16  # processes that a component has started


@dataclass(frozen=True)
class _Watched:
    pid: int
    past: Moment = field(default_factory=dict)  # what those counted that this one has replaced


@dataclass(frozen=True)
class _Reading(Sample):
    pid: int


class ProcessTrees:
    """Any thread may call watch() and replace(): they only replace a dict."""

    def __init__(self, process_ids: Mapping[str, int]):
        self._watched = {name: _Watched(pid) for name, pid in process_ids.items()}
        self._readings: dict[str, list[_Reading]] = {}
        self._rounds = Rounds("process trees", self._read_many_again, every_s)

    def watch(self, component: str, pid: int) -> None:
        self._watched = {**self._watched, component: _Watched(pid)}

    def replace(self, component: str, pid: int) -> None:
        """As watch(), in the place of a process that has ended: the counters go on from there."""
        readings = self._readings.get(component)
        last = max(readings, key=lambda one: one.time_s).values if readings else {}
        past = {name: value for name, value in last.items() if not is_gauge(name)}
        self._watched = {**self._watched, component: _Watched(pid, past)}

    def start(self) -> None:
        """From now on read_many() is called again and again in a thread of its own."""
        self._rounds.start(INTERVAL_S)

    def stop(self) -> None:
        self._rounds.stop()

    def process_ids(self) -> dict[str, int]:
        return {name: one.pid for name, one in self._watched.items()}

    def read_few(self) -> Moment:
        """Of all components that have few processes now; {} for one that is gone."""
        values: Moment = {}
        for component, watched in self._watched.items():
            if not has_more_than(FEW, watched.pid):
                values.update(self._read(component, watched))
        return values

    def read_many(self) -> None:
        """Of those that read_few() leaves out; completed() has them."""
        for component, watched in self._watched.items():
            if has_more_than(FEW, watched.pid):
                self._read(component, watched)

    def completed(self, samples: list[Sample]) -> list[Sample]:
        """With components that had too many processes for read_few().

        A sample before the first reading of one, or behind the last, has none of it. So read_many()
        is called before the first sample and after the last. Requires: stop() has returned.
        """
        for component, readings in self._readings.items():
            readings.sort(key=lambda one: one.time_s)
            times_s = [one.time_s for one in readings]
            samples = [
                one
                if f"{component}.cpu_s" in one.values
                else _completed(one, readings, bisect(times_s, one.time_s))
                for one in samples
            ]
        return samples

    def _read_many_again(self) -> None:
        with suppress(OSError):  # want of a descriptor, for example: there is no such reading
            self.read_many()

    def _read(self, component: str, watched: _Watched) -> Moment:
        """{} when it is gone."""
        begun_s = time.time()
        read = read_process(watched.pid)
        own = {f"{component}.{name}": value for name, value in read.items()}
        values = {name: value + watched.past.get(name, 0.0) for name, value in own.items()}
        if values:
            amid_s = (begun_s + time.time()) / 2
            reading = _Reading(amid_s, values, watched.pid)
            self._readings.setdefault(component, []).append(reading)
        return values


def _completed(sample: Sample, readings: list[_Reading], after: int) -> Sample:
    """after is the place of the first reading after the sample."""
    if not 0 < after < len(readings) or readings[after - 1].pid != readings[after].pid:
        return sample
    between = on_line(readings[after - 1], readings[after], sample.time_s)
    return Sample(sample.time_s, {**sample.values, **between})


def every_s(cost_s: float) -> float:
    """From the begin of a round that used so much of a core to that of the next."""
    return max(INTERVAL_S, cost_s / MOST_SHARE)
