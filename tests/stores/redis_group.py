"""A primary of Redis with replicas, and sentinels that choose another primary if it is gone."""

import contextlib
from pathlib import Path

import e2e_path  # noqa: F401
from databases import Redis
from waiting import eventually

from rig.databases import RedisServer
from rig.errors import Failed

NAME = "mymaster"
START_S = 60.0  # the longest wait for a group to be complete


class Sentinel(RedisServer):
    """Watches a primary, which it calls NAME. Without an answer for a second it counts as down."""

    def __init__(self, folder: Path, primary: Redis, quorum: int = 2, password: str = "") -> None:
        super().__init__(folder, password=password)
        watched = [
            f"port {self.port}",
            f"monitor {NAME} 127.0.0.1 {primary.port} {quorum}",
            f"down-after-milliseconds {NAME} 1000",
            f"failover-timeout {NAME} 4000",
            f"parallel-syncs {NAME} 2",
        ]
        settings = [watched[0], *(f"sentinel {one}" for one in watched[1:])]
        self._settings.write_text(self._settings.read_text() + "\n".join(settings) + "\n")
        self.start()

    def command(self) -> list[str]:
        return [*super().command(), "--sentinel"]

    def primary_port(self) -> int:
        return int(self.ask("sentinel", "get-master-addr-by-name", NAME).split()[1])

    def sees(self, replicas: int, sentinels: int) -> bool:
        words = self.ask("sentinel", "master", NAME).split("\n")
        told = dict(zip(words[::2], words[1::2]))
        others = int(told["num-other-sentinels"]) + 1
        return int(told["num-slaves"]) == replicas and others == sentinels


class Group:
    """What is in memory only is enough here: what a test kills stays dead.

    The replicas are replicas when the constructor returns, and all sentinels know of all.
    """

    def __init__(self, folder: Path, replicas: int = 2, sentinels: int = 3) -> None:
        self._stack = contextlib.ExitStack()
        memory = ("--appendonly", "no", "--repl-diskless-sync-delay", "0")
        try:
            self.primary = self._keep(Redis(folder / "primary", *memory))
            self.replicas = [
                self._keep(Redis(folder / f"replica{number}", *memory))
                for number in range(replicas)
            ]
            for replica in self.replicas:
                replica.ask("replicaof", "127.0.0.1", str(self.primary.port))
            eventually(lambda: self.linked() == replicas, "the replicas are linked", START_S)
            self.sentinels = [
                self._keep(Sentinel(folder / f"sentinel{number}", self.primary))
                for number in range(sentinels)
            ]
            eventually(self._is_complete, "the sentinels know each other", START_S)
        except BaseException:
            self.close()
            raise

    def _keep(self, server):
        self._stack.callback(server.close)
        return server

    def _is_complete(self) -> bool:
        return all(one.sees(len(self.replicas), len(self.sentinels)) for one in self.sentinels)

    def linked(self) -> int:
        """How many replicas have all that the primary has."""
        return self.primary.ask("info", "replication").count("state=online")

    def flags(self, *sentinels: object) -> list[str]:
        """Of an authserver that asks these sentinels, or all."""
        asked = sentinels or tuple(f"127.0.0.1:{one.port}" for one in self.sentinels)
        return ["--store", "redis", "--redis-sentinel", ",".join(map(str, asked))]

    def server_on(self, port: int) -> Redis:
        return next(one for one in (self.primary, *self.replicas) if one.port == port)

    def is_primary_a_replica(self) -> bool:
        """Whether the first primary is a replica now. When it becomes one it ends connections."""
        with contextlib.suppress(Failed):
            return self.primary.ask("role").startswith("slave")
        return False

    def has_failed_over(self) -> bool:
        """Whether most sentinels name another primary than the first one."""
        ports = [one.primary_port() for one in self.sentinels if one.is_running()]
        return sum(port != self.primary.port for port in ports) * 2 > len(self.sentinels)

    def close(self) -> None:
        self._stack.close()
