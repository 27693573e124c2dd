"""What is measured once for each folder: what the machine carries without our programs.

Every verdict on a run uses these results.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from rig import iperf3
from rig.errors import Failed
from rig.iperf3 import Carried
from rig.link import FOR_DELAYS
from rig.place import HERE, LOOPBACK, Place
from rig.wire import End

from ..observe import disk_probe, host, machine_probe, usage
from ..observe.disk_probe import DiskProbe
from ..observe.machine_probe import MachineProbe
from ..observe.sampler import Sampler
from ..plan import machines
from . import checks
from .bench import Bench

_TRIES = 3  # of a probe that other programs disturb
_LEAST_PROBE_S = 2.0  # of a machine; its share of a core is given out in parts of 0.1 s
Found = TypeVar("Found")


@dataclass(frozen=True)
class Probe(Generic[Found]):
    """One of them. name is that of the problem that the folder has if it fails."""

    name: str
    says: str
    measure: Callable[[], Found]
    keep: Callable[[Found], None]  # in the folder's environment


def measure_once(bench: Bench, probe: Probe[Found]) -> None:
    bench.progress.say(probe.says)
    problems = bench.environment.problems
    try:
        probe.keep(probe.measure())
    except Failed as error:
        problems[probe.name] = str(error)
    else:
        problems.pop(probe.name, None)
    bench.folder.write_environment(bench.environment)


def run(bench: Bench) -> None:
    """Loopback, the disk and the machines of the papers, as far as the folder lacks them."""
    if bench.plan.cells:
        probes: list[Probe[Any]] = [*_loopback(bench), *_disk(bench), *_machines(bench)]
        for probe in probes:
            measure_once(bench, probe)


def run_behind(bench: Bench) -> None:
    """The disk once more: what it can do may have changed since the first run."""
    if bench.environment.disk_probe:
        keep = partial(setattr, bench.environment, "disk_probe_behind")
        says = "measuring the disk once more"
        measure_once(bench, Probe("disk probe behind the runs", says, _disk_of(bench), keep))


def link(bench: Bench, place: Place) -> None:
    """What the way to this place carries, and what is there, if it is another machine."""
    environment = bench.environment
    if place.name == LOOPBACK or place.name in environment.link_probes:
        return
    if described := place.lscpu():
        environment.clients[place.name] = host.hardware_in(described)
    measure_once(
        bench,
        Probe(
            f"link: {place.name}",
            f"measuring the link with iperf3: {place.title}",
            _carried(bench, place),
            partial(environment.link_probes.__setitem__, place.name),
        ),
    )


def _loopback(bench: Bench) -> Iterator[Probe[Carried]]:
    if not bench.environment.network_probe and iperf3.is_installed():
        says = "measuring loopback with iperf3"
        keep = bench.environment.keep_loopback
        yield Probe("network probe", says, _carried(bench), keep)


def _carried(bench: Bench, place: Place = HERE) -> Callable[[], Carried]:
    """A connection needs many round trips to fill a link with a delay. What a stage asks of TCP is
    not asked of the probe: all stages over this link are held against it.
    """
    logs, usual_s = bench.folder.path / "logs", bench.plan.mode.seconds
    if not (isinstance(place, End) and place.link.delay_ms):
        return partial(iperf3.measure, usual_s, logs, place=place)
    warm_up_s, seconds = machines.probing_s(place.link, usual_s)
    measure = partial(iperf3.measure, seconds, logs, place=place, warm_up_s=warm_up_s)
    return partial(_undisturbed, place, partial(measure, congestion=FOR_DELAYS))


def _undisturbed(place: End, measure: Callable[[], Carried]) -> Carried:
    """Of a link that is a program of ours, which is late on busy cores and then carries less. It is
    tried again as a point is. Failed when other programs disturbed each try.
    """
    for _ in range(_TRIES):
        place.told()  # what the link did before is not of this probe
        with Sampler({}, helpers=place.helpers()) as sampler:
            found = measure()
        time.sleep(place.longest_s)  # the next run shall not wait in its queue
        first, *_, last = sampler.samples()
        busy = usage.between([first, last]).foreign_share
        disturbed = checks.late_link(place.told()) + checks.busy_cores(busy)
        if not disturbed:
            return found
    raise Failed(f"disturbed {_TRIES} times; the last time: {', '.join(disturbed)}")


def _disk(bench: Bench) -> Iterator[Probe[DiskProbe]]:
    environment = bench.environment
    if not environment.disk_probe:
        keep = partial(setattr, environment, "disk_probe")
        yield Probe("disk probe", "measuring the disk", _disk_of(bench), keep)


def _disk_of(bench: Bench) -> Callable[[], DiskProbe]:
    return partial(disk_probe.measure, bench.work, bench.plan.mode.seconds / 8)


def _machines(bench: Bench) -> Iterator[Probe[MachineProbe]]:
    """Whether the groups that stand for machines of the papers are what they should be."""
    found = bench.environment.machine_probes
    seconds = max(_LEAST_PROBE_S, bench.plan.mode.seconds / 4)
    for machine in bench.plan.machines:
        if machine.name not in found:
            yield Probe(
                f"machine {machine.name}",
                f"measuring what the machine {machine.name} carries",
                partial(machine_probe.measure, machine, bench.work, seconds),
                partial(found.__setitem__, machine.name),
            )
