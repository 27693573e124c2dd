"""dufs, a share with WebDAV and users of its own. No distribution has it: cargo install dufs."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.host import Tool, free_port
from rig.processes import Address, Program, wait_listening

_START_TIMEOUT_S = 30.0
PROGRAM = Tool(("dufs",), "dufs, by cargo")


def missing() -> list[str]:
    return [] if PROGRAM.found() else [PROGRAM.package]


@contextmanager
def running(logs: Path, root: Path, user: str, password: str) -> Iterator[Address]:
    """One user, who may do everything. Requires: dufs is installed."""
    with tempfile.TemporaryDirectory(prefix="dufs-", dir=logs) as name:
        folder = Path(name)
        port = free_port()
        settings = folder / "settings.yaml"
        settings.write_text(
            f"serve-path: {root}\nbind: 127.0.0.1\nport: {port}\nallow-all: true\n"
            f"auth: ['{user}:{password}@/:rw']\nlog-format: ''\n",
            encoding="utf-8",
        )
        program = Program("dufs", [PROGRAM.found(), "--config", str(settings)], folder / "log")
        try:
            wait_listening(program, port, _START_TIMEOUT_S)
            yield Address("127.0.0.1", port)
        finally:
            program.stop()
