"""docker/stack.yml on a swarm of this one engine, with two of each server."""

import json
import os
import secrets
import subprocess
import tempfile
import unittest
from pathlib import Path

from engine import PLAIN, SETTINGS, run
from waiting import eventually

STACK = f"turnstile-test-{os.getpid()}-swarm"
SERVERS_OF_EACH = 2
STARTED_WITHIN_S = 90.0
THREADS = 4
RUN = ["docker", "run", "--rm", "--network", f"{STACK}_default"]


def join_swarm() -> bool:
    """Whether this made the engine a swarm; else it is the manager of one already."""
    if run("docker", "info", "--format", "{{.Swarm.ControlAvailable}}").strip() == "true":
        return False
    run("docker", "swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1")
    return True


def deploy(passwords: str) -> None:
    env = PLAIN | SETTINGS | {"SECRETS": passwords, "COMPOSE_PROJECT_NAME": STACK}
    config = run("docker/stack-config", "--env-file", "/dev/null", env=env)
    run(
        "docker",
        "stack",
        "deploy",
        "--resolve-image",
        "never",
        "--compose-file",
        "-",
        STACK,
        stdin=config,
    )


def addresses_of(service: str) -> list[str]:
    """Of the replicas that are ready, as the others see them."""
    script = f"getent ahostsv4 {service} | awk '{{ print $1 }}' | sort -u"
    return run(*RUN, "--entrypoint", "bash", image("loadgen"), "-c", script, check=False).split()


def image(program: str) -> str:
    return f"{SETTINGS['IMAGES']}/{program}:{SETTINGS['TAG']}"


def ask(server: str, *lines: str) -> list[str]:
    replies = run(
        *RUN,
        "--env",
        f"ASK_SERVER={server}",
        "--entrypoint",
        "ask",
        image("loadgen"),
        *lines,
        check=False,
    )
    return replies.splitlines()


def containers_of(service: str) -> list[str]:
    name = f"label=com.docker.swarm.service.name={STACK}_{service}"
    return run("docker", "ps", "--quiet", "--filter", name).split()


def established_in(container: str) -> int:
    """TCP connections that the container has, be it not there yet."""
    return run("docker", "exec", container, "cat", "/proc/net/tcp", check=False).count(" 01 ")


def remove_stack() -> None:
    run("docker", "stack", "rm", STACK)
    mine = f"label=com.docker.stack.namespace={STACK}"
    eventually(
        lambda: not run("docker", "ps", "--all", "--quiet", "--filter", mine).split(),
        "containers are gone",
        60,
    )
    eventually(
        lambda: not run("docker", "network", "ls", "--quiet", "--filter", mine).split(),
        "network is gone",
        60,
    )
    volumes = run("docker", "volume", "ls", "--quiet", "--filter", mine).split()
    run("docker", "volume", "rm", *volumes)


class Swarm(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if join_swarm():
            cls.addClassCleanup(run, "docker", "network", "rm", "docker_gwbridge", check=False)
            cls.addClassCleanup(run, "docker", "swarm", "leave", "--force")
        with tempfile.TemporaryDirectory() as passwords:
            Path(passwords, "store-password").write_text(secrets.token_hex(), encoding="ascii")
            cls.addClassCleanup(remove_stack)
            deploy(passwords)
        cls.authservers = cls.wait_for("authserver")
        cls.fileservers = cls.wait_for("fileserver")

    @staticmethod
    def wait_for(service: str) -> list[str]:
        def ready() -> list[str]:
            addresses = addresses_of(service)
            return addresses if len(addresses) == SERVERS_OF_EACH else []

        return eventually(ready, f"{SERVERS_OF_EACH} of {service} are ready", STARTED_WITHIN_S)

    def test_an_account_made_through_one_is_valid_at_all_others(self) -> None:
        self.assertEqual(ask(f"{self.fileservers[0]}:9000", "new:alice:wonderland"), ["OK"])
        for server in self.fileservers:
            self.assertEqual(ask(f"{server}:9000", "get:alice:wonderland"), ["OK"])
        for server in self.authservers:
            self.assertEqual(ask(f"{server}:9001", "auth:alice:wonderland"), ["OK"])
            self.assertTrue(ask(f"{server}:9001", "auth:alice:wrong")[0].startswith("ERR denied"))

    def test_one_authserver_killed_under_load_costs_no_wrong_answer(self) -> None:
        self.assertEqual(ask(f"{self.fileservers[0]}:9000", "new:ada:lovelace"), ["OK"])
        name = f"{STACK}-load"
        command = [
            *RUN,
            "--name",
            name,
            "--volume",
            f"{STACK}_files:/srv/files:ro",
            image("loadgen"),
            "get",
            "--server",
            "fileserver:9000",
            "--user",
            "ada",
            "--password",
            "lovelace",
            "--threads",
            str(THREADS),
            "--connection",
            "keep-alive",
            "--verify",
            "--seconds",
            "8",
            "--file",
            "1KB1.txt",
            "--json",
            "-",
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as load:
            eventually(lambda: established_in(name) >= THREADS, "the load has begun")
            run("docker", "kill", containers_of("authserver")[0])
            result = json.loads(load.communicate()[0])
        wrong = {
            code: count
            for code, count in result["errors"].items()
            if code not in ("total", "unavailable")
        }
        self.assertEqual(sum(wrong.values()), 0, result["errors"])
        self.assertGreater(result["requests"], 100)
        self.wait_for("authserver")
