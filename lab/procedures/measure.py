"""Measures one point: the load generator drives the servers while the sampler watches."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rig import files, namespace
from rig.clocks import Reading
from rig.cores import verify_cores
from rig.errors import Failed
from rig.place import LOOPBACK, Told
from rig.wire import End

from ..kinds.client.fetching import Fetching
from ..kinds.client.load import FetchLoad
from ..kinds.kind import measured
from ..kinds.ramp.load import RampLoad
from ..kinds.ramp.many_hosts import ManyHosts
from ..observe import residency, round_trips, usage
from ..observe.moment import Sample
from ..observe.round_trips import RoundTrip, RoundTrips
from ..observe.sampler import Sampler
from ..observe.sleeper import Sleeper, Wake, beside, lateness
from ..observe.usage import ComponentUsage
from ..plan.pinning import Pinning
from ..plan.planned import Setting
from ..results import series as kept_series
from ..results.records import Run
from ..results.series import Courses
from ..systems import fresh_files
from ..systems.system import Receiving, Running, Telling
from ..workloads import loadgen_run, transfers
from ..workloads.load import Asked, Load
from ..workloads.outcome import Result
from ..workloads.transfers import Transfer
from ..workloads.uploads import Upload
from . import checks
from .beside import Beside, Look, Switching
from .generator import Generator, OneHost, take_place
from .server_log import ServerLog, both_views
from .stand import Stand, warm

_ALL_ARE_THERE_S = 1.0
_RECORD = "transfers-of-the-last-trial.csv"
_TESTERS = "testers-of-the-last-trial"  # a folder


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What is known of one trial."""

    run: Run
    evidence: dict[str, Any]  # samples, and the load generator's result
    transfers: list[Transfer]  # of the load generator; [] if the load keeps no record
    clocks: list[Reading]  # of other hosts; [] if all testers have our clock
    made_in_all: int | None  # requests; None if that is not known


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """One run of the load generator, and what was seen meanwhile."""

    command: str
    result: Result
    ended: str  # the server that did not survive it; ""
    oom_kills: int  # processes of the server that the kernel ended at the limit of its memory
    window: list[Sample]
    wakes: list[Wake]
    trips: list[RoundTrip]
    figures: Mapping[str, float | None]
    transfers: list[Transfer]
    clocks: list[Reading]
    courses: Courses | None
    has_testers_here: bool
    has_limited_server: bool
    told: Told | None  # what a link with a delay says of itself
    refused: list[str]  # why idle connections were not there

    def used(self) -> usage.Usage:
        """Testers on our cores are too many to be watched; they say themselves what they used."""
        used = usage.between(self.window, has_limited_server=self.has_limited_server)
        testers = {}
        if self.has_testers_here:
            testers = {"loadgen": ComponentUsage(cpu_cores=self.result.used_cores)}
        return replace(
            used,
            components={**used.components, **testers},
            figures={
                **used.figures,
                **lateness(self.wakes, self.window),
                **round_trips.figures(self.trips, self.window),
                **self._of_link(),
                **({"group_oom_kills": self.oom_kills} if self.oom_kills else {}),
            },
        )

    def _of_link(self) -> dict[str, float]:
        told = self.told
        return {"link_late_p99_ms": told.late_p99_ms, "link_lost": told.lost} if told else {}


def point(stand: Stand, setting: Setting, repeat: int) -> Measured:
    load = _load(stand, setting, repeat)
    asked = [stand.site.root / name for name in load.file_names()]
    _prepare_files(stand, asked)
    resident = residency.share(asked) if asked else None
    seen = _driven(stand, load)
    result, used = seen.result, seen.used()
    load = load.at_its_limit() if seen.oom_kills else load
    failures = checks.failures(load, result, used, has_ended=bool(seen.ended))
    failures += checks.files_in_memory(stand.planned.stage.fresh, resident)
    failures += checks.of_link(load, result, seen.told) + seen.refused
    run = _run(stand, load, seen, used, failures)
    figures = measured({**seen.figures, "resident_before": resident})
    evidence = {
        "command": seen.command,
        "loadgen": kept_series.packed_distributions(result.raw),
        "samples": [
            {"time_s": round(sample.time_s - result.start_s, 3), **sample.values}
            for sample in beside(seen.window, seen.wakes)
        ],
        **kept_series.packed(result.series),
        **(kept_series.packed_courses(seen.courses) if seen.courses else {}),
    }
    return Measured(
        run=replace(run, repeat=repeat, figures=figures),
        evidence=evidence,
        transfers=seen.transfers,
        clocks=seen.clocks,
        made_in_all=result.made_in_all,
    )


def _driven(stand: Stand, load: Load) -> _Seen:
    """The load, from its start to its end."""
    servers, place = stand.servers, stand.site.place
    look, server_log = Look(servers, load), ServerLog(servers.transfer_log)
    switching = Switching(servers, load, stand.group)
    link = place.interface if place.name != LOOPBACK else ""
    before = _told(servers)
    place.told()  # what the link did before is not of this run
    watched = servers.process_ids()
    memory_of = with_memory(load, watched)
    with ExitStack() as stack:
        beside = stack.enter_context(Beside(servers, load, stand.group))
        sleeper = stack.enter_context(Sleeper())
        way = stack.enter_context(RoundTrips(place, stand.site.logs))
        helpers = [*place.helpers(), *way.helpers(), *servers.helpers()]
        sampled = Sampler(watched, link, stand.group, memory_of, helpers)
        sampler = stack.enter_context(sampled)
        generator = _started(stand, load)
        begun_s = time.monotonic()
        try:
            for component, pid in generator.process_ids().items():
                sampler.watch(component, pid)
            pinned = {**servers.process_ids(), **generator.process_ids()}
            _verify_pinning(pinned, stand.planned.pinning, load)
            with look.once(), switching.counted():
                happened = take_place(load.kill, servers, generator, begun_s, sampler)
                result = generator.finish()
            idle, refused = beside.found(), beside.failures()
        finally:
            generator.stop()
            if stand.held:
                stand.held.thaw()  # should it have been killed while it held the servers
    told = place.told()
    oom_kills = stand.group.oom_kills if stand.group else 0
    load = load.at_its_limit() if oom_kills else load
    ended = end_of_server(servers, load)
    result = replace(result, series=result.series.with_events(happened, result.start_s))
    clients = load.transfers()
    courses = _courses(load, generator.uploads(), server_log, result)
    return _Seen(
        command=generator.command_line(),
        result=result,
        ended=ended,
        oom_kills=oom_kills,
        window=usage.cut(sampler.samples(), result.start_s, result.end_s),
        wakes=sleeper.wakes(),
        trips=way.found(),
        figures={
            **load.figures(result),
            **look.found(),
            **idle,
            **switching.found(result.end_s),
            **transfers.figures(clients, server_log.transfers(len(clients))),
            **(load.without_server() or {} if ended else {}),
            **(load.figures_of_server(before, _told(servers)) if before else {}),
        },
        transfers=clients,
        clocks=generator.clocks(),
        courses=courses,
        has_testers_here=stand.nodes is not None and stand.nodes.places[0].is_here,
        has_limited_server=stand.planned.limits is not None,
        told=told,
        refused=refused,
    )


def _courses(
    load: Load, uploads: Sequence[Upload], server_log: ServerLog, result: Result
) -> Courses | None:
    """None where uploads are not recorded one by one."""
    if not uploads:
        return None
    served = server_log.recorded(len(uploads)).served
    return both_views(uploads, served, result.start_s, load.run_s)


def with_memory(load: Load, watched: Iterable[str]) -> list[str]:
    """The components of which the memory is sampled; see observe/server_memory.py."""
    return [name for name in watched if name != "store"] if load.needs_memory else []


def _told(servers: Running) -> dict[str, float]:
    """{} for servers that say nothing."""
    return servers.told() if isinstance(servers, Telling) else {}


def _started(stand: Stand, load: Load) -> Generator:
    cores = stand.planned.pinning.cores.get("loadgen", ())
    log = stand.site.logs / f"{stand.servers.cell.slug}.loadgen.log"
    program, record = stand.programs.path("loadgen"), stand.series_of(load)
    place = stand.site.place
    if isinstance(load, FetchLoad):
        assert stand.client  # see procedures/bench.py
        return Fetching(stand.client, load, stand.site, stand.servers.transfer_log, cores)
    if stand.nodes:
        assert isinstance(load, RampLoad)
        return ManyHosts(stand.nodes, load, program, stand.site.logs / _TESTERS, cores)
    started = loadgen_run.start(load, program, place, cores, log, record)
    return OneHost(started, load, place, record)


def _prepare_files(stand: Stand, asked: list[Path]) -> None:
    """Makes them anew, and throws them out of the cache, as far as the stage says so."""
    size, stage = stand.planned.size, stand.planned.stage
    if size and stage.fresh == fresh_files.DROPPED:
        fresh_files.make(asked, size.size_bytes, stand.group)
    if size and (stage.cold or stage.fresh):
        files.drop_caches(stand.files_folder)
        # Its own program is not to come from the disk while the files do.
        warm(stand.programs, stand.client)
    if size and stage.fresh == fresh_files.CREATED:
        fresh_files.make(asked, size.size_bytes, stand.group)


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


def _load(stand: Stand, setting: Setting, repeat: int) -> Load:
    servers, site = stand.servers, stand.site
    return Asked(
        planned=stand.planned,
        setting=setting,
        repeat=repeat,
        server=str(servers.address),
        user=servers.user,
        password=servers.password,
        upload_name=servers.upload_name,
        hold=stand.held.to_freeze if stand.held else None,
        record=site.logs / _RECORD if site.place.is_here else None,
        link=site.place.link if isinstance(site.place, End) else None,
        receiver=servers.receiver if isinstance(servers, Receiving) else None,
        probed_bytes_s=stand.carries_bytes_s,
    ).load()


def _verify_pinning(process_ids: dict[str, int], plan: Pinning, load: Load) -> None:
    """Checks it under load, when all threads have started."""
    if plan.plan == "none":
        return
    time.sleep(min(_ALL_ARE_THERE_S, load.run_s / 2))
    for component, pid in process_ids.items():
        if component in plan.cores:  # a proxy and further hosts may use all
            verify_cores(component, pid, plan.cores[component])


def _run(stand: Stand, load: Load, seen: _Seen, used: usage.Usage, failures: list[str]) -> Run:
    result, response = seen.result, seen.result.response_ms
    return Run(
        cell=stand.servers.cell,
        store=stand.servers.store,
        threads=load.threads,
        repeat=0,
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
        errors=seen.ended or result.error_list,
        is_generator_limit=result.is_bottleneck,
        topology=stand.site.place.name,
        failures="; ".join(failures),
        notes="; ".join(_notes(stand, load, result, used) + checks.gaps(seen.window)),
        usage=used,
    )


def _notes(stand: Stand, load: Load, result: Result, used: usage.Usage) -> list[str]:
    cell, place = stand.servers.cell, stand.site.place
    tracked = namespace.tracked_connections()
    found = checks.notes(cell, result, used, stand.planned.stage.cold, tracked)
    found += load.notes(result)
    if not place.is_here:
        found.append(f"the load generator used {result.used_cores:.1f} cores of {place.name}")
    return found
