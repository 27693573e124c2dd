"""Three Docker engines on this host, each a machine to the others, joined into a swarm.

A node has namespaces of its own for its network, mounts, processes and name. The end of its first
process is the end of all its containers, as when a machine loses its power. A bridge in a network
namespace that nobody else has joins them.
"""

import atexit
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from engine import PLAIN, run
from needs import missing
from waiting import eventually

COUNT = 3
HERE = Path(__file__).resolve().parent
GROUPS = Path("/sys/fs/cgroup")
READY_WITHIN_S = 60.0
NEW_NAMESPACES = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc"]
DIES_WITH_US = ["setpriv", "--pdeathsig=KILL"]
# An address that only the namespaces know.
ADDRESS = "192.168.77.{}"


def why_not() -> str:
    """Why this host cannot have such nodes. Empty if it can."""
    if os.geteuid() != 0:
        return "only root can start engines"
    if reason := missing("dockerd", "ip", "nsenter", "unshare"):
        return reason
    tried = ["unshare", *NEW_NAMESPACES, "mount", "-t", "sysfs", "sysfs", "/sys"]
    refused = subprocess.run(tried, capture_output=True, text=True, check=False).stderr.strip()
    return f"no namespaces: {refused}" if refused else ""


class Node:
    """One engine. The caller must call `close`."""

    def __init__(self, folder: Path, number: int, hub: int) -> None:
        """`hub` is a process in the network namespace of the bridge."""
        self.name = f"node-{number}"
        self.address = ADDRESS.format(number)
        # The name is that of the node's control groups too.
        self.folder = folder / f"{folder.name}-{self.name}"
        self.folder.mkdir()
        (self.folder / "engine.json").write_text("{}", encoding="ascii")
        self._hub = hub
        # All that it had, by their inodes, and until when: the kernel gives the numbers again.
        self.namespaces: dict[int, float] = {}
        self._process: subprocess.Popen[str] | None = None

    @property
    def env(self) -> dict[str, str]:
        """For docker commands that shall reach this engine."""
        return {
            "PATH": PLAIN["PATH"],
            "HOME": PLAIN["HOME"],
            "DOCKER_HOST": f"unix://{self.folder}/socket",
        }

    def docker(self, *words: str, check: bool = True, stdin: str = "") -> str:
        """Returns the output of a docker command on this node, as `run` does."""
        return run("docker", *words, env=self.env, check=check, stdin=stdin)

    def in_network_of(self, container: str, *words: str) -> None:
        """Runs a command of this host in the network of a container."""
        assert self._process
        spaces = f"/proc/{self._process.pid}/ns"
        inside = ["nsenter", f"--mount={spaces}/mnt", f"--pid={spaces}/pid_for_children"]
        process = self.docker("inspect", "--format", "{{.State.Pid}}", container).strip()
        run(*inside, "nsenter", "--target", process, "--net", *words)

    def start(self) -> None:
        """Returns once the engine answers."""
        words = [str(HERE / "node"), self.name, self.address, str(self.folder)]
        self._process = subprocess.Popen(
            [*DIES_WITH_US, "unshare", *NEW_NAMESPACES, "--kill-child", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin and self._process.stdout
        assert self._process.stdout.readline() == "has namespaces\n", "unshare failed"
        self.namespaces |= dict.fromkeys(namespaces_of(self._process.pid), math.inf)
        port = f"{self.name}-{self._process.pid}"
        here = ["nsenter", f"--net=/proc/{self._hub}/ns/net", "ip", "link"]
        there = ["peer", "name", "eth0", "netns", str(self._process.pid)]
        run(*here, "add", port, "type", "veth", *there)
        run(*here, "set", port, "master", "hub", "up")
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        eventually(self._answers, f"the engine of {self.name} answers", READY_WITHIN_S)

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, f"{self.name} ended: {self.log()[-2000:]}"
        return bool(self.docker("info", "--format", "{{.Driver}}", check=False).strip())

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """Ends all its processes at once. Nothing is sent to anybody."""
        if not self._process:
            return
        end = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.namespaces = {inode: min(until, end) for inode, until in self.namespaces.items()}
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        self._process = None

    def close(self) -> None:
        """Also removes its control groups, which outlive what was in them."""
        self.kill()
        roots = [GROUPS, *(path for path in GROUPS.iterdir() if path.is_dir())]
        for root in roots:
            group = root / self.folder.name
            if group.is_dir():
                eventually(partial(removed, group), f"{group} is removed")


def namespaces_of(process: int) -> set[int]:
    """The inodes of its namespaces: those of its children for processes."""
    folder = Path(f"/proc/{process}/ns")
    return {os.stat(folder / kind).st_ino for kind in ("net", "mnt", "pid_for_children")}


def started_at(process: Path) -> float:
    """When a process started, as CLOCK_BOOTTIME has it. `process` is its folder in /proc."""
    behind_name = (
        (process / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
    )
    return int(behind_name.split()[19]) / os.sysconf("SC_CLK_TCK")


def removed(group: Path) -> bool:
    """Whether the group and those below it could be removed: the kernel may need a moment.

    The processes of a paused container do not end before they are thawed.
    """
    with contextlib.suppress(OSError):
        for folder, _, files in os.walk(group, topdown=False):
            if "freezer.state" in files:
                Path(folder, "freezer.state").write_text("THAWED", encoding="ascii")
            os.rmdir(folder)
    return not group.exists()


class Swarm:
    """The nodes, all of them managers. The first one made the swarm."""

    def __init__(self, images: list[str]) -> None:
        """Every node gets the `images` of the engine that tests/compose/run uses."""
        self._stack = contextlib.ExitStack()
        atexit.register(self.close)  # after Ctrl-C unittest does not clean up
        self.nodes: list[Node] = []
        with contextlib.ExitStack() as unless_started:
            unless_started.callback(self.close)
            self._start(images)
            unless_started.pop_all()

    def _start(self, images: list[str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="turnstile-swarm-"))
        self._stack.callback(shutil.rmtree, self.folder)
        hub = self._stack.enter_context(network())
        for number in range(1, COUNT + 1):
            node = Node(self.folder, number, hub)
            self._stack.callback(node.close)
            self.nodes.append(node)
            node.start()
        self._load(images)
        self._join()

    def _load(self, images: list[str]) -> None:
        for image in images:
            if not run("docker", "image", "ls", "--quiet", image):
                run("docker", "image", "pull", "--quiet", image)
        packed = str(self.folder / "images.tar")
        run("docker", "image", "save", "--output", packed, *images)
        loading = [
            subprocess.Popen(
                ["docker", "image", "load", "--quiet", "--input", packed],
                env=node.env,
                stdout=subprocess.DEVNULL,
            )
            for node in self.nodes
        ]
        assert [one.wait() for one in loading] == [0] * COUNT
        os.unlink(packed)

    def _join(self) -> None:
        first, *others = self.nodes
        listens = ["--listen-addr", "0.0.0.0:2377", "--advertise-addr"]
        first.docker("swarm", "init", *listens, first.address)
        token = first.docker("swarm", "join-token", "--quiet", "manager").strip()
        for node in others:
            node.docker(
                "swarm", "join", *listens, node.address, "--token", token, f"{first.address}:2377"
            )
        self.wait_for_nodes(COUNT)

    def wait_for_nodes(self, ready: int) -> None:
        """Until the first node knows of so many that are ready."""
        eventually(lambda: self.ready() == ready, f"{ready} nodes are ready", READY_WITHIN_S)

    def ready(self) -> int:
        told = self.nodes[0].docker("node", "ls", "--format", "{{json .}}", check=False)
        rows = [json.loads(line) for line in told.splitlines()]
        return sum(row["Status"] == "Ready" for row in rows)

    def close(self) -> None:
        self._stack.close()


@contextlib.contextmanager
def network() -> Iterator[int]:
    """A network namespace with a bridge. Returns a process in it."""
    script = "ip link add hub type bridge && ip link set hub up && echo up && exec sleep infinity"
    hub = subprocess.Popen(
        [*DIES_WITH_US, "unshare", "--net", "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert hub.stdout and hub.stdout.readline() == "up\n", "no network namespace"
        yield hub.pid
    finally:
        hub.send_signal(signal.SIGKILL)
        hub.communicate()


def assert_nothing_left(swarm: Swarm) -> None:
    """After close(): no namespace, mount, control group, link, process or folder of the nodes."""
    name = swarm.folder.name
    ours = [node.namespaces for node in swarm.nodes]
    left = [f"folder {path}" for path in [swarm.folder] if path.exists()]
    left += [
        f"control group {path}" for path in [*GROUPS.glob(f"{name}*"), *GROUPS.glob(f"*/{name}*")]
    ]
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    left += [f"mount {line}" for line in mounts.splitlines() if name in line]
    links = run("ip", "-o", "link")
    left += [f"link {line}" for line in links.splitlines() if "node-" in line]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if name.encode() in (process / "cmdline").read_bytes():
                left.append(f"process {process.name}")
            for kind in ("net", "mnt", "pid"):
                inode = os.stat(process / "ns" / kind).st_ino
                if any(started_at(process) < one.get(inode, 0) for one in ours):
                    left.append(f"{kind} namespace of process {process.name}")
    assert not left, "\n".join(left)
