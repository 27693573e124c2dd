"""Runs the load generator for a load, from its command line to its result."""

from pathlib import Path

from rig import loadgen
from rig.cores import Cores
from rig.errors import Failed
from rig.place import Place
from rig.processes import Program

from .load import Load
from .outcome import Result


def start(
    load: Load,
    program: Path,
    place: Place,
    cores: Cores,
    log_path: Path,
    series: Path | None = None,
) -> Program:
    """Returns while it runs. The caller stops it. series is for a line for each second."""
    flags = [*load.command_flags(), *(["--series", str(series)] if series else [])]
    return loadgen.start(program, flags, log_path, password=load.password, cores=cores, place=place)


def finish(program: Program, load: Load) -> Result:
    """Waits for the end of the run. Failed when it ends without a result."""
    raw = loadgen.result(program, load.run_s)
    try:
        return load.parse(raw)
    except KeyError as error:
        raise Failed(f"loadgen's result has no {error}: {program.last_words()}") from error
