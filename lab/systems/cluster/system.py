"""Our servers as a system of many hosts: fileservers behind haproxy, one authserver, one store.

Hosts and proxy are network namespaces of this machine, on one switch. Each host has a control group
and a folder of its own. The authserver, the store and the load generator are where the lab is.
"""

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import control_group, nodes, servers, stores
from rig.control_group import ControlGroup, Limits
from rig.cores import Cores
from rig.errors import Failed
from rig.host import HAPROXY
from rig.nodes import Group, NodesHere
from rig.place import Place
from rig.processes import Address, Program
from rig.servers import Programs
from rig.stores import Store
from rig.switch import OUR_ADDRESS, address

from ...kinds.scale_out import Cluster
from ...plan.catalog import Cell, Stage
from ...plan.pinning import Pinning
from ..programs import OfPrograms, limit_bytes
from ..system import Site
from . import haproxy, names
from .haproxy import Behind
from .names import Spread

PROXY_PORT = 8000
_PERIOD_S = 0.02  # in which a host gets its share; a long one would be one burst and then a pause


def component(number: int) -> str:
    """Of a host, by its number from 1. The first one is called as that of a single host."""
    return "fileserver" if number == 1 else f"fileserver-{number}"


@dataclass(frozen=True, kw_only=True)
class RunningCluster(OfPrograms):
    """See system.Running, system.Mortal and system.Telling."""

    cell: Cell
    behind: Store
    authserver: Program
    hosts: Sequence[Program]
    native: Sequence[Address]  # of the hosts
    proxy: Program
    address: Address  # of the proxy
    user: str
    password: str
    spread: Spread
    cables: NodesHere
    configuration: str

    @property
    def store(self) -> str:
        return self.behind.kind

    @property
    def settings(self) -> dict[str, str]:
        return {**self.behind.settings, "haproxy": self.configuration}

    @property
    def durability(self) -> str:
        return self.behind.durability

    def process_ids(self) -> dict[str, int]:
        ids = {component(number): one.pid for number, one in enumerate(self.hosts, 1)}
        ids |= {"proxy": self.proxy.pid, "authserver": self.authserver.pid}
        if self.behind.program:
            ids["store"] = self.behind.program.pid
        return ids

    def counts(self) -> dict[str, int]:
        """A health check is a connection too, so these do not tell the requests."""
        return {}

    def told(self) -> dict[str, float]:
        """The sums over all hosts, and what haproxy said of the names."""
        found: Counter[str] = Counter()
        for one in self.hosts:
            found.update(servers.read_telemetry(one.further_address("telemetry")))
        shares = Counter(self.spread.with_all.values())
        return {
            **found,
            "names": float(len(self.spread.with_all)),
            "names_of_most": float(max(shares.values())),
            "names_of_last": float(self.spread.of_last),
            "names_moved": float(self.spread.moved),
        }

    def kill(self, component: str) -> None:
        """With its host: the cable is cut first, so nobody hears that its connections ended."""
        number = self._number(component)
        self.cables.cables.cut(number)
        self.hosts[number].kill()

    def start_again(self, component: str) -> None:
        """On all addresses that it had."""
        number = self._number(component)
        program, host = self.hosts[number], address(number)
        self.cables.cables.mend(number)
        had = iter(
            str(one)
            for one in (
                self.native[number],
                program.further_address("http"),
                program.further_address("telemetry"),
            )
        )
        anywhere = str(Address(host, 0))
        program.start_again([next(had) if word == anywhere else word for word in program.command])
        program.wait_ready(servers.START_TIMEOUT_S)

    def _number(self, wanted: str) -> int:
        """From 0."""
        return [component(number) for number, _ in enumerate(self.hosts, 1)].index(wanted)

    def programs(self) -> list[Program]:
        all_of_them = (*self.hosts, self.proxy, self.authserver, self.behind.program)
        return [program for program in all_of_them if program]


@dataclass(frozen=True)
class ReadyCluster:
    """A store that has started; see system.Prepared."""

    stage: Stage
    programs: Programs
    store: Store
    work: Path

    @contextmanager
    def running(self, cell: Cell, pinning: Pinning, site: Site) -> Iterator[RunningCluster]:
        how = self.stage.cluster
        assert how  # a stage of this system has one
        if not HAPROXY.found():
            raise Failed(f"haproxy is not installed (package {HAPROXY.package})")
        site.logs.mkdir(parents=True, exist_ok=True)
        if self.store.program:
            self.store.program.move_to(pinning.cores["store"])
        spread = names.spread(sorted(os.listdir(site.root)), how.hosts, site.logs)
        with ExitStack() as stack:
            groups = (
                Group(name="host", count=how.hosts, link=how.link),
                Group(name="proxy", count=1, link=how.proxy_link),
            )
            cables = stack.enter_context(nodes.laid(groups, "", site.logs))
            roots = stack.enter_context(names.made(self.work, site.root, _own(how, spread)))
            start = _Starter(self, cell, pinning, site, stack, cables)
            authserver, auth_address = start.authserver()
            limits = Limits(cores=how.cores, period_s=_PERIOD_S)
            parts = [stack.enter_context(control_group.limited(limits, self.work)) for _ in roots]
            memory = limit_bytes(site.root, how.in_memory)
            started = [
                start.host(number, root, part, auth_address, memory)
                for number, (root, part) in enumerate(zip(roots, parts))
            ]
            user, password = f"lab-{secrets.token_hex(8)}", secrets.token_hex(16)
            servers.make_account(started[0][1], user, password)
            hosts = [
                Behind(number, program.further_address("http"))
                for number, (program, _) in enumerate(started, 1)
            ]
            proxy, listen, configuration = start.proxy(hosts)
            yield RunningCluster(
                cell=cell,
                behind=self.store,
                authserver=authserver,
                hosts=[program for program, _ in started],
                native=[native for _, native in started],
                proxy=proxy,
                address=listen,
                user=user,
                password=password,
                spread=spread,
                cables=cables,
                configuration=configuration,
            )


def _own(how: Cluster, spread: Spread) -> list[set[str]]:
    """The names that each host has as its own."""
    if how.is_same:
        return [set(spread.with_all)] * how.hosts
    return [spread.of_host(number) for number in range(1, how.hosts + 1)]


@dataclass(frozen=True)
class _Starter:
    """Starts the programs of a cluster. They are stopped, the last one first, with the stack."""

    ready: ReadyCluster
    cell: Cell
    pinning: Pinning
    site: Site
    stack: ExitStack
    cables: NodesHere

    def authserver(self) -> tuple[Program, Address]:
        """Where the lab is, on the address that the hosts see."""
        flags = [*servers.authserver_flags(self.ready.store.authserver_flags, OUR_ADDRESS)]
        command = [str(self.ready.programs.path("authserver")), *flags]
        place, cores = Place(), self.pinning.cores["authserver"]
        program = self._started(
            place, "authserver", [*command, *self.ready.stage.authserver], cores
        )
        return program, program.wait_ready(servers.START_TIMEOUT_S)

    def host(
        self, number: int, root: Path, part: ControlGroup, auth: Address, memory_bytes: int
    ) -> tuple[Program, Address]:
        """number is from 0. Its start is not limited: the part is."""
        anywhere = str(Address(address(number), 0))
        flags = servers.fileserver_flags(auth, root, address(number))
        flags += ["--http-listen", anywhere, "--telemetry-listen", anywhere]
        flags += ["--trusted-proxy", address(self._proxy), "--memory-limit", str(memory_bytes)]
        flags += ["--evict", "off"]  # each host has its own files first
        command = [*part.prefix, str(self.ready.programs.path("fileserver")), *flags]
        program = self._started(
            self.cables.places[number],
            component(number + 1),
            [*command, *self.ready.stage.fileserver],
            self.pinning.cores["fileserver"],
        )
        return program, program.wait_ready(servers.START_TIMEOUT_S)

    def proxy(self, hosts: Sequence[Behind]) -> tuple[Program, Address, str]:
        """In front of them, with its configuration."""
        listen = Address(address(self._proxy), PROXY_PORT)
        text = haproxy.configuration(listen, hosts)
        file = self.site.logs / f"{self.cell.slug}.haproxy.cfg"
        file.write_text(text, encoding="utf-8")
        place = self.cables.places[self._proxy]
        program = self._started(place, "proxy", names.command(file), ())
        names.wait_until_it_listens(program, listen)
        return program, listen, text

    @property
    def _proxy(self) -> int:
        """The number of its node, behind those of the hosts."""
        return len(self.cables.places) - 1

    def _started(self, place: Place, name: str, command: list[str], cores: Cores) -> Program:
        log = self.site.logs / f"{self.cell.slug}.{name}.log"
        log.unlink(missing_ok=True)
        program = place.start(name, command, log, cores=cores)
        self.stack.callback(program.stop)
        return program


class ClusterSystem:
    """See system.System."""

    def fetch(self, work: Path) -> None:
        """haproxy is installed by `scripts/setup lab`, not downloaded."""

    @contextmanager
    def prepared(
        self, stage: Stage, programs: Programs, work: Path, cores: Cores
    ) -> Iterator[ReadyCluster]:
        store = stores.start(stage.store, work / "stores", cores)
        try:
            yield ReadyCluster(stage, programs, store, work)
        finally:
            store.stop()
