"""`lab run`: prepares everything, measures, and writes the report, even if it is interrupted."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from .observe import callgrind, disk_probe, host, machine_probe
from .plan import catalog, plan
from .plan.plan import Options, Plan
from .procedures.bench import Bench
from .procedures.campaign import Campaign
from .procedures.progress import Progress, duration
from .report import page
from .results.environment import Environment
from .results.records import Folder
from .rig import control_group, iperf3, stores
from .rig.cores import usable_cores
from .rig.errors import Failed, WrongUsage
from .rig.host import raise_descriptor_limit
from .rig.servers import Programs

_WITHOUT_POINTS = {  # view -> what the experiments do that measure no point
    "hardware": "a table of this machine",
    "profile": "a profile of the fileserver's instructions",
}
_LEAST_PROBE_S = 2.0  # of a machine; its share of a core is given out in parts of 0.1 s
_PROFILED_FILES, _PROFILED_S = 64, 10.0  # under valgrind, some fifty times slower


@dataclass(frozen=True)
class Places:
    """work is the folder of test files and stores. It must be on a disk: memory is never cold."""

    out: Path
    work: Path
    programs: Programs


def run(options: Options, places: Places) -> None:
    """Failed when something could not be measured. The rest is in the report.

    SIGTERM and the end of the terminal stop it as Ctrl-C does; under nohup the latter is ignored.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    cores = usable_cores()
    todo = plan.make(options, cores, places.work / "files")
    if todo.cells or _views(todo) & {"profile"}:
        places.programs.require()
    folder = Folder(places.out)
    todo = _as_measured_before(todo, folder)
    stores.remove_leftovers(places.work / "stores")
    control_group.remove_leftovers()
    environment = _environment(folder, options, todo, places)
    progress = Progress(
        _likely_points(todo), todo.seconds_estimate(places.work / "files"), len(folder.runs())
    )
    _announce(todo, places, progress)
    campaign = Campaign(
        Bench(
            plan=todo,
            folder=folder,
            environment=environment,
            programs=places.programs,
            work=places.work,
            progress=progress,
            runs=folder.runs(),
        )
    )
    try:
        _probe_network(todo, folder, environment, progress)
        _probe_disk(todo, folder, environment, places, progress)
        _probe_machines(todo, folder, environment, places, progress)
        _profile(todo, folder, environment, places, progress)
        campaign.run()
        environment.is_complete = True
        folder.write_environment(environment)
    finally:
        page.write(folder)
        progress.say(f"report: {folder.path / 'report.html'}")
    wanted = {str(cell) for cell in todo.cells} | {one.name for one in todo.experiments}
    if missing := [name for name in environment.problems if name in wanted]:
        why = environment.problems[missing[0]]
        raise Failed(f"{len(missing)} cell(s) not measured; the first: {missing[0]}: {why}")


def _likely_points(todo: Plan) -> int:
    return sum(map(todo.likely_points, todo.cells))


def _as_measured_before(todo: Plan, folder: Folder) -> Plan:
    """Uses as many files as earlier points of the folder, although the disk has less room now."""
    before = folder.find_environment()
    if before is None or before.file_counts.keys() != todo.file_counts.keys():
        return todo
    return replace(todo, file_counts=before.file_counts)


def _environment(folder: Folder, options: Options, todo: Plan, places: Places) -> Environment:
    """The record of the folder: a new one, or the old one if its settings are the same.

    WrongUsage if the folder was measured with other settings.
    """
    measured = {cell.stage for cell in todo.cells}
    new = Environment(
        options=options,
        mode=todo.mode,
        cores=todo.placement.cores,
        file_counts=todo.file_counts,
        stages={name: stage for name, stage in todo.stages.items() if name in measured},
    )
    environment = folder.find_environment()
    if environment is None:
        environment = new
        environment.started_unix_s = time.time()
        environment.host = host.describe(places.programs.folder, places.work)
        environment.pinning = todo.placement.of_run().meaning
    elif different := new.other_settings(environment):
        raise WrongUsage(
            f"{folder.path} was measured with other {', '.join(different)}: use another --out"
        )
    folder.prepare()
    soft, hard = raise_descriptor_limit()
    environment.open_files = f"{soft} (hard {hard})"
    environment.descriptors = hard
    environment.is_complete = False
    environment.commands.append(" ".join(["lab", *sys.argv[1:]]))
    folder.write_environment(environment)
    return environment


def _announce(todo: Plan, places: Places, progress: Progress) -> None:
    names = ", ".join(experiment.name for experiment in todo.experiments)
    what = f"{len(todo.cells)} cells, about {_likely_points(todo)} points"
    if not todo.cells:
        what = " and ".join(_WITHOUT_POINTS[view] for view in sorted(_views(todo)))
    seconds = todo.seconds_estimate(places.work / "files")
    took = f"about {duration(seconds)}" if seconds else "at once"
    progress.say(f"{names}: {what}, {took}; results in {places.out}")


def _probe_network(
    todo: Plan, folder: Folder, environment: Environment, progress: Progress
) -> None:
    """Measures loopback once for each folder, because every verdict uses the result."""
    if environment.network_probe or not todo.cells or not iperf3.is_installed():
        return
    progress.say("measuring loopback with iperf3")
    try:
        probed = iperf3.measure(todo.mode.seconds, folder.path / "logs")
    except Failed as error:
        environment.problems["network probe"] = str(error)
        return
    environment.problems.pop("network probe", None)
    environment.network_probe = probed
    environment.loopback_bytes_per_s = probed.bytes_per_s
    folder.write_environment(environment)


def _probe_disk(
    todo: Plan, folder: Folder, environment: Environment, places: Places, progress: Progress
) -> None:
    """Measures the disk once for each folder, for the same reason."""
    if environment.disk_probe or not todo.cells:
        return
    progress.say("measuring the disk")
    try:
        environment.disk_probe = disk_probe.measure(places.work, todo.mode.seconds / 4)
        environment.problems.pop("disk probe", None)
    except Failed as error:
        environment.problems["disk probe"] = str(error)
    folder.write_environment(environment)


def _probe_machines(
    todo: Plan, folder: Folder, environment: Environment, places: Places, progress: Progress
) -> None:
    """Tries once for each folder what the groups carry that stand for machines of the papers."""
    used = (todo.stages[cell.stage].machine for cell in todo.cells)
    for machine in dict.fromkeys(machine for machine in used if machine):
        if machine.name in environment.machine_probes:
            continue
        progress.say(f"measuring what the machine {machine.name} carries")
        problem = f"machine {machine.name}"
        try:
            environment.machine_probes[machine.name] = machine_probe.measure(
                machine, places.work, max(_LEAST_PROBE_S, todo.mode.seconds / 4)
            )
            environment.problems.pop(problem, None)
        except Failed as error:
            environment.problems[problem] = str(error)
        folder.write_environment(environment)


def _profile(
    todo: Plan, folder: Folder, environment: Environment, places: Places, progress: Progress
) -> None:
    for experiment in todo.experiments:
        if "profile" not in experiment.views or environment.profile:
            continue
        progress.say("running the fileserver under callgrind")
        size = catalog.sizes()[experiment.rows[0]]
        cell = catalog.Cell(experiment.stages[0], experiment.rows[0])
        try:
            environment.profile = callgrind.run(
                cell,
                todo.stages[cell.stage],
                size,
                _PROFILED_FILES,
                _PROFILED_S,
                places.programs,
                places.work,
                folder.path,
            )
            environment.problems.pop(experiment.name, None)
        except Failed as error:
            environment.problems[experiment.name] = str(error)
        folder.write_environment(environment)


def _views(todo: Plan) -> set[str]:
    return {view for experiment in todo.experiments for view in experiment.views}
