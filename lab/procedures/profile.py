"""Figure 3: the fileserver under callgrind, while a few threads fetch files."""

import shutil
import tempfile
from functools import partial
from pathlib import Path

from rig import files
from rig.cores import usable_cores
from rig.errors import Failed
from rig.place import HERE

from ..observe import callgrind
from ..observe.callgrind import Profile
from ..plan.planned import Planned, Setting
from ..systems import known as systems
from ..systems.system import Running, Site
from ..workloads import loadgen_run
from ..workloads.load import Asked
from ..workloads.outcome import Result
from . import probes
from .bench import Bench
from .probes import Probe


def run(bench: Bench) -> None:
    """Every profile of the plan, as far as the folder has none."""
    for name, planned in bench.plan.profiles.items():
        if bench.environment.profile:
            continue
        says, measure = "running the fileserver under callgrind", partial(_profile, bench, planned)
        keep = partial(setattr, bench.environment, "profile")
        probes.measure_once(bench, Probe(name, says, measure, keep))


def _profile(bench: Bench, planned: Planned) -> Profile:
    """Writes callgrind.out.fileserver into the folder, for kcachegrind.

    Failed when valgrind is not installed, or when the run fails.
    """
    if shutil.which("valgrind") is None:
        raise Failed("valgrind is not installed")
    assert planned.size  # the profile is of a get
    size, out = planned.size, bench.folder.path
    root = files.filled(bench.work / "files", size.name, size.size_bytes, planned.file_count)
    stage, cores = planned.stage, planned.pinning.cores["store"]
    with (
        systems.of(stage).prepared(stage, bench.programs, bench.work, cores) as system,
        tempfile.TemporaryDirectory(prefix="callgrind-", dir=out) as folder,
    ):
        site = Site(root=root, logs=out / "logs", wrapper=callgrind.wrapper(Path(folder)))
        with system.running(planned.cell, planned.pinning, site) as servers:
            result = _loaded(servers, planned, bench.programs.path("loadgen"), site.logs)
            command = servers.commands()["fileserver"].replace(folder, "…")
        kept = callgrind.keep_largest(Path(folder), out)
    return callgrind.read(kept, command=command, requests=result.requests, cell=planned.cell)


def _loaded(servers: Running, planned: Planned, program: Path, logs: Path) -> Result:
    """Runs the load generator, on all cores, until it ends."""
    load = Asked(
        planned=planned,
        setting=Setting(planned.steps[0]),
        repeat=1,
        server=str(servers.address),
        user=servers.user,
        password=servers.password,
    ).load()
    log = logs / "profile.loadgen.log"
    generator = loadgen_run.start(load, program, HERE, usable_cores(), log)
    try:
        return loadgen_run.finish(generator, load)
    finally:
        generator.stop()
