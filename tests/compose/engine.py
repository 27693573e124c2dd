"""Runs docker commands, and starts systems from docker-compose.yml for one test each."""

import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from client import Client

from rig.host import free_port

PROJECT = Path(__file__).resolve().parents[2]
_numbers = itertools.count()
SETTINGS = {"TAG": os.environ["TAG"], "IMAGES": os.environ["IMAGES"]}
# Other variables of the caller must not reach the tests. One may choose another store, for example.
_PASSED_ON = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG")
PLAIN = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def run(
    *command: str, env: dict[str, str] | None = None, check: bool = True, stdin: str = ""
) -> str:
    """Returns the standard output of the command.

    Raises AssertionError with the end of its output if it fails, unless `check` is false.
    """
    result = subprocess.run(
        command, env=env, input=stdin, capture_output=True, text=True, cwd=PROJECT, check=False
    )
    if check and result.returncode != 0:
        said = result.stdout[-2000:] + result.stderr[-3000:]
        raise AssertionError(f"{' '.join(command)}: exit status {result.returncode}\n{said}")
    return result.stdout


class System:
    """A system of docker-compose.yml with a project name and a port of its own.

    Nothing is started before `up`. The caller must call `remove` at the end.
    """

    def __init__(self, **settings: str) -> None:
        """`settings` are variables of docker-compose.yml."""
        self.name = f"turnstile-test-{os.getpid()}-{next(_numbers)}"
        self.own_secrets = tempfile.TemporaryDirectory()
        self.port = free_port()
        self._env = (
            PLAIN
            | SETTINGS
            | settings
            | {
                "COMPOSE_PROJECT_NAME": self.name,
                "PORT": str(self.port),
                "SECRETS": self.own_secrets.name,
            }
        )

    def compose(self, *words: str, check: bool = True) -> str:
        """Returns the output of `docker compose` for this system, as `run` does."""
        return run(
            "docker", "compose", "--env-file", "/dev/null", *words, env=self._env, check=check
        )

    def up(self) -> None:
        """Starts the system and waits until all its services are healthy."""
        self.compose("up", "--detach", "--wait", "--no-build")

    def down(self) -> None:
        """Stops the system and keeps its volumes."""
        self.compose("--profile", "*", "down", "--timeout", "20")

    def remove(self) -> None:
        """Stops the system and removes its volumes and its folder of passwords."""
        self.compose("--profile", "*", "down", "--volumes", "--timeout", "5")
        self.own_secrets.cleanup()

    def running(self) -> set[str]:
        """Returns the names of the services that run."""
        return set(self.compose("ps", "--services", "--status", "running").split())

    def containers(self, *words: str) -> list[str]:
        """Returns the ids of the running containers. The word --all adds those that have ended."""
        return self.compose("ps", "--quiet", *words).split()

    def started_at(self, service: str) -> str:
        """When the service's container was started last."""
        container = self.compose("ps", "--quiet", "--all", service).strip()
        return run("docker", "inspect", "--format", "{{.State.StartedAt}}", container)

    def inside(self, service: str, script: str, check: bool = True) -> str:
        """Runs a bash script in the service's container and returns its output, as `run` does."""
        return self.compose("exec", "-T", service, "bash", "-c", script, check=check)

    def load(self, *words: str) -> dict[str, Any]:
        """Runs loadgen and returns its result. A run with errors has a result too."""
        command = ["run", "--rm", "-T", "loadgen", *words, "--json", "-"]
        result: dict[str, Any] = json.loads(self.compose(*command, check=False))
        return result

    def client(self) -> Client:
        """Connects to the fileserver through the published port. The caller closes the client."""
        return Client(("127.0.0.1", self.port))

    def ask(self, line: str) -> str | bytes:
        """Sends one line on a new connection and returns the reply."""
        client = self.client()
        try:
            return client.ask(line)
        finally:
            client.close()

    def log(self, service: str) -> str:
        """Returns all that the service has logged."""
        return self.compose("logs", "--no-log-prefix", service)
