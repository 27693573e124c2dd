"""Makes up the runs of a system whose bottleneck is known, with the noise of a real machine.

The runs are those that the sweep of the lab would choose, and they are plain records, so the rules
of the lab see nothing but what they see of a real run. How throughput follows from the demands is
worked out here once more, without the code of lab/analysis.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import examples

from lab.observe.disk_probe import DiskProbe
from lab.observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.planned import Pair, Sweep
from lab.procedures import side_by_side
from lab.procedures.sweep import KneeSweep
from lab.results.environment import Environment
from lab.results.records import Run
from rig.iperf3 import Carried
from rig.place import LOOPBACK

LINK = "link"
_CORES = 2
_METHOD = catalog.modes()["002", "full"]

# The noise of the recorded runs of docs/results, as standard deviations of logarithms.
BETWEEN_CELLS = 0.10  # within a pass: cells are measured minutes apart
BETWEEN_POINTS = 0.11
_OF_A_COUNTER = 0.02
_WAKE_UPS = 0.25  # a lone request needs so much more CPU than one under load
_MOST_FOREIGN = 0.04  # of the cores, by other programs


@dataclass(frozen=True, kw_only=True)
class System:
    """What one request needs. Everything that can be busy is a queue, except the delay."""

    cpu_ms: dict[str, float]  # of each component; all of them share the cores
    disk_ms: float = 0.0
    lock_ms: float = 0.0  # in a queue that no counter sees
    delay_ms: float = 0.0
    size_bytes: int = 1000
    link_bytes_per_s: float | None = None  # None: the load comes over loopback
    disk_probes: tuple[float, float] | None = None  # bytes read/s, before the runs and behind them
    stolen: float = 0.0  # the share of the cores that the hypervisor takes

    def throughput(self, threads: int, cpu_ms: float, slowness: float) -> float:
        """Requests/s by exact mean value analysis; m cores are a queue and a delay (Seidmann)."""
        servers = _CORES * (1 - self.stolen)
        queues = [cpu_ms / servers, self.disk_ms * slowness, self.lock_ms * slowness]
        if self.link_bytes_per_s:
            queues.append(1000 * self.size_bytes / self.link_bytes_per_s)
        delay = self.delay_ms + cpu_ms - cpu_ms / servers
        waiting = [0.0] * len(queues)
        rate = 0.0
        for users in range(1, threads + 1):
            times = [need * (1 + length) for need, length in zip(queues, waiting)]
            rate = users / (delay + sum(times))
            waiting = [rate * time for time in times]
        return 1000 * rate


@dataclass
class Machine:
    """The machine of one experiment. Its speed changes from pass to pass by up to `drift`."""

    random: Random
    passes: int = _METHOD.repeat
    blocks: int = 0  # of each gain that is measured side by side
    drift: float = 1.1
    noise: float = 1.0  # times that of the recorded runs
    _slowness: dict[object, float] = field(default_factory=dict)

    def runs(self, systems: dict[Cell, System]) -> list[Run]:
        """All that a full run of the lab measures of these cells."""
        rule = Sweep(_METHOD.threads["get"], _METHOD.refinements)
        procedure = KneeSweep(rule, self.passes)
        found: list[Run] = []
        for repeat in range(1, self.passes + 1):
            for cell, system in systems.items():
                own = [run for run in found if run.cell == cell]
                while (threads := procedure.next_threads(own, repeat)) is not None:
                    slowness = self._of_pass(repeat) * self._of_cell(cell, repeat)
                    own.append(self._measure(cell, system, threads, repeat, slowness))
                    found.append(own[-1])
        return found + self._side_by_side(systems, found)

    def _side_by_side(self, systems: dict[Cell, System], swept: list[Run]) -> list[Run]:
        """Blocks A B B A of the first two systems. Their trials follow each other at once."""
        first, second = [*systems, *systems][:2]
        pair = Pair(first.stage, second.stage, first.row)
        threads = side_by_side.same_threads(swept, pair) or 1
        return [
            replace(
                self._measure(cell, systems[cell], threads, block, self._of_pass(-block)),
                pair=pair.name,
            )
            for block in range(1, self.blocks + 1)
            for cell in (first, second, second, first)
        ]

    def _of_pass(self, number: int) -> float:
        """How slow the machine is in this pass; a negative number is a block."""
        return self._of(number, lambda: self.random.uniform(1, self.drift))

    def _of_cell(self, cell: Cell, repeat: int) -> float:
        return self._of((cell, repeat), lambda: self._noise(BETWEEN_CELLS))

    def _measure(
        self, cell: Cell, system: System, threads: int, repeat: int, slowness: float
    ) -> Run:
        slowness *= self._noise(BETWEEN_POINTS)
        foreign = self.random.uniform(0, _MOST_FOREIGN)
        wake_ups = 1 + _WAKE_UPS / threads
        cpu_ms = {
            name: need * slowness * wake_ups * self._noise(_OF_A_COUNTER)
            for name, need in system.cpu_ms.items()
        }
        total_ms = sum(cpu_ms.values())
        rate = system.throughput(threads, total_ms / (1 - foreign), slowness)
        cores = {name: rate * need / 1000 for name, need in cpu_ms.items()}
        busy = min(1 - system.stolen, sum(cores.values()) / _CORES + foreign)
        disk = min(1.0, rate * system.disk_ms * slowness / 1000 * self._noise(_OF_A_COUNTER))
        used = _usage(cores, _core(busy, system.stolen), disk, rate * system.size_bytes)
        if system.link_bytes_per_s:
            used = replace(used, link_bytes_per_s=rate * system.size_bytes)
        return replace(
            examples.run(threads, rate, repeat, used),
            cell=cell,
            store=catalog.stages()[cell.stage].store,
            topology=LINK if system.link_bytes_per_s else LOOPBACK,
        )

    def _of(self, key: object, draw: Callable[[], float]) -> float:
        """The same number whenever it is asked for."""
        if key not in self._slowness:
            self._slowness[key] = draw()
        return self._slowness[key]

    def _noise(self, deviation: float) -> float:
        return math.exp(self.random.gauss(0, self.noise * deviation))


def environment(systems: dict[Cell, System], random: Random) -> Environment:
    """Two cores that all share, and probes of the link and the disk if there are any."""
    found = replace(examples.ENVIRONMENT, **_disk_probes(systems.values()))
    rates = [one.link_bytes_per_s for one in systems.values() if one.link_bytes_per_s]
    if not rates:
        return found
    carried = rates[0] * math.exp(random.gauss(0, 0.01))
    probe = Carried(interval_s=10.0, bytes=round(10 * carried))
    return replace(found, link_probes={LINK: probe})


def _disk_probes(systems: Iterable[System]) -> dict[str, Any]:
    """Of the last one that has them. Requests are never what is scarce."""
    found: dict[str, Any] = {}
    for system in systems:
        for name, rate in zip(("disk_probe", "disk_probe_behind"), system.disk_probes or ()):
            found[name] = DiskProbe(
                disk="vda",
                read_bytes_per_s=rate,
                write_bytes_per_s=rate,
                reads_per_s=1e9,
                writes_per_s=1e9,
            )
    return found


def _core(busy: float, stolen: float) -> CoreUsage:
    return CoreUsage(
        user=busy / 2, system=busy / 2, wait=0.0, idle=1 - busy - stolen, stolen=stolen
    )


def _usage(cores: dict[str, float], core: CoreUsage, disk: float, sent: float) -> Usage:
    reader = max(cores, key=lambda name: name == "fileserver")
    return Usage(
        components={
            name: ComponentUsage(
                cpu_cores=used,
                main_thread=0.01,
                read_bytes_per_s=sent if name == reader and disk else 0.0,
                write_bytes_per_s=0.0,
                threads=10.0,
            )
            for name, used in cores.items()
        },
        cores={str(number): core for number in range(_CORES)},
        disks={
            "vda": DiskUsage(
                busy=disk, read_bytes_per_s=sent if disk else 0.0, write_bytes_per_s=0.0
            )
        },
        loopback_bytes_per_s=sent,
    )
