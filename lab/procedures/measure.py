"""Measures one point: the load generator drives the servers while the sampler watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..observe import footprint, usage
from ..observe.footprint import Footprint
from ..observe.sampler import Sampler
from ..plan.catalog import CROWD, Crowd, Mode, Size
from ..plan.pinning import Pinning
from ..plan.setting import Setting
from ..results.records import Run
from ..rig import namespace
from ..rig.cores import verify_cores
from ..rig.errors import Failed
from ..rig.place import LOOPBACK, Place
from ..rig.process_tree import tree
from ..rig.servers import Programs
from ..systems import files
from ..systems.system import Running
from ..workloads import closed_loop, crowd, open_loop
from ..workloads.load import Load
from . import checks

_ALL_ARE_THERE_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What all points of a cell have in common."""

    mode: Mode
    size: Size | None  # None for `new`
    file_count: int
    is_cold: bool
    loadgen_flags: tuple[str, ...]
    crowd: Crowd | None
    pinning: Pinning
    programs: Programs
    files_folder: Path
    logs: Path
    place: Place


def point(
    servers: Running, conditions: Conditions, setting: Setting, repeat: int
) -> tuple[Run, dict[str, Any], int | None]:
    """Returns the run, its evidence, and the number of all requests (None if it is not known)."""
    if conditions.is_cold and conditions.size:
        files.drop_caches(conditions.files_folder)
    load = _load(servers, conditions, setting, repeat)
    watch = _Watch(servers, load)
    log = conditions.logs / f"{servers.cell.slug}.loadgen.log"
    place = conditions.place
    link = place.interface if place.name != LOOPBACK else ""
    with Sampler(servers.process_ids(), link) as sampler:
        program = closed_loop.start(
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
            with watch.while_users_hold():
                result = closed_loop.finish(program, load)
        finally:
            program.stop()
    ended = end_of_server(servers, load)
    result = result.moved(-place.clock_ahead_s)
    window = usage.cut(sampler.samples(), result.start_s, result.end_s)
    run = _run(servers, conditions, load, repeat, result, usage.between(window))
    run = replace(run, **watch.found())
    if ended:
        run = replace(run, users_held=0.0, errors=ended)
    evidence = {
        "command": program.command_line(),
        "loadgen": result.raw,
        "samples": [
            {"time_s": round(sample.time_s - result.start_s, 3), **sample.values}
            for sample in window
        ],
    }
    return run, evidence, result.made_in_all


def end_of_server(servers: Running, load: Load) -> str:
    """Which server ended under a crowd, for which there was no room; "" if all run.

    Under any other load Failed.
    """
    try:
        servers.check_running()
    except Failed as error:
        if not isinstance(load, crowd.Load):
            raise
        return str(error).partition(":")[0]
    return ""


class _Watch:
    """Looks once at what the users of a crowd add to the servers. It does nothing for other loads.

    A user has all that it needs once it has begun, so the middle of the last wait is late enough.
    """

    def __init__(self, servers: Running, load: Load):
        self._load = load if isinstance(load, crowd.Load) else None
        self._servers = servers
        self._found: dict[str, float] = {}
        self._empty = self._now() if self._load else None

    @contextmanager
    def while_users_hold(self) -> Iterator[None]:
        if not self._load:
            yield
            return
        timer = threading.Timer(self._load.ramp_s + self._load.stable_s / 2, self._look)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def found(self) -> dict[str, Any]:
        """The fields of a Run; {} when the run had ended before."""
        return {f"{name}_each": value for name, value in self._found.items()}

    def _look(self) -> None:
        assert self._load and self._empty
        with suppress(Failed):  # a server that has ended is reported by its own check
            self._found = self._now().each(self._empty, self._load.threads)

    def _now(self) -> Footprint:
        servers = {k: v for k, v in self._servers.process_ids().items() if k != "store"}
        return footprint.of_processes(pid for one in servers.values() for pid in tree(one))


def _load(servers: Running, conditions: Conditions, setting: Setting, repeat: int) -> Load:
    if servers.cell.workload == CROWD:
        return _crowd(servers, conditions, setting)
    return _loop(servers, conditions, setting, repeat)


def _crowd(servers: Running, conditions: Conditions, setting: Setting) -> crowd.Load:
    """Users are started no faster than they could log in: what is searched is how many hold."""
    how, trial, size = conditions.crowd, conditions.mode.crowd, conditions.size
    assert how and trial and size  # see plan.make()
    return crowd.Load(
        server=str(servers.address),
        threads=setting.threads,
        user=servers.user,
        password=servers.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        rate_bytes_s=how.rate_bytes_s,
        least_rate_percent=how.least_rate_percent,
        engine=how.engine,
        ramp_s=max(1.0, setting.threads / trial.starts_per_s),
        stable_s=trial.stable_s,
        flags=conditions.loadgen_flags,
    )


def _loop(
    servers: Running, conditions: Conditions, setting: Setting, repeat: int
) -> closed_loop.Load:
    """A cold run has no warm-up, which would use up files and be as cold as the rest.

    Each pass of an open loop has other moments at which requests are due.
    """
    mode, size, threads = conditions.mode, conditions.size, setting.threads
    load = closed_loop.Load(
        request=servers.cell.request,
        server=str(servers.address),
        threads=threads,
        seconds=mode.seconds,
        warmup_s=mode.warmup_s,
        flags=conditions.loadgen_flags,
    )
    if setting.offered_rps is not None:
        load = open_loop.Load(**vars(load), offered_rps=setting.offered_rps, seed=repeat)
    if size is None:
        return load
    return replace(
        load,
        warmup_s=0 if conditions.is_cold else mode.warmup_s,
        user=servers.user,
        password=servers.password,
        size_name=size.name,
        size_bytes=size.size_bytes,
        files_per_thread=max(1, conditions.file_count // threads),
        asks_once=conditions.is_cold,
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
    result: closed_loop.Result,
    used: usage.Usage,
) -> Run:
    notes = checks.notes(
        servers.cell, result, used, conditions.is_cold, namespace.tracked_connections()
    )
    if isinstance(load, closed_loop.Load) and load.asks_once and result.elapsed_s < load.seconds:
        notes.append(
            f"ended after {result.elapsed_s:.1f} s, when the first thread had fetched "
            f"its {load.files_per_thread} files"
        )
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
        **load.figures(result),
        errors=result.error_list,
        is_generator_limit=result.is_bottleneck,
        topology=conditions.place.name,
        failures="; ".join(checks.failures(load, result, used)),
        notes="; ".join(notes),
        usage=used,
    )
