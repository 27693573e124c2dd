"""Every answer is right while servers are killed and paused and the network between them fails.

Two fileservers, each with an authserver of its own, share a store. Faults are put between the
parts of the second one. Clients of both contend for the same names.
"""

import itertools
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attacked
from attacked import Restartable
from fault_proxy import FAULTS, FaultProxy
from history import Operation, body_of, wrong_answers
from mixed_load import MixedLoad
from promise import Bench, Figure, Promise, broken
from tree import Mutation
from waiting import eventually

from rig.processes import Address

_CHAINS = 2
_CLIENTS = 12
_FILES = [f"file-{number}.txt" for number in range(20)]
_REWRITE_EACH_S = 0.01
_PROGRESS_S = 300.0
_STORE_TIMEOUT_S, _AUTH_TIMEOUT_S = 1, 2
_BEYOND_S = 0.5  # how much the long delays of a proxy exceed the time-out of who waits
_SHOWN = 3
_CONTROLS = 20  # rounds at most; nearly always the first one is enough

Attack = Callable[["_Scene"], None]


class _Writer(threading.Thread):
    """Replaces the files with new versions, one after the other, until stop()."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._is_ending = threading.Event()
        root.mkdir()
        for name in _FILES:
            self._replace(name, 0)

    def run(self) -> None:
        for version in itertools.count(1):
            for name in _FILES:
                if self._is_ending.wait(_REWRITE_EACH_S):
                    return
                self._replace(name, version)

    def stop(self) -> None:
        self._is_ending.set()
        self.join()

    def _replace(self, name: str, version: int) -> None:
        draft = self._root.parent / "draft"
        draft.write_bytes(body_of(name, version))
        draft.rename(self._root / name)


class _Scene:
    """All servers, and the clients."""

    def __init__(self, bench: Bench, stack: ExitStack, kind: str) -> None:
        self.bench = bench
        self._stack = stack
        folder = Path(tempfile.mkdtemp(prefix=kind, dir=bench.folder))
        root = folder / "files"
        self.store, self._flags = attacked.start_store(kind, folder / "store")
        if self.store:
            stack.callback(self.store.close)
        writer = _Writer(root)
        self.proxies: dict[str, FaultProxy] = {}
        self.authservers: list[Restartable] = []
        self.fileservers: list[Restartable] = []
        for files in ("prefetch", "disk"):
            self._add_chain(folder, ["--root", str(root), "--files", files])
        addresses = [
            self.fileservers[0].address,
            self._proxied("client-fileserver", self.fileservers[1].address, _AUTH_TIMEOUT_S),
        ]
        self.load = MixedLoad(addresses, _FILES, folder, _CLIENTS)
        stack.callback(self.load.close)
        writer.start()
        stack.callback(writer.stop)
        self.restarts: list[tuple[float, int]] = []  # when, and which chain

    def _add_chain(self, folder: Path, file_flags: list[str]) -> None:
        number = len(self.authservers)
        flags = self._flags
        if number == 1 and self.store:
            store = Address("127.0.0.1", self.store.port)
            proxy = self._proxied("authserver-store", store, _STORE_TIMEOUT_S)
            flags = attacked.through(proxy, self.store, flags)
        model = "process" if number else "thread"
        flags = [*flags, "--model", model, "--store-timeout", str(_STORE_TIMEOUT_S)]
        flags += ["--password-scheme", "plain"]
        authserver = self._started("authserver", flags, folder / f"authserver-{number}.log")
        auth = authserver.address
        if number == 1:
            auth = self._proxied("fileserver-authserver", auth, _AUTH_TIMEOUT_S)
        flags = ["--auth", str(auth), "--auth-timeout", str(_AUTH_TIMEOUT_S), *file_flags]
        fileserver = self._started("fileserver", flags, folder / f"fileserver-{number}.log")
        self.authservers.append(authserver)
        self.fileservers.append(fileserver)

    def _started(self, name: str, flags: list[str], log: Path) -> Restartable:
        server = Restartable(self.bench.programs, name, flags, log, attacked.UNTHROTTLED)
        self._stack.callback(server.close)
        return server

    def _proxied(self, tier: str, target: Address, timeout_s: float) -> Address:
        self.proxies[tier] = FaultProxy(target, timeout_s + _BEYOND_S)
        self._stack.callback(self.proxies[tier].close)
        return self.proxies[tier].address

    def wait_for_progress(self, oks: int) -> None:
        """Until the clients of each fileserver were told OK that often."""
        before = [self.load.oks(chain) for chain in range(_CHAINS)]
        eventually(
            lambda: all(self.load.oks(chain) >= before[chain] + oks for chain in range(_CHAINS)),
            "the clients of both fileservers make progress",
            _PROGRESS_S,
        )


def _kill_authserver(number: int) -> Attack:
    def attack(scene: _Scene) -> None:
        scene.authservers[number].kill()
        scene.restarts.append((time.monotonic(), number))
        scene.authservers[number].start()

    return attack


def _kill_store(scene: _Scene) -> None:
    """Its own start, and its recovery of what it has on the disk, do not count."""
    assert scene.store
    scene.store.kill()
    scene.store.start()
    scene.restarts += [(time.monotonic(), chain) for chain in range(_CHAINS)]


def _pause(part: str, number: int = 0) -> Attack:
    def attack(scene: _Scene) -> None:
        paused = scene.store if part == "store" else getattr(scene, part)[number]
        paused.pause()
        time.sleep(scene.bench.scaled(5, 2))
        paused.resume()

    return attack


def _fault(tier: str, fault: str, times: int) -> Attack:
    def attack(scene: _Scene) -> None:
        proxy = scene.proxies[tier]
        before = proxy.faults()
        proxy.set_fault(fault)
        try:
            eventually(lambda: proxy.faults() >= before + times, f"{fault} in {tier}", _PROGRESS_S)
        finally:
            proxy.set_fault("")

    return attack


def _attacks(bench: Bench, kind: str) -> list[Attack]:
    """In an order that mixes them, the same one in each run."""
    kills = bench.scaled(20, 2)
    attacks = [_kill_authserver(number % _CHAINS) for number in range(kills)]
    attacks += [_pause("authservers", 0), _pause("fileservers", 1)]
    tiers = ["client-fileserver", "fileserver-authserver"]
    if kind != "sqlite":
        attacks += [_kill_store] * kills
        attacks.append(_pause("store"))
        tiers.append("authserver-store")
    times = bench.scaled(40, 4)
    attacks += [
        _fault(tier, fault, times)
        for tier in tiers
        for fault in FAULTS
        if fault != "repeat" or tier == "fileserver-authserver"
    ]
    return attacks[::3] + attacks[1::3] + attacks[2::3]


@contextmanager
def _scene(bench: Bench, kind: str) -> Iterator[_Scene]:
    with ExitStack() as stack:
        yield _Scene(bench, stack, kind)


def _attacked(
    bench: Bench, kind: str, attacks: Sequence[Attack], answers: int
) -> tuple[list[Operation], list[float]]:
    """All operations, and how long each recovery took."""
    oks_each = answers // (16 * len(attacks))  # of each fileserver's clients, after each attack
    with _scene(bench, kind) as scene:
        scene.wait_for_progress(oks_each)
        for attack in attacks:
            attack(scene)
            scene.wait_for_progress(oks_each)
        while scene.load.answers() < answers:
            scene.wait_for_progress(oks_each)
        operations = scene.load.stop()
        return operations, [_recovery_s(operations, *restart) for restart in scene.restarts]


def _recovery_s(operations: Sequence[Operation], since: float, chain: int) -> float:
    """From the restart until the first OK to a client of that chain."""
    return min(
        one.completed - since
        for one in operations
        if one.answer == "OK" and one.completed > since and one.client % _CHAINS == chain
    )


def measure(bench: Bench) -> Figure:
    """On every store."""
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    recoveries: list[float] = []
    for number, kind in enumerate(attacked.KINDS):
        attacks = _attacks(bench, kind)
        if bench.is_short:  # a part for each store
            attacks = attacks[number :: len(attacked.KINDS)]
        operations, took = _attacked(bench, kind, attacks, bench.scaled(340_000, 5_000))
        wrong += wrong_answers(operations)
        counted.update(one.answer for one in operations)
        recoveries += took
    return _figure(bench, counted, wrong, recoveries)


def _figure(
    bench: Bench, counted: Counter[str], wrong: list[str], recoveries: list[float]
) -> Figure:
    """The time counts in a full run only: in CI the machine may be busy with other things."""
    lost = counted.pop("lost", 0)
    text = (
        f"{len(wrong)} wrong of {counted.total():,} answers ({counted['OK']:,} OK, "
        f"{counted['unavailable']:,} unavailable; {lost:,} more were lost)"
    )
    is_kept = not wrong
    if recoveries:
        median_s = statistics.median(recoveries)
        is_kept = is_kept and (median_s < 1 or bench.is_short)
        text += f"; {len(recoveries)} recoveries, median {median_s:.2f} s, "
        text += f"longest {max(recoveries):.2f} s"
    return Figure(is_kept, "; ".join([text, *wrong[:_SHOWN]]))


_LATE_ANSWERS = Mutation(
    "fileserver-reuses-connections-that-timed-out",
    "fileserver/auth/auth_client.cpp",
    "if (may_be_kept(outcome)) kept_.put(std::move(kept));",
    "kept_.put(std::move(kept));",
)


def control(bench: Bench) -> Figure:
    """A fileserver that takes late answers for the answers to other requests.

    A late answer may be right for the other request too, so this goes on until one is not.
    """
    bench = broken(bench, _LATE_ANSWERS, "fileserver")
    attacks = [_fault("fileserver-authserver", "delay", bench.scaled(400, 100))]
    counted: Counter[str] = Counter()
    for _ in range(_CONTROLS):
        operations, _ = _attacked(bench, "sqlite", attacks, 1000)
        counted.update(one.answer for one in operations)
        if wrong := [*wrong_answers(operations)]:
            break
    return _figure(bench, counted, wrong, [])


PROMISE = Promise("a wrong answer never happens", measure, control)
