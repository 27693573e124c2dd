"""Tests of docker/stack.yml on a swarm of one node, with two of each server."""

import itertools
import json
import os
import secrets
import subprocess
import tempfile
import unittest
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine import PLAIN, run
from stack import deploy, image, make_certificates
from waiting import eventually

STACK = f"turnstile-test-{os.getpid()}-swarm"
SERVERS_OF_EACH = 2
STARTED_WITHIN_S = 90.0
THREADS = 4
CHECKS = 4  # more than the failed ones after which a task is killed
RUN = ["docker", "run", "--rm", "--network", f"{STACK}_default"]


def join_swarm() -> bool:
    """Makes the engine a swarm of one node. Returns false if it manages a swarm already."""
    if run("docker", "info", "--format", "{{.Swarm.ControlAvailable}}").strip() == "true":
        return False
    run("docker", "swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1")
    return True


def begin(clean_up: Callable[..., None], settings: dict[str, str]) -> str:
    """Deploys the stack. Returns the folder of its passwords and certificates."""
    if join_swarm():
        clean_up(run, "docker", "network", "rm", "docker_gwbridge", check=False)
        clean_up(run, "docker", "swarm", "leave", "--force")
    folder = tempfile.TemporaryDirectory()
    clean_up(folder.cleanup)
    for name in ("store-password", "mysql-root-password"):
        Path(folder.name, name).write_text(secrets.token_hex(), encoding="ascii")
    make_certificates(folder.name)
    clean_up(remove_stack)
    deploy(STACK, folder.name, PLAIN | settings)
    return folder.name


def addresses_of(service: str) -> list[str]:
    """Returns the addresses of the service's ready replicas, as other services see them."""
    script = f"getent ahostsv4 {service} | awk '{{ print $1 }}' | sort -u"
    return run(*RUN, "--entrypoint", "bash", image("loadgen"), "-c", script, check=False).split()


def ask(server: str, *lines: str) -> list[str]:
    """Sends the lines to the server and returns the lines of its replies."""
    command = ["--env", f"ASK_SERVER={server}", "--entrypoint", "ask", image("loadgen")]
    return run(*RUN, *command, *lines, check=False).splitlines()


def ask_authserver(container: str, *lines: str) -> list[str]:
    """The same for an authserver, which takes lines in clear only inside of its container."""
    return run("docker", "exec", container, "ask", *lines, check=False).splitlines()


def containers_of(service: str) -> list[str]:
    """Returns the ids of the service's running containers."""
    name = f"label=com.docker.swarm.service.name={STACK}_{service}"
    return run("docker", "ps", "--quiet", "--filter", name).split()


def checked_at(container: str) -> list[str]:
    """When the container's last health checks ended. The engine keeps five."""
    form = "{{range .State.Health.Log}}{{.End}};{{end}}"
    return run("docker", "inspect", "--format", form, container).split(";")[:-1]


def was_checked(container: str, before: set[str]) -> bool:
    """Whether the container was checked CHECKS times since `before`."""
    return len(set(checked_at(container)) - before) >= CHECKS


def established_in(container: str) -> int:
    """Counts the container's TCP connections. A container that does not exist yet has none."""
    return run("docker", "exec", container, "cat", "/proc/net/tcp", check=False).count(" 01 ")


def remove_stack() -> None:
    """Removes the stack, and waits until its containers, network and volumes are gone."""
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
    """All tests share one stack, which is ready before the first of them."""

    authservers: list[str]
    fileservers: list[str]
    passwords: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.passwords = begin(cls.addClassCleanup, {})
        cls.authservers = cls.wait_for("authserver")
        cls.fileservers = cls.wait_for("fileserver")

    @staticmethod
    def wait_for(service: str) -> list[str]:
        """Waits until all replicas of the service are ready, and returns their addresses."""

        def ready() -> list[str]:
            addresses = addresses_of(service)
            return addresses if len(addresses) == SERVERS_OF_EACH else []

        return eventually(ready, f"{SERVERS_OF_EACH} of {service} are ready", STARTED_WITHIN_S)

    def test_an_account_made_through_one_server_is_valid_at_all(self) -> None:
        self.assertEqual(ask(f"{self.fileservers[0]}:9000", "new:alice:wonderland"), ["OK"])
        for server in self.fileservers:
            self.assertEqual(ask(f"{server}:9000", "get:alice:wonderland"), ["OK"])
        for container in containers_of("authserver"):
            self.assertEqual(ask_authserver(container, "auth:alice:wonderland"), ["OK"])
            refused = ask_authserver(container, "auth:alice:wrong")
            self.assertTrue(refused[0].startswith("ERR denied"), refused)

    def test_an_authserver_hears_only_who_has_a_certificate(self) -> None:
        for server in self.authservers:
            self.assertEqual(ask(f"{server}:9001", "ping"), [], "no port is in clear")
            self.assertEqual(ask(f"{server}:9002", "ping"), [])
            self.assertEqual(self.in_tls(server), "")
            self.assertEqual(self.in_tls(server, "fileserver"), "OK")
        with tempfile.TemporaryDirectory() as others:
            make_certificates(others)
            self.assertEqual(self.in_tls(server, "fileserver", folder=others), "")

    def in_tls(self, server: str, name: str = "", folder: str = "") -> str:
        """What an authserver answers to a ping, by whoever has the certificate of a name."""
        shows = f"-cert /tls/{name}.pem -key /tls/{name}-key.pem" if name else ""
        believes = "-CAfile /own/ca.pem -verify_return_error -verify_hostname authserver"
        client = f"openssl s_client -quiet -connect {server}:9002 {believes} {shows}"
        script = f"(echo ping; sleep 1) | {client} 2>/dev/null"
        mounts = [f"--volume={self.passwords}/tls:/own:ro"]
        mounts += [f"--volume={folder or self.passwords}/tls:/tls:ro"]
        command = [*mounts, "--entrypoint", "bash", image("setup"), "-c", script]
        return run(*RUN, *command, check=False).strip()

    def test_redis_hears_nobody_in_clear(self) -> None:
        redis = containers_of("redis")[0]
        in_tls = "--tls --cacert /run/secrets/tls-ca"
        for words, answer in ((in_tls, "NOAUTH"), ("", "onnection")):
            said = run(
                *("docker", "exec", redis, "sh", "-c"),
                f"timeout 5 redis-cli {words} -h redis ping 2>&1",
                check=False,
            )
            self.assertIn(answer, said)

    def test_killing_one_authserver_under_load_causes_no_wrong_reply(self) -> None:
        self.assertEqual(ask(f"{self.fileservers[0]}:9000", "new:ada:lovelace"), ["OK"])
        name = f"{STACK}-load"
        container = ["--name", name, "--volume", f"{STACK}_files:/srv/files:ro", image("loadgen")]
        account = ["--user", "ada", "--password", "lovelace"]
        amount = ["--threads", str(THREADS), "--connection", "keep-alive", "--seconds", "8"]
        files = ["--file", "1KB1.txt", "--verify"]
        request = ["get", "--server", "fileserver:9000", *account, *amount, *files, "--json", "-"]
        command = [*RUN, *container, *request]
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

    def test_nobody_is_killed_while_the_store_is_away(self) -> None:
        before = {name: sorted(containers_of(name)) for name in ("authserver", "fileserver")}
        scale = ["docker", "service", "scale", "--detach"]
        run(*scale, f"{STACK}_redis=0")
        self.addCleanup(self.wait_for_store)
        self.addCleanup(run, *scale, f"{STACK}_redis=1")
        eventually(lambda: self.pings() == {"ERR"}, "no server is ready", STARTED_WITHIN_S)
        containers = list(itertools.chain(*before.values()))
        waits = [partial(was_checked, one, set(checked_at(one))) for one in containers]
        for wait in waits:
            eventually(wait, f"{CHECKS} checks", STARTED_WITHIN_S)
        self.assertEqual(before, {name: sorted(containers_of(name)) for name in before})

    def pings(self) -> set[str]:
        """The first words of what the fileservers answer."""
        replies = [ask(f"{server}:9000", "ping") for server in self.fileservers]
        return {(reply or ["nothing"])[0].split()[0] for reply in replies}

    def wait_for_store(self) -> None:
        eventually(lambda: self.pings() == {"OK"}, "the store is back", STARTED_WITHIN_S)


class OnMysql(unittest.TestCase):
    def test_accounts_are_kept_there_and_nobody_asks_it_in_clear(self) -> None:
        begin(self.addCleanup, {"STORE": "mysql", "MYSQL_IMAGE": "mysql:9"})
        for line in ("new:alice:wonderland", "get:alice:wonderland"):
            eventually(partial(self.is_done, line), line, STARTED_WITHIN_S)
        in_clear = "mysql --ssl-mode=DISABLED -h mysql -u turnstile"
        password = "$(cat /run/secrets/store-password)"
        said = run(
            *("docker", "exec", containers_of("mysql")[0], "sh", "-c"),
            f"MYSQL_PWD={password} {in_clear} -e 'SELECT 1' 2>&1",
            check=False,
        )
        self.assertIn("require_secure_transport", said)

    @staticmethod
    def is_done(line: str) -> bool:
        return ask("fileserver:9000", line) == ["OK"]
