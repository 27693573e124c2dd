"""Measures one point: the load generator drives the servers while the sampler watches."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..observe import residency, usage
from ..observe.sampler import Sampler
from ..observe.sleeper import Sleeper, beside, lateness
from ..plan.catalog import Crowd, Mode, Size
from ..plan.pinning import Pinning
from ..plan.setting import Setting
from ..results.records import Run
from ..rig import namespace
from ..rig.control_group import ControlGroup
from ..rig.cores import verify_cores
from ..rig.errors import Failed
from ..rig.place import LOOPBACK, Place
from ..rig.processes import run_tool
from ..rig.servers import Programs
from ..systems import files, fresh_files
from ..systems.system import Running
from ..workloads import known, loadgen_run, transfers
from ..workloads.figures import measured
from ..workloads.load import Asked, Load
from ..workloads.outcome import Result
from ..workloads.transfers import Transfer
from . import checks
from .look import Look
from .server_log import ServerLog

_ALL_ARE_THERE_S = 1.0
_RECORD = "transfers-of-the-last-trial.csv"


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What all points of a cell have in common."""

    mode: Mode
    size: Size | None  # None for `new`
    file_count: int
    is_cold: bool
    loadgen_flags: tuple[str, ...]
    crowd: Crowd | None
    same_file: bool
    pinning: Pinning
    programs: Programs
    files_folder: Path
    root: Path  # what the server serves
    logs: Path
    place: Place
    group: ControlGroup | None = None  # of the program that serves files
    is_held: bool = False  # the group is frozen while all of a burst ask
    fresh: str = ""  # how files are made anew before each trial; "": they are not


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What is known of one trial."""

    run: Run
    evidence: dict[str, Any]  # samples, and the load generator's result
    transfers: list[Transfer]  # of the load generator; [] if the load keeps no record
    made_in_all: int | None  # requests; None if that is not known


def point(servers: Running, conditions: Conditions, setting: Setting, repeat: int) -> Measured:
    load = _load(servers, conditions, setting, repeat)
    asked = [conditions.root / name for name in load.file_names()]
    _prepare_files(conditions, asked)
    resident = residency.share(asked) if asked else None
    look = Look(servers, load)
    server_log = ServerLog(servers.transfer_log)
    log = conditions.logs / f"{servers.cell.slug}.loadgen.log"
    place = conditions.place
    link = place.interface if place.name != LOOPBACK else ""
    with Sleeper() as sleeper, Sampler(servers.process_ids(), link, conditions.group) as sampler:
        program = loadgen_run.start(
            load,
            conditions.programs.path("loadgen"),
            place,
            conditions.pinning.cores.get("loadgen", ()),
            log,
        )
        try:
            generator = {"loadgen": program.pid} if place.is_here else {}
            for component, pid in generator.items():
                sampler.watch(component, pid)
            _verify_pinning({**servers.process_ids(), **generator}, conditions.pinning, load)
            with look.once():
                result = loadgen_run.finish(program, load)
        finally:
            program.stop()
            if conditions.group and conditions.is_held:
                conditions.group.thaw()  # should it have been killed while it held the servers
    ended = end_of_server(servers, load)
    result = result.moved(-place.clock_ahead_s)
    window = usage.cut(sampler.samples(), result.start_s, result.end_s)
    wakes = sleeper.wakes()
    used = usage.between(window)
    used = replace(used, figures={**used.figures, **lateness(wakes, window)})
    failures = checks.failures(load, result, used, has_ended=bool(ended))
    failures += checks.files_in_memory(conditions.fresh, resident)
    clients = load.transfers()
    figures = {
        **load.figures(result),
        **look.found(),
        **transfers.figures(clients, server_log.transfers(len(clients))),
        "resident_before": resident,
        **(load.without_server() or {} if ended else {}),
    }
    run = replace(
        _run(servers, conditions, load, repeat, result, used, failures),
        figures=measured(figures),
        errors=ended or result.error_list,
    )
    evidence = {
        "command": program.command_line(),
        "loadgen": result.raw,
        "samples": [
            {"time_s": round(sample.time_s - result.start_s, 3), **sample.values}
            for sample in beside(window, wakes)
        ],
    }
    return Measured(run=run, evidence=evidence, transfers=clients, made_in_all=result.made_in_all)


def _prepare_files(conditions: Conditions, asked: list[Path]) -> None:
    """Makes them anew, and throws them out of the cache, as far as the stage says so."""
    size, fresh = conditions.size, conditions.fresh
    if size and fresh == fresh_files.DROPPED:
        fresh_files.make(asked, size.size_bytes, conditions.group)
    if size and (conditions.is_cold or fresh):
        files.drop_caches(conditions.files_folder)
        # Its own program is not to come from the disk while the files do.
        run_tool([str(conditions.programs.path("loadgen")), "--version"], "warming loadgen")
    if size and fresh == fresh_files.CREATED:
        fresh_files.make(asked, size.size_bytes, conditions.group)


def end_of_server(servers: Running, load: Load) -> str:
    """What ended, when a server did not survive the load; "" if all run.

    Failed where that is no answer.
    """
    try:
        servers.check_running()
    except Failed as error:
        if load.without_server() is None:
            raise
        return str(error).partition(":")[0]
    return ""


def _load(servers: Running, conditions: Conditions, setting: Setting, repeat: int) -> Load:
    return known.load(
        Asked(
            cell=servers.cell,
            server=str(servers.address),
            user=servers.user,
            password=servers.password,
            mode=conditions.mode,
            size=conditions.size,
            file_count=conditions.file_count,
            is_cold=conditions.is_cold,
            flags=conditions.loadgen_flags,
            crowd=conditions.crowd,
            same_file=conditions.same_file,
            setting=setting,
            repeat=repeat,
            hold=conditions.group.to_freeze if conditions.group and conditions.is_held else None,
            record=conditions.logs / _RECORD if conditions.place.is_here else None,
        )
    )


def _verify_pinning(process_ids: dict[str, int], plan: Pinning, load: Load) -> None:
    """Checks it under load, when all threads have started."""
    if plan.plan == "none":
        return
    time.sleep(min(_ALL_ARE_THERE_S, load.run_s / 2))
    for component, pid in process_ids.items():
        verify_cores(component, pid, plan.cores[component])


def _run(
    servers: Running,
    conditions: Conditions,
    load: Load,
    repeat: int,
    result: Result,
    used: usage.Usage,
    failures: list[str],
) -> Run:
    notes = checks.notes(
        servers.cell, result, used, conditions.is_cold, namespace.tracked_connections()
    )
    notes += load.notes(result)
    if not conditions.place.is_here:
        notes.append(
            f"the load generator used {result.used_cores:.1f} cores of {conditions.place.name}"
        )
    response = result.response_ms
    return Run(
        cell=servers.cell,
        store=servers.store,
        threads=load.threads,
        repeat=repeat,
        started_unix_s=result.start_s,
        elapsed_s=result.elapsed_s,
        requests=result.requests,
        bytes=result.bytes,
        throughput_rps=result.throughput_rps,
        mean_ms=response["mean"],
        p50_ms=response.get("p50"),
        p90_ms=response.get("p90"),
        p99_ms=response.get("p99"),
        max_ms=response.get("max"),
        noise=result.noise,
        errors=result.error_list,
        is_generator_limit=result.is_bottleneck,
        topology=conditions.place.name,
        failures="; ".join(failures),
        notes="; ".join(notes),
        usage=used,
    )
