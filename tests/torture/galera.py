"""A Galera cluster: three MariaDB servers on one port of three addresses of loopback.

A cluster is started as its administrator would, but no data is sent to a node that joins: all begin
with the same.
"""

import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import promise  # noqa: F401  # lets us import from the other folders of tests
from databases import MariaDb
from promise import Skip
from waiting import eventually

from rig.errors import Failed
from rig.host import free_port

NODES = 3
_PROVIDERS = [
    Path("/usr") / folder / "galera" / "libgalera_smm.so"
    for folder in ("lib", "lib64", "lib/galera-4", "lib64/galera-4")
]
# As docs/stores.md advises: a node that is gone is given up after two seconds.
_EVICTION = "evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT2S"
_JOINED_S = 120.0


def provider() -> Path:
    """The library of Galera. Skip where there is none."""
    for path in _PROVIDERS:
        if path.exists() and shutil.which("mariadbd"):
            return path
    raise Skip("no Galera is installed (package galera-4)")


def _address(number: int) -> str:
    return f"127.0.0.{1 + number}"


class _Node(MariaDb):
    """The first one is installed. The others begin with its data, and its accounts."""

    def __init__(self, folder: Path, first: MariaDb | None = None) -> None:
        self._first = first
        self._is_made = first is None
        self.is_alone = first is None
        super().__init__(folder)
        self._is_made = True
        if first:
            self.port = first.port

    def install(self) -> None:
        if self._first:
            shutil.copytree(self._first.data, self.data)
        else:
            super().install()

    def start(self) -> None:
        if self._is_made:
            super().start()

    def setup(
        self, *flags: str, password_file: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        if self._first:
            return subprocess.CompletedProcess([], 0)
        return super().setup(*flags, password_file=password_file)

    def _wait_until_it_answers(self) -> None:
        if self.is_alone:
            super()._wait_until_it_answers()


def _end(node: MariaDb) -> None:
    """A node that began without a transfer of data does not end when it is asked to."""
    if node.is_running():
        node.kill()
    node.close()


class Cluster:
    """Its nodes, each with the accounts of all."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        library = provider()
        self._group, self._transfer = free_port(), free_port()
        first = _Node(folder / "node0")
        stack.callback(_end, first)
        self.nodes = [first]
        self.port = first.port
        self._start(first, library, 0, "--wsrep-new-cluster")
        eventually(lambda: _status(first) == ["1", "ON"], "a cluster of one", _JOINED_S)
        first.stop()
        for number in range(1, NODES):
            self.nodes.append(_Node(folder / f"node{number}", first))
            stack.callback(_end, self.nodes[-1])
        first.is_alone = False
        self._start_together(library)
        eventually(
            lambda: all(_status(node) == [str(NODES), "ON"] for node in self.nodes),
            "all nodes have joined",
            _JOINED_S,
        )

    def _start_together(self, library: Path) -> None:
        """As after a power cut of all. They know from a file which nodes were there."""
        members = [uuid.uuid4() for _ in self.nodes]
        view = [f"view_id: 3 {members[0]} {NODES}", "bootstrap: 0"]
        view += [f"member: {member} 0" for member in members]
        for node, member in zip(self.nodes, members):
            lines = [f"my_uuid: {member}", "#vwbeg", *view, "#vwend", ""]
            (node.data / "gvwstate.dat").write_text("\n".join(lines))
        for number, node in enumerate(self.nodes):
            self._start(node, library, number)

    def authserver_flags(self, first: int) -> list[str]:
        """For one that prefers this node."""
        order = [_address((first + step) % NODES) for step in range(NODES)]
        return [*self.nodes[0].authserver_flags, "--mysql-host", ",".join(order)]

    def _start(self, node: MariaDb, library: Path, number: int, *more: str) -> None:
        where = _address(number)
        group = ",".join(f"{_address(each)}:{self._group}" for each in range(NODES))
        options = (
            f"gmcast.listen_addr=tcp://{where}:{self._group};"
            f"ist.recv_addr={where}:{self._transfer};gcache.size=32M;{_EVICTION}"
        )
        node.restart(
            f"--bind-address={where}",
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            f"--wsrep-provider={library}",
            f"--wsrep-provider-options={options}",
            f"--wsrep-cluster-address=gcomm://{group}",
            f"--wsrep-node-address={where}",
            *more,
        )


def _status(node: MariaDb) -> list[str]:
    """How many nodes it sees, and whether it carries out statements. Empty if it lets nobody in."""
    try:
        return node.ask(
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN"
            " ('wsrep_cluster_size', 'wsrep_ready') ORDER BY VARIABLE_NAME"
        ).split()
    except Failed:
        return []


@contextmanager
def changes_wait(node: MariaDb) -> Iterator[None]:
    """Meanwhile the node gets what others commit, and does not carry it out."""
    holder = subprocess.Popen(
        ["mysql", "--no-defaults", f"--socket={node.socket}", "--user=root", "--unbuffered", "-N"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin and holder.stdout
    try:
        holder.stdin.write("FLUSH TABLES WITH READ LOCK; SELECT 'held';\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.stdin.close()
        holder.wait()
