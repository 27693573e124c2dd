"""Checks the values of the command line of `lab run`."""

import argparse
import re
from pathlib import Path

from rig import hosts, remote, stores
from rig.cores import usable_cores
from rig.errors import WrongUsage

from ..kinds import BURST, CLIENT, CROWD, RAMP
from . import catalog, machines, plan
from .catalog import NEW, Stage
from .machines import machine
from .pinning import Placement
from .plan import NAMESPACE, Options

_LONGEST_NOTE = 500
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def checked(arguments: argparse.Namespace) -> Options:
    """Takes argparse's result. WrongUsage names the flag and its possible values."""
    names = [experiment.name for experiment in catalog.choose_experiments(arguments.experiments)]
    options = Options(
        experiments=tuple(names),
        mode="quick" if arguments.quick else "full",
        stages=_chosen("--stages", arguments.stages, list(catalog.stages())),
        rows=_chosen("--sizes", arguments.sizes, [NEW, *catalog.sizes()]),
        threads=_numbers("--threads", arguments.threads),
        channels=_numbers("--channels", arguments.channels),
        seconds=_positive("--seconds", arguments.seconds),
        repeat=_whole("--repeat", arguments.repeat),
        store=arguments.store,
        scale=_positive("--scale", arguments.scale),
        hosts=_hosts(arguments.hosts),
        p99_ms=_positive("--p99", arguments.p99),
        rate_bytes_s=_positive("--pace", arguments.pace),
        engine=arguments.engine,
        order=arguments.order,
        gap_s=_positive("--gap", arguments.gap) or 0.0,
        discard=_whole("--discard", arguments.discard) or 0,
        is_held=arguments.hold == "freeze",
        keeps_series=arguments.series,
        machine=arguments.machine or "",
        memory_bytes=_size("--memory", arguments.memory),
        pin=arguments.pin,
        is_shared=arguments.shared,
        client=_client(arguments.client, arguments.link),
        link=arguments.link or "",
        note=_note(arguments.note),
    )
    if options.store is not None and options.store not in stores.KINDS:
        raise WrongUsage(f"--store '{options.store}': it may be {', '.join(stores.KINDS)}")
    if options.machine:
        machine(options.machine)  # WrongUsage if there is none
    _require_rows(options)
    _require_fitting_stages(options)
    _require_that_it_can_be_held(options)
    _require_own_stages(options)
    _require_closed_loops(options)
    _require_ramps(options)
    _require_downloads(options)
    if options.keeps_series and options.has_remote_client:
        raise WrongUsage("--series: a load generator on another host keeps no series here")
    placement = Placement(options.pin, usable_cores(), not options.has_remote_client)
    placement.of_run()  # WrongUsage if there is no such plan
    return options


def _require_rows(options: Options) -> None:
    """Of all experiments of a paper, some may have none of the chosen rows; but not all."""
    if options.rows and not any(one.rows for one in plan.experiments_of(options)):
        own = [row for name in options.experiments for row in catalog.experiments()[name].rows]
        have = ", ".join(dict.fromkeys(own)) or "no rows"
        names = ", ".join(options.experiments)
        raise WrongUsage(f"--sizes {','.join(options.rows)}: {names} has {have}")


def _require_fitting_stages(options: Options) -> None:
    """A stage that was chosen for a crowd or a burst must say how that is."""
    for experiment in plan.experiments_of(options):
        for name in experiment.stages:
            stage = catalog.stages()[name]
            if experiment.kind is CROWD and not stage.crowd:
                raise WrongUsage(f"{experiment.name}: stage {name} has no crowd of slow users")
            if experiment.kind is BURST and not (stage.steps or options.threads):
                raise WrongUsage(f"{experiment.name}: stage {name} has no steps; use --threads")


def _require_that_it_can_be_held(options: Options) -> None:
    if not options.is_held:
        return
    if options.has_remote_client:
        raise WrongUsage("--hold: a load generator on another host cannot freeze a server here")
    for experiment in plan.experiments_of(options):
        if experiment.kind is not BURST:
            raise WrongUsage(f"--hold: {experiment.name} has no bursts")


def _require_closed_loops(options: Options) -> None:
    """Other loads are about time, which other programs take away."""
    for one in plan.experiments_of(options) if options.is_shared else ():
        if one.stages and (not one.kind.is_about_cpu or one.each_core_count):
            raise WrongUsage(
                f"--shared: {one.name} is about time, and not about the CPU time of a request"
            )


def _require_ramps(options: Options) -> None:
    """Hosts run the testers of a ramp and nothing else, and only a ramp has a scale."""
    wanted = {"--hosts": bool(options.hosts), "--scale": options.scale is not None}
    flag = next((name for name, is_given in wanted.items() if is_given), None)
    for experiment in plan.experiments_of(options) if flag else ():
        if experiment.kind is not RAMP and experiment.stages:
            raise WrongUsage(f"{flag}: {experiment.name} has no ramps")
    has_ramps = any(one.kind is RAMP for one in plan.experiments_of(options))
    if has_ramps and len(options.threads or ()) > 1:
        raise WrongUsage("--threads: a ramp has one number of clients")
    if options.hosts and options.client:
        raise WrongUsage("--hosts and --client: the load comes from the ones or from the other")


def _require_downloads(options: Options) -> None:
    """A client is started on this machine, and only a download has channels."""
    for experiment in plan.experiments_of(options):
        is_one = experiment.kind is CLIENT
        if options.channels and not is_one and experiment.stages:
            raise WrongUsage(f"--channels: {experiment.name} has no downloads")
        if options.threads and is_one:
            raise WrongUsage(f"--threads: {experiment.name} has --channels instead")
        if options.has_remote_client and is_one:
            raise WrongUsage(f"{experiment.name}: its clients cannot be on another host")
        for stage in (catalog.stages()[name] for name in experiment.stages if is_one):
            if not stage.download or not (stage.steps or options.channels):
                raise WrongUsage(f"{experiment.name}: stage {stage.name} has no download")
            if stage.download.stuck_s and not _can_be_stuck(options, stage):
                raise WrongUsage(
                    f"--link {options.link or '(none)'}: stage {stage.name} needs a link with a "
                    "delay, on which a connection can be stuck"
                )


def _can_be_stuck(options: Options, stage: Stage) -> bool:
    """Only on a link that is a program of ours."""
    return machines.link(options.link or stage.link).delay_ms > 0


def _require_own_stages(options: Options) -> None:
    """One of a paper that has none of the chosen stages may have nothing to do, if others have."""
    chosen = plan.experiments_of(options)
    if any(one.stages or not one.kind.has_own_stages for one in chosen):
        return
    name = chosen[0].name
    if options.has_remote_client and chosen[0].kind.is_here_only:
        raise WrongUsage(f"{name}: its load generator cannot be on another host")
    have = ", ".join(catalog.experiments()[name].stages)
    raise WrongUsage(f"{name}: it has the stages {have}")


def _client(client: str | None, link: str | None) -> str:
    """A rate of the link means a namespace, because that of another host is what it is."""
    if link is not None:
        machines.link(link)  # WrongUsage if there is none
        if client not in (None, NAMESPACE):
            raise WrongUsage(f"--link is for --client {NAMESPACE}; '{client}' has a link already")
        return NAMESPACE
    if client is not None and not remote.is_destination(client):
        raise WrongUsage(f"--client '{client}': wanted {NAMESPACE}, or a host as ssh takes it")
    return client or ""


def _hosts(file: Path | None) -> str:
    """The whole path, because a run may be resumed from elsewhere."""
    if file is None:
        return ""
    hosts.read(file)  # WrongUsage if it has none
    return str(file.resolve())


def _chosen(flag: str, text: str | None, known: list[str]) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = text.split(",")
    for name in names:
        if name not in known:
            raise WrongUsage(f"{flag}: no '{name}'{catalog.instead(name, known)}")
    return tuple(name for name in known if name in names)


def _numbers(flag: str, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,4}(,[1-9][0-9]{0,4})*", text):
        raise WrongUsage(f"{flag} '{text}': wanted numbers from 1 to 99999, like 1,2,4")
    return tuple(sorted({int(number) for number in text.split(",")}))


def _positive(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text) or float(text) < 1:
        raise WrongUsage(f"{flag} '{text}': wanted a number, 1 or more")
    return float(text)


def _size(flag: str, text: str | None) -> int | None:
    if text is None:
        return None
    matched = re.fullmatch(r"([1-9][0-9]{0,5})([KMG])", text)
    if not matched:
        raise WrongUsage(f"{flag} '{text}': wanted a size like 512M or 1G")
    return int(matched[1]) * _UNITS[matched[2]]


def _note(text: str | None) -> str:
    if text is None:
        return ""
    if not text.isprintable() or not text.strip() or len(text) > _LONGEST_NOTE:
        raise WrongUsage(f"--note: wanted one line of at most {_LONGEST_NOTE} characters")
    return text.strip()


def _whole(flag: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]?", text):
        raise WrongUsage(f"{flag} '{text}': wanted a number from 1 to 99")
    return int(text)
