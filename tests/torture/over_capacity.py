"""More clients than there is room for: each is served or told `busy`, and nobody suffers later."""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowd import Crowd
from processes import cpu_s
from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import files, loadgen, servers
from rig.processes import Address, Program

_USER, _PASSWORD = "fast", "fast-password"
_LIMIT = 100
_ANSWER_S = 60  # nobody waits longer
_RECOVERY_S = 1
_NOBODY_ELSE = 64123  # a user id without processes, for a limit that counts those of a user
_RECOVERED_FULL, _RECOVERED_SHORT = 0.9, 0.2
_MOST_CPU = 0.05
_QUIET_S = 10  # on a loaded machine the rush itself may last for seconds


def _check_answers(what: str, crowd: Crowd, allowed: set[str]) -> None:
    """Each was served or told `busy`; the server did not cut or forget one."""
    if not crowd.is_answered():
        raise AssertionError(f"{what}: some are not answered within {_ANSWER_S} s")
    if wrong := {reply: count for reply, count in crowd.replies.items() if reply not in allowed}:
        raise AssertionError(f"{what}: neither served nor told so: {wrong}")


# ---------------------------------------------------------------- --max-connections


@contextmanager
def _fileserver(bench: Bench) -> Iterator[Address]:
    root = bench.folder / "files"
    files.make(root, ["10KB"], 100)
    accounts = bench.folder / "accounts.db"
    accounts.unlink(missing_ok=True)
    with servers.running(
        bench.programs,
        store_flags=["--sqlite-path", str(accounts)],
        root=root,
        logs=bench.folder,
        fileserver=servers.Server(flags=[*bench.model_flags, "--max-connections", str(_LIMIT)]),
    ) as pair:
        servers.make_account(pair.address, _USER, _PASSWORD)
        yield pair.address


def _throughput(bench: Bench, address: Address) -> float:
    flags = ["get", "--server", str(address), "--threads", "4", "--user", _USER]
    flags += ["--file", "10KB%d.txt", "--unique", "25"]
    program, log = bench.programs.path("loadgen"), bench.folder / "loadgen.log"
    run = loadgen.run(program, flags, log, password=_PASSWORD, seconds=1)
    return float(run["throughput_rps"])


def _rush(address: Address, offered: int) -> Crowd:
    """All come at once and stay until the last one is answered."""
    crowd = Crowd(address, offered)
    crowd.run(_ANSWER_S)
    crowd.close()
    _check_answers(f"{offered} at once", crowd, {"OK", "busy"})
    served = crowd.replies["OK"]
    if not 0 < served <= _LIMIT:
        raise AssertionError(f"{served} of {offered} are served at once, the limit is {_LIMIT}")
    return crowd


def _over_the_limit(bench: Bench) -> Figure:
    """Rushes against --max-connections, each followed by a second of rest and one of load."""
    offered, rounds = bench.scaled(5000, 1000), bench.scaled(20, 2)
    least = _RECOVERED_SHORT if bench.is_short else _RECOVERED_FULL
    served, recovered = 0, []
    with _fileserver(bench) as address:
        _throughput(bench, address)  # warm
        for _ in range(rounds):
            before = _throughput(bench, address)
            served += _rush(address, offered).replies["OK"]
            time.sleep(_RECOVERY_S)
            recovered.append(_throughput(bench, address) / before)
    share = statistics.median(recovered)
    return Figure(
        share >= least,
        f"{rounds} x {offered} against --max-connections {_LIMIT}: {served} served, "
        f"{rounds * offered - served} busy, throughput {share:.0%} after {_RECOVERY_S} s "
        f"(at least {least:.0%})",
    )


# ---------------------------------------------------------------- descriptors and processes


@dataclass(frozen=True)
class _Kind:
    name: str
    program: str
    flags: tuple[str, ...] = ()


_KINDS = (
    _Kind("fileserver", "fileserver"),
    _Kind("authserver", "authserver"),
    _Kind("authserver, processes", "authserver", ("--model", "process")),
    _Kind("fileserver, no spare threads", "fileserver", ("--spare-threads", "0")),
    _Kind("authserver, no spare threads", "authserver", ("--spare-workers", "0")),
    _Kind(
        "authserver, no spare processes",
        "authserver",
        ("--model", "process", "--spare-workers", "0"),
    ),
)
_NO_DESCRIPTORS = ("prlimit", "--nofile=64")
_NO_PROCESSES = (
    *("prlimit", "--nproc=40", "setpriv", "--pdeathsig", "KILL"),
    *(f"--reuid={_NOBODY_ELSE}", f"--regid={_NOBODY_ELSE}", "--clear-groups"),
)


def _cpu_while_waiting(pid: int, crowd: Crowd) -> float:
    """The share of a core in the first quiet second after the resources are used up."""
    deadline, share = time.monotonic() + _QUIET_S, 1.0
    while share > _MOST_CPU and time.monotonic() < deadline:
        before, start = cpu_s(pid), time.monotonic()
        crowd.run(1)
        time.sleep(max(0.0, start + 1 - time.monotonic()))
        share = max(0.0, cpu_s(pid) - before) / (time.monotonic() - start)
    return share


class _Shortage:
    """Servers with few resources, in a folder that another user can use."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self._bench, self._folder = bench, folder
        folder.chmod(0o755)
        for name in ("authserver", "fileserver"):
            shutil.copy(bench.programs.path(name), folder / name)
        (folder / "files").mkdir()

    def attack(self, kind: _Kind, limits: Sequence[str], offered: int) -> tuple[float, float]:
        """The server's share of a core while it waits for resources, and when it was back."""
        with ExitStack() as stack:
            server, address = self._start(stack, kind, limits)
            crowd = Crowd(address, offered)
            stack.callback(crowd.close)
            share = _cpu_while_waiting(server.pid, crowd)
            crowd.leave()
            crowd.run(_ANSWER_S)
            _check_answers(f"{kind.name} with {limits[1]}", crowd, {"OK", "busy", "unavailable"})
            return share, self._time_until_served(address)

    def _start(
        self, stack: ExitStack, kind: _Kind, limits: Sequence[str]
    ) -> tuple[Program, Address]:
        data = Path(tempfile.mkdtemp(dir=self._folder))
        if os.geteuid() == 0:
            os.chown(data, _NOBODY_ELSE, _NOBODY_ELSE)
        store = ["--store", "sqlite", "--sqlite-path", str(data / "accounts.db")]
        flags = servers.authserver_flags(store)
        if kind.program == "fileserver":
            _, behind = self._run(stack, "authserver", flags, ("prlimit",))
            flags = servers.fileserver_flags(behind, self._folder / "files")
        return self._run(stack, kind.program, [*flags, *kind.flags], limits)

    def _run(
        self, stack: ExitStack, name: str, flags: list[str], limits: Sequence[str]
    ) -> tuple[Program, Address]:
        log = self._bench.folder / f"{name}-short-of-resources.log"
        program = Program(name, [*limits, str(self._folder / name), *flags], log)
        stack.callback(program.stop)
        return program, program.wait_ready(60)

    def _time_until_served(self, address: Address) -> float:
        start = time.monotonic()
        while (reply := servers.ask(address, "ping")) != b"OK\n":
            if time.monotonic() - start > _ANSWER_S:
                raise AssertionError(f"a client is still told {reply!r} after the rush")
            time.sleep(0.01)
        return time.monotonic() - start


def _short_of(bench: Bench, limits: Sequence[str], kinds: Sequence[_Kind]) -> Figure:
    offered = bench.scaled(500, 150)
    with tempfile.TemporaryDirectory(prefix="torture-shortage-") as folder:
        shortage = _Shortage(bench, Path(folder))
        results = [shortage.attack(kind, limits, offered) for kind in kinds]
    cpu, back = max(share for share, _ in results), max(back_s for _, back_s in results)
    in_time = back <= (_ANSWER_S if bench.is_short else _RECOVERY_S)
    return Figure(
        cpu <= _MOST_CPU and in_time,
        f"{offered} clients with {limits[1][2:]}, {len(kinds)} kinds of servers: all are answered, "
        f"at most {cpu:.1%} of a core meanwhile, served again after {back:.2f} s",
    )


def measure(bench: Bench) -> Figure:
    kinds = _KINDS[:3] if bench.is_short else _KINDS
    parts = [_over_the_limit(bench), _short_of(bench, _NO_DESCRIPTORS, kinds)]
    if os.geteuid() == 0:
        parts.append(_short_of(bench, _NO_PROCESSES, kinds))
    text = "; ".join(part.text for part in parts)
    skipped = "" if os.geteuid() == 0 else "; the limit of processes needs root, not tested"
    return Figure(all(part.is_kept for part in parts), text + skipped)


_SILENT = Mutation(
    "over-the-limit-nothing-is-said",
    "lib/serve/acceptor.cpp",
    "net::send_now(fd.get(),",
    "net::send_now(-1,",
)
_SPINNING = Mutation(
    "accept-spins-without-descriptors",
    "lib/serve/acceptor.cpp",
    "base::pause_ms(kWaitMs);",
    "if (kWaitMs == 0) return;",
)


def control(bench: Bench) -> Figure:
    """A server that says nothing; in a full run also one that spins while descriptors are short."""
    try:
        with _fileserver(broken(bench, _SILENT, "fileserver")) as address:
            _rush(address, 1000)
        return Figure(True, "nobody noticed that refused clients are told nothing")
    except AssertionError as noticed:
        if bench.is_short:
            raise
        spinning = broken(bench, _SPINNING, "fileserver")
        figure = _short_of(spinning, _NO_DESCRIPTORS, _KINDS[:1])
        return Figure(figure.is_kept, f"{noticed}; {figure.text}")


PROMISE = Promise("over capacity is said, not suffered", measure, control)
