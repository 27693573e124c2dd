"""A stack on three real nodes keeps its promises while a node dies and while it is updated."""

import json
import os
import secrets
import sys
import tempfile
import unittest
from functools import partial
from pathlib import Path
from typing import Any

import nodes
from stack import deploy, image
from waiting import eventually

TORTURE = Path(__file__).resolve().parents[1] / "torture"
sys.path.append(str(TORTURE))

from history import Operation, body_of, wrong_answers  # noqa: E402
from swarm_clients import FILES  # noqa: E402

STACK = f"turnstile-test-{os.getpid()}-three"
WITHIN_S = 120.0
CLIENTS = 8
# In an update each request is answered within this time, with all its repetitions. If all servers
# of a kind ended at once, a new one would not be healthy before that.
ANSWERED_WITHIN_S = 10.0
SERVERS = ("authserver", "fileserver")
IMAGES = [image(program) for program in (*SERVERS, "setup")]
REDIS = "redis:8"
# The store is on the first node, which no test kills. All else is as docker/stack.yml has it.
SETTINGS = {
    "FILESERVERS": "3",
    "AUTHSERVERS": "3",
    "STORE_NODE": "node.hostname == node-1",
    "REDIS_IMAGE": REDIS,
    "PASSWORD_SCHEME": "plain",
    "MAKE_FILES": "--size 1KB --count 1",
}
# All clients have one address.
UNTHROTTLED = "tests/compose/unthrottled.yml"


class Load:
    """Clients in a container of the first node, until stop()."""

    def __init__(self, node: nodes.Node, folder: Path, name: str) -> None:
        self._node = node
        self._folder = folder / name
        self._folder.mkdir()
        self._name = f"load-{name}"
        mounts = [f"{self._folder}:/load", f"{Path(__file__).parent}:/compose:ro"]
        words = [f"--volume={mount}" for mount in (*mounts, f"{TORTURE}:/torture:ro")]
        words += ["--env=PYTHONPATH=/torture", "--env=PYTHONDONTWRITEBYTECODE=1"]
        words += [f"--network={STACK}_default", "--entrypoint=python3", image("setup")]
        script = ["/compose/swarm_clients.py", "/load", str(CLIENTS), f"{name}-"]
        node.docker("run", "--detach", "--name", self._name, *words, *script)

    def progress(self) -> dict[str, Any]:
        path = self._folder / "progress"
        if not path.exists():
            log = self._node.docker("logs", self._name, check=False)
            return {"answered": 0, "log": log}
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return told

    def wait_for_answers(self, more: int) -> None:
        """Until so many more requests are answered."""
        until = self.progress()["answered"] + more
        eventually(lambda: self.progress()["answered"] >= until, "clients are served", WITHIN_S)

    def stop(self) -> tuple[dict[str, Any], list[Operation]]:
        """Returns the last progress and all that was asked. Looks for all accounts first."""
        (self._folder / "stop").touch()
        path = self._folder / "history"
        eventually(path.exists, "the clients have ended", WITHIN_S)
        rows = json.loads(path.read_text(encoding="utf-8"))
        return self.progress(), [Operation(*row) for row in rows]

    def remove(self) -> None:
        self._node.docker("rm", "--force", self._name)


@unittest.skipIf(nodes.why_not(), nodes.why_not())
class ThreeNodes(unittest.TestCase):
    """All tests share the nodes and the stack."""

    swarm: nodes.Swarm
    first: nodes.Node
    placed_first: dict[str, list[str]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.swarm = nodes.Swarm([*IMAGES, REDIS])
        cls.addClassCleanup(nodes.assert_nothing_left, cls.swarm)
        cls.addClassCleanup(cls.swarm.close)
        cls.first = cls.swarm.nodes[0]
        cls.give_files()
        with tempfile.TemporaryDirectory() as passwords:
            Path(passwords, "store-password").write_text(secrets.token_hex(), encoding="ascii")
            deploy(STACK, passwords, cls.first.env | SETTINGS, "-f", UNTHROTTLED)
        cls.placed_first = cls.wait_for_replicas()

    @classmethod
    def give_files(cls) -> None:
        """The same files on each node."""
        folder = cls.swarm.folder / "files"
        folder.mkdir()
        for name in FILES:
            (folder / name).write_bytes(body_of(name, 1))
        for node in cls.swarm.nodes:
            mounts = [f"--volume={STACK}_files:/srv/files", f"--volume={folder}:/from:ro"]
            copied = ["-r", "/from/.", "/srv/files/"]
            node.docker("run", "--rm", *mounts, "--entrypoint=cp", image("setup"), *copied)

    @classmethod
    def wait_for_replicas(cls, nowhere: str = "") -> dict[str, list[str]]:
        """Until three of each server run, none on the node `nowhere`. Returns their nodes."""

        def placed(service: str) -> list[str]:
            found = sorted(cls.placed(service).values())
            return found if len(found) == nodes.COUNT and nowhere not in found else []

        return {
            name: eventually(partial(placed, name), f"three of {name} run", WITHIN_S)
            for name in SERVERS
        }

    @classmethod
    def placed(cls, service: str) -> dict[str, str]:
        """The nodes of the tasks that run, by the ids of the tasks."""
        form = ["--filter", "desired-state=running", "--format", "{{json .}}", "--no-trunc"]
        told = cls.first.docker("service", "ps", *form, f"{STACK}_{service}", check=False)
        rows = [json.loads(line) for line in told.splitlines()]
        return {row["ID"]: row["Node"] for row in rows if row["CurrentState"].startswith("Running")}

    def begin_load(self, name: str) -> Load:
        load = Load(self.first, self.swarm.folder, name)
        self.addCleanup(load.remove)
        load.wait_for_answers(200)
        return load

    def check(self, load: Load) -> dict[str, Any]:
        """Nothing was answered wrongly, no account is lost, and nobody had to give up.

        Returns the last progress.
        """
        told, operations = load.stop()
        answered = sum(one.answer in ("OK", "1") for one in operations)
        print(f"{told} after {len(operations)} operations")
        self.assertEqual(list(wrong_answers(operations))[:5], [])
        self.assertEqual(told["given_up"], [])
        self.assertGreater(answered, 500)
        found = {one[1:3] for one in operations if one.kind == "get" and one.answer == "OK"}
        acknowledged = {one[1:3] for one in operations if one.kind == "new" and one.answer == "OK"}
        self.assertGreater(len(acknowledged), 50)
        self.assertEqual(acknowledged - found, set(), "lost accounts")
        return told

    def test_each_node_got_one_of_each_server(self) -> None:
        each = [node.name for node in self.swarm.nodes]
        self.assertEqual(self.placed_first, dict.fromkeys(SERVERS, each))

    def test_an_update_of_all_servers_fails_no_request_that_is_repeated(self) -> None:
        before = {name: set(self.placed(name)) for name in SERVERS}
        load = self.begin_load("update")
        for name in SERVERS:
            self.first.docker("service", "update", "--force", "--detach", f"{STACK}_{name}")
        for name in SERVERS:
            eventually(partial(self.is_updated, name), f"{name} is updated", WITHIN_S)
        load.wait_for_answers(200)
        told = self.check(load)
        self.assertLess(told["slowest_s"], ANSWERED_WITHIN_S)
        for name in SERVERS:
            self.assertEqual(before[name] & set(self.placed(name)), set(), "all were replaced")

    def is_updated(self, service: str) -> bool:
        form = ["--format", "{{.UpdateStatus.State}}"]
        state = self.first.docker("service", "inspect", *form, f"{STACK}_{service}").strip()
        self.assertIn(state, ("updating", "completed"))
        return state == "completed"

    def test_a_node_that_dies_costs_no_wrong_answer_and_no_account(self) -> None:
        load = self.begin_load("death")
        last = self.swarm.nodes[-1]
        last.kill()
        load.wait_for_answers(2000)
        self.swarm.wait_for_nodes(nodes.COUNT - 1)
        self.wait_for_replicas(nowhere=last.name)
        load.wait_for_answers(200)
        self.check(load)
        last.start()
        self.swarm.wait_for_nodes(nodes.COUNT)
