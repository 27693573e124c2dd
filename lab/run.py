"""`lab run`: prepares everything, measures, and writes the report, even if it is interrupted."""

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rig import control_group, private_folder, stores
from rig.cores import usable_cores
from rig.errors import Failed, NotValid, WrongUsage
from rig.host import raise_descriptor_limit
from rig.servers import Programs

from .observe import host
from .plan import plan
from .plan.plan import Options, Plan
from .procedures import checks, probes, profile
from .procedures.bench import Bench
from .procedures.campaign import Campaign
from .procedures.progress import Progress, duration
from .results.environment import Environment
from .results.records import Folder, Run

_WITHOUT_POINTS = {  # view -> what the experiments do that measure no point
    "hardware": "a table of this machine",
    "profile": "a profile of the fileserver's instructions",
}


@dataclass(frozen=True)
class Places:
    """work is the folder of test files and stores. It must be on a disk: memory is never cold."""

    out: Path
    work: Path
    programs: Programs


def run(
    options: Options,
    places: Places,
    write_report: Callable[[Folder], str],
    *,
    is_anyway: bool = False,
    watch: Callable[[Folder], None] | None = None,
) -> None:
    """Failed when something could not be measured, and NotValid when nothing that was measured
    counts, or when other programs disturb all. The rest is in the report.

    is_anyway: it goes on where others disturb it. watch is told of each point. The run ends with
    what write_report() returns.
    """
    bench = prepared(options, places)
    folder = bench.folder
    bench.is_anyway, bench.watch = is_anyway, watch
    _announce(bench)
    try:
        probes.run(bench)
        profile.run(bench)
        Campaign(bench).run()
        probes.run_behind(bench)
        bench.environment.is_complete = True
        folder.write_environment(bench.environment)
    finally:
        bench.progress.say(write_report(folder))
        bench.progress.say(f"report: {folder.path / 'report.html'}")
    _require_no_problem(bench)
    _require_a_valid_point(bench)


def prepared(
    options: Options, places: Places, changed: Callable[[Plan], Plan] = lambda plan: plan
) -> Bench:
    """A bench whose folder has its environment. changed may alter the plan.

    SIGTERM and the end of the terminal stop it as Ctrl-C does; under nohup the latter is ignored.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    folder = Folder(places.out)
    todo = changed(_planned(options, places, folder))
    if todo.cells or todo.profiles:
        places.programs.require()
    stores.remove_leftovers(places.work / "stores")
    control_group.remove_leftovers()
    private_folder.remove_leftovers()
    return _bench(folder, todo, places)


def _planned(options: Options, places: Places, folder: Folder) -> Plan:
    before = folder.find_environment()
    counts = before.file_counts if before else None
    return plan.make(options, usable_cores(), places.work / "files", counts)


def _bench(folder: Folder, todo: Plan, places: Places) -> Bench:
    environment = _environment(folder, todo, places)
    runs = folder.runs()
    return Bench(
        plan=todo,
        folder=folder,
        environment=environment,
        programs=places.programs,
        work=places.work,
        progress=Progress(todo.likely_points, todo.seconds, len(runs)),
        runs=runs,
    )


def _require_no_problem(bench: Bench) -> None:
    """Of what the plan asks for."""
    todo, problems = bench.plan, bench.environment.problems
    wanted = {str(cell) for cell in todo.cells} | {one.name for one in todo.experiments}
    if missing := [name for name in problems if name in wanted]:
        first = f"{missing[0]}: {problems[missing[0]]}"
        raise Failed(f"{len(missing)} cell(s) not measured; the first: {first}")


def _require_a_valid_point(bench: Bench) -> None:
    """Of those that the plan asks for, if it asks for any. Says how many there are besides."""
    tries: dict[tuple[object, ...], list[Run]] = {}
    for trial in bench.runs:
        if trial.cell in bench.plan.planned and not trial.pair:
            tries.setdefault((trial.cell, trial.setting, trial.repeat), []).append(trial)
    bad = [made[-1].failures for made in tries.values() if not any(one.is_valid for one in made)]
    disturbed = sum(map(checks.may_pass_again, bad))
    if not bad:
        return
    which = f"{len(bad)} of {len(tries)} points are not valid"
    again = f"repeat the command with --out {bench.folder.path}"
    why = f"other programs disturbed {disturbed} of them: close those and {again}"
    if len(bad) < len(tries):
        bench.progress.say(f"{which}; {why}" if disturbed else which)
    else:
        raise NotValid(f"{which}; {why if disturbed else f'the first: {bad[0]}'}")


def _environment(folder: Folder, todo: Plan, places: Places) -> Environment:
    """The record of the folder: a new one, or the old one if its settings are the same.

    WrongUsage if the folder was measured with other settings.
    """
    measured = {cell.stage for cell in todo.cells}
    new = Environment(
        options=todo.options,
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


def _announce(bench: Bench) -> None:
    todo = bench.plan
    names = ", ".join(experiment.name for experiment in todo.experiments)
    what = f"{len(todo.cells)} cells, about {todo.likely_points} points"
    if not todo.cells:
        views = {view for experiment in todo.experiments for view in experiment.views}
        what = " and ".join(_WITHOUT_POINTS[view] for view in sorted(views))
    took = f"about {duration(todo.seconds)}" if todo.seconds else "at once"
    bench.progress.say(f"{names}: {what}, {took}; results in {bench.folder.path}")
