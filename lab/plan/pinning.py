"""Which cores each component may use."""

from dataclasses import dataclass

from rig.cores import Cores, counted, format_cores, parse_cores
from rig.errors import WrongUsage

from .catalog import COMPONENTS, Cell, kept_from_fileserver

GENERATOR = "loadgen"
SERVERS = tuple(component for component in COMPONENTS if component != GENERATOR)
Names = tuple[str, ...]

PLANS = {
    "auto": "a core for each component on 4 cores or more, else no pinning",
    "none": "every component may use every core",
    "tiers": "a core for each component, as in the paper (adapted below 4 cores)",
    "split": "the servers on the first half of the cores, the load generator on the rest",
}


@dataclass(frozen=True)
class Pinning:
    """cores maps a component to the cores that it may use. meaning is a sentence for the report."""

    plan: str
    cores: dict[str, Cores]
    meaning: str


@dataclass(frozen=True)
class Placement:
    """The choice of a run: a plan, by its name or by hand, on the cores that the run may use.

    A run's Plan has it, and so has the record of the run. Who wants to know where a component runs
    asks one of them.
    """

    pin: str
    cores: Cores
    is_generator_here: bool = True

    def of_run(self) -> Pinning:
        """That of the stores, and of all cells that do not limit the fileserver."""
        return choose(self.pin, self.cores, self._components)

    def of(self, cell: Cell) -> Pinning:
        return choose(self.pin, self.cores, self._components, cell.fileserver_cores)

    @property
    def _components(self) -> Names:
        return COMPONENTS if self.is_generator_here else SERVERS


def choose(
    plan: str, cores: Cores, components: Names = COMPONENTS, fileserver_cores: int = 0
) -> Pinning:
    """The plan for these components on these cores.

    If fileserver_cores is not 0, the fileserver has that many instead.

    WrongUsage for an unknown plan, or for cores that do not exist.
    """
    if fileserver_cores:
        return _limited_fileserver(cores, components, fileserver_cores)
    if plan == "auto":
        plan = "tiers" if len(cores) >= len(components) else "none"
    if plan == "none" or len(cores) == 1:
        return _unpinned(plan, cores, components)
    if plan == "tiers":
        return _tiers(cores, components)
    if plan == "split" and GENERATOR in components:
        half = len(cores) // 2
        return Pinning(
            plan,
            {**dict.fromkeys(components, cores[:half]), GENERATOR: cores[half:]},
            "The load generator takes no core from the servers; the servers share theirs.",
        )
    if plan == "split":
        raise WrongUsage("--pin split: the load generator runs on another host")
    return _by_hand(plan, cores, components)


def _unpinned(plan: str, cores: Cores, components: Names) -> Pinning:
    if GENERATOR not in components:
        meaning = f"Nothing is pinned: servers and store share {counted(len(cores))}."
    else:
        meaning = (
            f"Nothing is pinned: servers, store and load generator share {counted(len(cores))}. A "
            "throughput is that of the whole system with the load generator. A component is "
            "named as the limit only if it uses over half of that; none fills a core of its own."
        )
    return Pinning(plan, dict.fromkeys(components, cores), meaning)


def _tiers(cores: Cores, components: Names) -> Pinning:
    if len(cores) >= len(components):
        own: dict[str, Cores] = {component: (core,) for component, core in zip(components, cores)}
        return Pinning("tiers", own, "Each component has one core of its own, as in the paper.")
    rest = dict.fromkeys(components, cores[1:])
    return Pinning(
        "tiers",
        {**rest, "fileserver": cores[:1]},
        f"The plan needs {len(components)} cores and there are {len(cores)}. So the fileserver has "
        "one core alone, and the other components share the rest. A full first core means "
        "that the fileserver is the limit. If the rest is full, one of the others is.",
    )


def _limited_fileserver(cores: Cores, components: Names, count: int) -> Pinning:
    if count > len(cores):
        raise WrongUsage(f"{count} cores for the fileserver: this machine has {len(cores)}")
    kept = kept_from_fileserver(len(cores))
    rest = cores[-kept:] if kept else cores
    meaning = f"The fileserver may use {counted(count)}; "
    if kept:
        meaning += f"the other components always have cores {format_cores(rest)} for themselves."
    else:
        meaning += (
            f"the other components may use all {len(cores)}, because too few are left for them "
            "alone. With more cores, the fileserver would scale better."
        )
    return Pinning(
        "fileserver", {**dict.fromkeys(components, rest), "fileserver": cores[:count]}, meaning
    )


def _by_hand(plan: str, cores: Cores, components: Names) -> Pinning:
    """Reads fileserver=0,authserver=1,loadgen=2-3. A component without cores may use all."""
    chosen = dict.fromkeys(components, cores)
    for part in plan.replace(",", " ").split():
        component, _, wanted = part.partition("=")
        try:
            chosen[component] = parse_cores(wanted.replace("+", ","))
        except ValueError:
            chosen[component] = ()
        if (
            component not in components
            or not chosen[component]
            or not set(chosen[component]) <= set(cores)
        ):
            raise WrongUsage(
                f"--pin '{plan}': wanted {', '.join(PLANS)}, or COMPONENT=CORES,… with "
                f"components {', '.join(components)} and cores {format_cores(cores)}"
            )
    return Pinning(plan, chosen, "Pinned by hand, as the command line says.")
