"""A node of a cluster is killed under load: no answer is wrong, and no account is lost.

Three nodes of Galera, and two fileservers with an authserver each, which prefer different nodes.
Clients of both contend for the same names.
"""

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import attacked
from attacked import Restartable
from client import Client
from galera import Cluster, changes_wait, provider
from history import Operation, body_of, wrong_answers
from lost_accounts import lost_accounts
from mixed_load import MixedLoad
from promise import Bench, Figure, Promise, broken
from tree import Mutation
from waiting import eventually

_CHAINS = 2
_CLIENTS = 12
_FILE = "file.txt"
_PROGRESS_S = 120.0
_BACK_S, _BACK_SHORT_S = 5, 60
_WITHHELD_S = 1.0
_DURABLE = "on disk before OK (InnoDB), and sent to every other node (Galera)"
_SHOWN = 3


@dataclass
class _Seen:
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lost: int = 0
    losers: Counter[str] = field(default_factory=Counter)  # what they hear before a node is killed
    back_s: list[float] = field(default_factory=list)


class _Scene:
    def __init__(self, bench: Bench, stack: ExitStack) -> None:
        folder = Path(tempfile.mkdtemp(prefix="galera", dir=bench.folder))
        root = folder / "files"
        root.mkdir()
        (root / _FILE).write_bytes(body_of(_FILE, 1))
        self.cluster = Cluster(folder, stack)
        self.authservers: list[Restartable] = []
        fileservers: list[Restartable] = []
        for number in range(_CHAINS):
            flags = [*self.cluster.authserver_flags(number), "--password-scheme", "plain"]
            log = folder / f"authserver-{number}.log"
            authserver = Restartable(bench.programs, "authserver", flags, log)
            stack.callback(authserver.close)
            self.authservers.append(authserver)
            flags = ["--auth", str(authserver.address), "--root", str(root)]
            log = folder / f"fileserver-{number}.log"
            environment = attacked.UNTHROTTLED
            fileservers.append(Restartable(bench.programs, "fileserver", flags, log, environment))
            stack.callback(fileservers[-1].close)
        self._addresses = [one.address for one in fileservers]
        self._folder = folder

    def begin_load(self, stack: ExitStack) -> None:
        self.load = MixedLoad(self._addresses, [_FILE], self._folder, _CLIENTS)
        stack.callback(self.load.close)

    def wait_for_progress(self, oks: int) -> None:
        before = [self.load.oks(chain) for chain in range(_CHAINS)]
        eventually(
            lambda: all(self.load.oks(chain) >= before[chain] + oks for chain in range(_CHAINS)),
            "the clients of both fileservers make progress",
            _PROGRESS_S,
        )


@contextmanager
def _scene(bench: Bench) -> Iterator[tuple[_Scene, ExitStack]]:
    with ExitStack() as stack:
        yield _Scene(bench, stack), stack


def _look_up_on_a_node_that_lags(scene: _Scene) -> None:
    """What one node has acknowledged is asked for at another one, which has not carried it out."""
    clients = [Client(one.address) for one in scene.authservers]
    answers: list[str] = []
    late = threading.Thread(target=lambda: answers.append(str(clients[1].ask("auth:early:pw"))))
    with changes_wait(scene.cluster.nodes[1]):
        assert clients[0].ask("new:early:pw") == "OK"
        late.start()
        late.join(_WITHHELD_S)
    late.join()
    for client in clients:
        client.close()
    assert answers == ["OK"], f"an account that another node has acknowledged: {answers}"


def _kill_one(scene: _Scene, number: int, oks: int, seen: _Seen) -> None:
    scene.wait_for_progress(oks)
    killed_at = time.monotonic()
    scene.cluster.nodes[number].kill()
    scene.wait_for_progress(oks)
    operations = scene.load.stop()
    seen.answers.update(one.answer for one in operations)
    seen.wrong += wrong_answers(operations)
    made = [(one.name, one.secret) for one in operations if (one.kind, one.answer) == ("new", "OK")]
    seen.acknowledged += len(made)
    seen.lost += len(lost_accounts(scene.authservers[number].address, made))
    seen.losers.update(_losers(operations, killed_at))
    seen.back_s.append(
        min(
            one.completed - killed_at
            for one in operations
            if (one.kind, one.answer) == ("new", "OK") and one.invoked > killed_at
        )
    )


def _losers(operations: list[Operation], until: float) -> Iterator[str]:
    for one in operations:
        if one.kind == "new" and one.answer != "OK" and one.completed < until:
            yield one.answer


def measure(bench: Bench) -> Figure:
    provider()
    seen = _Seen()
    kills = bench.scaled(6, 1)
    for number in range(kills):
        with _scene(bench) as (scene, stack):
            log = scene.authservers[0].log()
            assert _DURABLE in log, f"the start does not say what is durable: {log}"
            _look_up_on_a_node_that_lags(scene)
            scene.begin_load(stack)
            _kill_one(scene, number % _CHAINS, bench.scaled(3_000, 500), seen)
    return _figure(bench, seen)


def _figure(bench: Bench, seen: _Seen) -> Figure:
    told = seen.losers["exists"]
    text = (
        f"Galera, {len(seen.back_s)} kills: {len(seen.wrong)} wrong of "
        f"{seen.answers.total():,} answers ({seen.answers['OK']:,} OK, "
        f"{seen.answers['unavailable']:,} unavailable); {seen.lost} of {seen.acknowledged:,} "
        f"accounts lost; {told:,} of {seen.losers.total():,} losers were told `exists`; "
        f"an account is made again after {max(seen.back_s):.1f} s"
    )
    is_back = max(seen.back_s) <= (_BACK_SHORT_S if bench.is_short else _BACK_S)
    is_kept = not seen.wrong and not seen.lost and told == seen.losers.total() and is_back
    return Figure(is_kept, "; ".join([text, *seen.wrong[:_SHOWN]]))


_LAGGING = Mutation(
    "a-node-tells-what-it-has-already",
    "authserver/stores/mysql_link.cpp",
    "wsrep_sync_wait = 1",
    "wsrep_sync_wait = 0",
)


def control(bench: Bench) -> Figure:
    """An authserver that does not wait until its node has what the others have acknowledged."""
    provider()
    with _scene(broken(bench, _LAGGING, "authserver")) as (scene, _):
        _look_up_on_a_node_that_lags(scene)
    return Figure(True, "nobody noticed that a node has not what another one has acknowledged")


PROMISE = Promise("a lost node takes nothing with it", measure, control)
