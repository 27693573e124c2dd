"""Looks at the servers of Redis and the sentinels of a stack with docker/sentinel.yml."""

from itertools import pairwise

from nodes import Node

PORT, SENTINEL_PORT = 6379, 26379
NAMES = tuple(f"{kind}-{number}" for kind in ("redis", "sentinel") for number in (1, 2, 3))


class RedisNode:
    """A server or a sentinel, on the node where its label puts it."""

    def __init__(self, node: Node, stack: str, name: str) -> None:
        self.node = node
        self.name = name
        self._filter = f"label=com.docker.swarm.service.name={stack}_{name}"
        self._port = PORT if name.startswith("redis") else SENTINEL_PORT

    def container(self) -> str:
        """The id of the container that runs. Empty if there is none."""
        words = ["ps", "--quiet", "--filter", self._filter]
        return self.node.docker(*words, check=False).strip()

    def inside(self, script: str) -> str:
        """The output of the script in the container. Empty if it fails."""
        container = self.container()
        words = ["exec", container, "sh", "-c", script]
        return self.node.docker(*words, check=False) if container else ""

    def ask(self, command: str) -> list[str]:
        """The lines of the reply. Empty if the server does not answer."""
        login = "REDISCLI_AUTH=$(cat /run/secrets/store-password)"
        client = f"redis-cli --tls --cacert /run/secrets/tls-ca -p {self._port}"
        return self.inside(f"{login} {client} {command}").splitlines()

    def role(self) -> str:
        """master, slave, or empty if the server does not answer."""
        return (self.ask("role") or [""])[0]

    def follows(self) -> str:
        """The name of the primary whose accounts this replica has. Empty if there is none."""
        told = self.ask("role")
        return told[1] if len(told) > 3 and told[3] == "connected" else ""

    def primary(self) -> str:
        """Its name, as this sentinel knows it."""
        return (self.ask("sentinel get-master-addr-by-name mymaster") or [""])[0]

    def sees(self) -> tuple[int, int]:
        """How many replicas and other sentinels it knows that are not down."""
        return self._up("replicas"), self._up("sentinels")

    def _up(self, kind: str) -> int:
        told = self.ask(f"sentinel {kind} mymaster")
        flags = [after for word, after in pairwise(told) if word == "flags"]
        return sum("down" not in one and "disconnected" not in one for one in flags)
