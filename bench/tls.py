"""TLS of our own against nginx's, against nginx in front of ours, and against clear text.

The cases are stages of the lab's experiment `tls`, with its servers and its flags. What is compared
is the CPU time for a request of the programs that a file passes. nginx asks nobody about a user,
and ours asks its authserver, whose CPU time is not counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from lab.kinds import TLS
from lab.kinds.tls import carried
from lab.observe.proc_processes import read_process
from lab.plan import catalog, pinning
from lab.plan.catalog import Cell
from lab.systems import known
from lab.systems.system import Running, Site
from rig import loadgen
from rig.cores import usable_cores
from rig.host import OPENSSL
from rig.stores import Store

from .peers import nginx
from .promise import Outcome, Promise, in_turns
from .system import Bench

_USERS, _USERS_OF_LARGE = 16, 8
_LARGE = "10MB"
_EACH = 1e6  # µs


@dataclass(frozen=True)
class _Served:
    """Servers of a stage, and the file that is fetched from them."""

    bench: Bench
    servers: Running
    size: str
    flags: tuple[str, ...]

    def cpu_us(self) -> float:
        """For a request. Failed when a request failed."""
        flags = ["get", "--server", str(self.servers.address), "--user", self.servers.user]
        users = _USERS_OF_LARGE if self.size == _LARGE else _USERS
        flags += ["--file", f"{self.size}1.txt", "--threads", str(users), *self.flags]
        before = self._used_s()
        result = loadgen.run(
            self.bench.programs.path("loadgen"),
            flags,
            self.bench.folder / "loadgen.log",
            password=self.servers.password,
            seconds=self.bench.seconds,
        )
        return (self._used_s() - before) * _EACH / float(result["requests"])

    def _used_s(self) -> float:
        pids = self.servers.process_ids().items()
        return carried({name: read_process(pid)["cpu_s"] for name, pid in pids})


@contextmanager
def _served(bench: Bench, name: str, size: str) -> Iterator[_Served]:
    stage, cores = catalog.stages()[name], usable_cores()
    how = stage.encryption
    assert how  # it is one of that experiment
    site = Site(root=bench.root, logs=bench.folder / "logs")
    cell = Cell(name, size, workload=TLS.name)
    unpinned = pinning.choose("none", cores)
    with (
        known.of(stage).prepared(stage, bench.programs, bench.folder, cores) as prepared,
        prepared.running(cell, unpinned, site) as servers,
    ):
        yield _Served(bench, servers, size, (*stage.loadgen, *how.loadgen))


@dataclass(frozen=True)
class CpuRatio:
    """What stage `ours` needs for a request, by what `theirs` does."""

    ours: str
    theirs: str
    size: str

    def __call__(self, bench: Bench, _: Store) -> Outcome:
        with (
            _served(bench, self.ours, self.size) as one,
            _served(bench, self.theirs, self.size) as other,
        ):
            for cold in (one, other):
                cold.cpu_us()
            mine, others, ratio = in_turns(bench, one.cpu_us, other.cpu_us)
        return Outcome(
            ratio, f"{mine:,.1f} us of {self.ours} against {others:,.1f} us of {self.theirs}"
        )


def missing() -> list[str]:
    return [*nginx.missing(), *([] if OPENSSL.found() else [OPENSSL.package])]


_promise = partial(Promise, at_most=True, missing=missing)
_OF_MODEL = {"thread": "threads", "event": "events"}

PROMISES = (
    *(
        _promise(
            f"tls-{size}-{model}",
            f"{_OF_MODEL[model]}, CPU of a GET of {size} in TLS, kept connections / nginx in TLS",
            limit,
            CpuRatio(f"tls-{model}", "tls-nginx", size),
        )
        for size, model, limit in (
            ("1KB", "thread", 1.2),
            ("1KB", "event", 0.8),
            ("100KB", "thread", 1.0),
            ("100KB", "event", 0.85),
            ("10MB", "thread", 1.0),
            ("10MB", "event", 1.0),
        )
    ),
    *(
        _promise(
            f"tls-new-{model}",
            f"{_OF_MODEL[model]}, CPU of a full handshake, ECDSA P-256, and 1KB / nginx in TLS",
            1.0,
            CpuRatio(f"tls-{model}-new", "tls-nginx-new", "1KB"),
        )
        for model in _OF_MODEL
    ),
    *(
        _promise(
            f"tls-{size}-{model}-proxy",
            f"{_OF_MODEL[model]}, CPU of a GET of {size} in TLS / behind nginx in TLS",
            0.35,
            CpuRatio(f"tls-{model}", f"tls-proxy-{model}", size),
        )
        for size in ("1KB", "100KB", "10MB")
        for model in _OF_MODEL
    ),
    *(
        _promise(
            f"tls-1KB-{model}-clear",
            f"{_OF_MODEL[model]}, CPU of a GET of 1KB, kept connections: in TLS / in clear",
            1.5,
            CpuRatio(f"tls-{model}", f"tls-{model}-clear", "1KB"),
        )
        for model in _OF_MODEL
    ),
)
