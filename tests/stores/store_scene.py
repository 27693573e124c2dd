"""A scene whose accounts are in a store of the test's choice."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import e2e_path  # noqa: F401
import programs
from client import Client
from databases import Database, MariaDb, Redis
from programs import Program
from scene import Scene

SERVERS: dict[str, type[Database]] = {"mysql": MariaDb, "redis": Redis}
CONNECTIONS = ("persistent", "per-request")
MODELS = ("thread", "process")
# However slow the disk is, no reply is `unavailable`. And no time is spent on hashing.
PATIENT = ("--store-timeout", "60")
PLAIN = ("--password-scheme", "plain")


class StoreTest(unittest.TestCase):
    """Its tests share one server of each kind in `kinds`; each has a scene of its own."""

    kinds = tuple(SERVERS)
    databases: dict[str, Any]  # kind -> its server; a test knows what it may ask of that kind

    @classmethod
    def setUpClass(cls) -> None:
        # A socket's path must be short.
        folder = Path(tempfile.mkdtemp(prefix="turnstile-db-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.databases = {}
        for kind in cls.kinds:
            cls.databases[kind] = SERVERS[kind](folder / kind)
            cls.addClassCleanup(cls.databases[kind].close)

    def setUp(self) -> None:
        self.scene = Scene()
        self.addCleanup(self.scene.close)

    def authserver(self, kind: str, *flags: object, **options) -> Program:
        return start_authserver(self.scene, self.databases.get(kind), *flags, **options)

    def run_authserver(
        self, kind: str, *flags: object, **options
    ) -> subprocess.CompletedProcess[str]:
        """One that is expected not to start."""
        return programs.run(
            "authserver",
            "--listen",
            "127.0.0.1:0",
            *self.databases[kind].authserver_flags,
            *flags,
            **options,
        )

    def client(self, server: Program) -> Client:
        return self.scene.client(server)


def start_authserver(scene: Scene, database: Database | None, *flags: object, **options) -> Program:
    """Without a database: on SQLite."""
    return scene.authserver(*(database.authserver_flags if database else ()), *flags, **options)


def combinations() -> list[tuple[str, str]]:
    """Each model with each way to connect."""
    return [(model, connection) for model in MODELS for connection in CONNECTIONS]


def flags_of(combination: tuple[str, str]) -> tuple[str, ...]:
    model, connection = combination
    return "--model", model, "--store-connection", connection
