"""One run of the load generator, from its start to its result."""

import json
from pathlib import Path
from typing import Any

from .cores import Cores
from .errors import Failed
from .place import HERE, Place
from .processes import Program

_GRACE_S = 90.0  # beyond the time a run should take: its slowest request, and writing the result


def start(
    program: Path,
    flags: list[str],
    log_path: Path,
    *,
    password: str,
    cores: Cores = (),
    place: Place = HERE,
) -> Program:
    """The password is passed in the environment, because everyone may read a command line."""
    command = [place.program(program), *flags, "--json", "-"]
    secret = {"LOADGEN_PASSWORD": password}
    return place.start("loadgen", command, log_path, cores=cores, secrets=secret)


def result(program: Program, seconds: float) -> Any:
    """Waits for the end of a run that takes this long. Returns its JSON result.

    Failed when it ends without one. A run in which requests failed has a result too.
    """
    _, output = program.wait_for_output(seconds + _GRACE_S)
    try:
        return json.loads(output)
    except ValueError as error:
        raise Failed(f"loadgen gave no result ({error}): {program.last_words()}") from error


def run(
    program: Path, flags: list[str], log_path: Path, *, password: str, seconds: float
) -> dict[str, Any]:
    """Loads a server for this long. Failed when there is no result or when a request failed.

    A run that is invalid for another reason has a result: it says so itself under "valid".
    """
    started = start(program, [*flags, "--seconds", f"{seconds:g}"], log_path, password=password)
    try:
        found: dict[str, Any] = result(started, seconds)
    finally:
        started.stop()
    if found["errors"]["total"]:
        raise Failed(f"loadgen {' '.join(flags)}: {started.last_words()}")
    return found
