"""Which cores each component may use, and the check that the kernel holds them to it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .catalog import COMPONENTS, kept_from_fileserver
from .errors import Failed, WrongUsage

PLANS = {
    "auto": "a core for each component with 4 cores or more, else no pinning",
    "none": "every component may use every core",
    "tiers": "a core for each component, as in the paper (adapted below 4 cores)",
    "split": "the servers on the first half of the cores, the load generator on the rest",
}


@dataclass(frozen=True)
class Pinning:
    """cores: component -> the cores it may use. meaning: what a result under this plan means."""

    plan: str
    cores: dict[str, tuple[int, ...]]
    meaning: str

    def is_shared(self, component: str) -> bool:
        return any(
            other != component and set(cores) & set(self.cores[component])
            for other, cores in self.cores.items()
        )


def usable_cores() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)))


def choose(plan: str, cores: tuple[int, ...], fileserver_cores: int = 0) -> Pinning:
    """The plan for these cores. fileserver_cores limits the fileserver to that many, whatever the plan.

    WrongUsage for an unknown plan, or cores that are not there.
    """
    if fileserver_cores:
        return _limited_fileserver(cores, fileserver_cores)
    if plan == "auto":
        plan = "tiers" if len(cores) >= len(COMPONENTS) else "none"
    if plan == "none" or len(cores) == 1:
        return _unpinned(plan, cores)
    if plan == "tiers":
        return _tiers(cores)
    if plan == "split":
        half = len(cores) // 2
        return Pinning(
            plan,
            {**dict.fromkeys(COMPONENTS, cores[:half]), "loadgen": cores[half:]},
            "The load generator takes no core from the servers; the servers share theirs.",
        )
    return _by_hand(plan, cores)


def verify(component: str, pid: int, cores: tuple[int, ...]) -> None:
    """Failed unless every thread of the process is held to exactly these cores."""
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            text = status.read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread that has just ended
        allowed = text.split("Cpus_allowed_list:")[1].split()[0]
        if parse_list(allowed) != cores:
            raise Failed(
                f"{component} was pinned to cores {format_list(cores)}, "
                f"but thread {status.parent.name} may use {allowed}"
            )


def parse_list(text: str) -> tuple[int, ...]:
    """The kernel's form of a list: "0-2,5" is 0, 1, 2, 5. ValueError for anything else."""
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cores))


def counted(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def format_list(cores: tuple[int, ...]) -> str:
    return ",".join(str(core) for core in cores)


def _unpinned(plan: str, cores: tuple[int, ...]) -> Pinning:
    return Pinning(
        plan,
        dict.fromkeys(COMPONENTS, cores),
        f"Nothing is pinned: servers, store and load generator share {counted(len(cores))}, so a "
        "throughput is that of the whole system, the load generator included, and a component "
        "is a bottleneck by its share of all cores, not by filling a core of its own.",
    )


def _tiers(cores: tuple[int, ...]) -> Pinning:
    if len(cores) >= len(COMPONENTS):
        own: dict[str, tuple[int, ...]] = {
            component: (core,) for component, core in zip(COMPONENTS, cores)
        }
        return Pinning("tiers", own, "Each component has one core of its own, as in the paper.")
    rest = dict.fromkeys(COMPONENTS, cores[1:])
    return Pinning(
        "tiers",
        {**rest, "fileserver": cores[:1]},
        f"The plan wants {len(COMPONENTS)} cores and there are {len(cores)}: the fileserver has one "
        "alone, and the other three components share the rest. That those are full does not tell "
        "which of the three is the limit; a full first core does mean the fileserver.",
    )


def _limited_fileserver(cores: tuple[int, ...], count: int) -> Pinning:
    if count > len(cores):
        raise WrongUsage(f"{count} cores for the fileserver: this machine has {len(cores)}")
    kept = kept_from_fileserver(len(cores))
    rest = cores[-kept:] if kept else cores
    meaning = f"The fileserver may use {counted(count)}; "
    if kept:
        meaning += f"the other components have cores {format_list(rest)} for themselves, however many it has."
    else:
        meaning += (
            f"the other components may use all {len(cores)}, its cores too, because too few are left. "
            "Scaling is then less than it would be with cores to spare."
        )
    return Pinning(
        "fileserver", {**dict.fromkeys(COMPONENTS, rest), "fileserver": cores[:count]}, meaning
    )


def _by_hand(plan: str, cores: tuple[int, ...]) -> Pinning:
    """fileserver=0,authserver=1,loadgen=2-3: components that are not named may use every core."""
    chosen = dict.fromkeys(COMPONENTS, cores)
    for part in plan.replace(",", " ").split():
        component, _, wanted = part.partition("=")
        try:
            chosen[component] = parse_list(wanted.replace("+", ","))
        except ValueError:
            chosen[component] = ()
        if (
            component not in COMPONENTS
            or not chosen[component]
            or not set(chosen[component]) <= set(cores)
        ):
            raise WrongUsage(
                f"--pin '{plan}': wanted {', '.join(PLANS)}, or COMPONENT=CORES,… with "
                f"components {', '.join(COMPONENTS)} and cores {format_list(cores)}"
            )
    return Pinning(plan, chosen, "Pinned by hand, as the command line says.")
