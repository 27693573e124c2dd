"""Asking the Docker engine, and systems of the project's own files that it runs for one test."""

import itertools
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from client import Client

PROJECT = Path(__file__).resolve().parents[2]
_numbers = itertools.count()
SETTINGS = {"TAG": os.environ["TAG"], "IMAGES": os.environ["IMAGES"]}
# What the person who runs the tests has set for a system of their own must not reach these.
_PASSED_ON = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG")
PLAIN = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def run(
    *command: str, env: dict[str, str] | None = None, check: bool = True, stdin: str = ""
) -> str:
    """Standard output of the command; an AssertionError with what it said when it fails."""
    result = subprocess.run(
        command, env=env, input=stdin, capture_output=True, text=True, cwd=PROJECT, check=False
    )
    if check and result.returncode != 0:
        said = result.stdout[-2000:] + result.stderr[-3000:]
        raise AssertionError(f"{' '.join(command)}: exit status {result.returncode}\n{said}")
    return result.stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class System:
    """docker-compose.yml under a project name and on a port of its own, with the given variables set."""

    def __init__(self, **settings: str) -> None:
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
        return run(
            "docker", "compose", "--env-file", "/dev/null", *words, env=self._env, check=check
        )

    def up(self) -> None:
        self.compose("up", "--detach", "--wait", "--no-build")

    def down(self) -> None:
        self.compose("--profile", "*", "down", "--timeout", "20")

    def remove(self) -> None:
        self.compose("--profile", "*", "down", "--volumes", "--timeout", "5")
        self.own_secrets.cleanup()

    def running(self) -> set[str]:
        return set(self.compose("ps", "--services", "--status", "running").split())

    def containers(self, *words: str) -> list[str]:
        """The running ones, or, with --all, those that are done too."""
        return self.compose("ps", "--quiet", *words).split()

    def inside(self, service: str, script: str) -> str:
        """What a bash script prints that runs in the service's container."""
        return self.compose("exec", "-T", service, "bash", "-c", script)

    def load(self, *words: str) -> dict[str, Any]:
        """The result of a run of loadgen, as it writes it for programs."""
        return json.loads(
            self.compose("run", "--rm", "-T", "loadgen", *words, "--json", "-", check=False)
        )

    def client(self) -> Client:
        return Client(("127.0.0.1", self.port))

    def ask(self, line: str) -> str | bytes:
        """One line on a connection of its own."""
        client = self.client()
        try:
            return client.ask(line)
        finally:
            client.close()

    def log(self, service: str) -> str:
        return self.compose("logs", "--no-log-prefix", service)
