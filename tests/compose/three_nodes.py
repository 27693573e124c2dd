"""What the tests of a stack on three nodes share: the stack, its clients, and what they check."""

import json
import os
import secrets
import sys
import tempfile
import unittest
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import nodes
from stack import deploy, image, make_certificates
from waiting import eventually

TORTURE = Path(__file__).resolve().parents[1] / "torture"
sys.path.append(str(TORTURE))

from history import Operation, body_of, wrong_answers  # noqa: E402
from swarm_clients import FILES  # noqa: E402

WITHIN_S = 120.0
CLIENTS = 8
SERVERS = ("authserver", "fileserver")
IMAGES = [image(program) for program in (*SERVERS, "setup")]
REDIS = "redis:8"
# All else is as docker/stack.yml has it.
SETTINGS = {
    "FILESERVERS": "3",
    "AUTHSERVERS": "3",
    "REDIS_IMAGE": REDIS,
    "PASSWORD_SCHEME": "plain",
    "MAKE_FILES": "--size 1KB --count 1",
}
# All clients have one address.
UNTHROTTLED = "tests/compose/unthrottled.yml"


class Load:
    """Clients of the stack in a container of the node, until stop()."""

    def __init__(self, node: nodes.Node, stack: str, folder: Path, name: str) -> None:
        self._node = node
        self._folder = folder / name
        self._folder.mkdir()
        self._name = f"load-{name}"
        mounts = [f"{self._folder}:/load", f"{Path(__file__).parent}:/compose:ro"]
        words = [f"--volume={mount}" for mount in (*mounts, f"{TORTURE}:/torture:ro")]
        words += ["--env=PYTHONPATH=/torture", "--env=PYTHONDONTWRITEBYTECODE=1"]
        words += [f"--network={stack}_default", "--entrypoint=python3", image("setup")]
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


class Case(unittest.TestCase):
    """The tests of a subclass share three nodes and a stack, of which it says the rest."""

    kind: ClassVar[str]  # a part of the stack's name
    settings: ClassVar[dict[str, str]] = {}
    changes: ClassVar[tuple[str, ...]] = ()  # files of changes, as docker/stack-config takes them
    labels: ClassVar[dict[str, str]] = {}  # of nodes, by their names

    stack: ClassVar[str]
    swarm: ClassVar[nodes.Swarm]
    first: ClassVar[nodes.Node]
    password: ClassVar[str]
    placed_first: ClassVar[dict[str, list[str]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.stack = f"turnstile-test-{os.getpid()}-{cls.kind}"
        cls.swarm = nodes.Swarm([*IMAGES, REDIS])
        cls.addClassCleanup(nodes.assert_nothing_left, cls.swarm)
        cls.addClassCleanup(cls.swarm.close)
        cls.first = cls.swarm.nodes[0]
        for node, label in cls.labels.items():
            cls.first.docker("node", "update", "--label-add", label, node)
        cls.give_files()
        cls.password = secrets.token_hex()
        changes = [word for file in (UNTHROTTLED, *cls.changes) for word in ("-f", file)]
        with tempfile.TemporaryDirectory() as passwords:
            Path(passwords, "store-password").write_text(cls.password, encoding="ascii")
            make_certificates(passwords)
            deploy(cls.stack, passwords, cls.first.env | SETTINGS | cls.settings, *changes)
        cls.placed_first = cls.wait_for_replicas()

    @classmethod
    def give_files(cls) -> None:
        """The same files on each node."""
        folder = cls.swarm.folder / "files"
        folder.mkdir()
        for name in FILES:
            (folder / name).write_bytes(body_of(name, 1))
        for node in cls.swarm.nodes:
            mounts = [f"--volume={cls.stack}_files:/srv/files", f"--volume={folder}:/from:ro"]
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
        told = cls.first.docker("service", "ps", *form, f"{cls.stack}_{service}", check=False)
        rows = [json.loads(line) for line in told.splitlines()]
        return {row["ID"]: row["Node"] for row in rows if row["CurrentState"].startswith("Running")}

    def begin_load(self, name: str) -> Load:
        load = Load(self.first, self.stack, self.swarm.folder, name)
        self.addCleanup(load.remove)
        load.wait_for_answers(200)
        return load

    def excuses(self, wrong: str) -> bool:
        """Whether the stack does not promise that there is no such wrong answer."""
        return False

    def check(self, load: Load) -> tuple[dict[str, Any], list[Operation]]:
        """Nothing was answered wrongly, no account is lost, and nobody had to give up.

        Returns the last progress, and all that was asked.
        """
        told, operations = load.stop()
        answered = sum(one.answer in ("OK", "1") for one in operations)
        print(f"{told} after {len(operations)} operations")
        wrong = [one for one in wrong_answers(operations) if not self.excuses(one)]
        self.assertEqual(wrong[:5], [])
        self.assertEqual(told["given_up"], [])
        self.assertGreater(answered, 500)
        found = {one[1:3] for one in operations if one.kind == "get" and one.answer == "OK"}
        acknowledged = {one[1:3] for one in operations if one.kind == "new" and one.answer == "OK"}
        self.assertGreater(len(acknowledged), 50)
        self.assertEqual(acknowledged - found, set(), "lost accounts")
        return told, operations
