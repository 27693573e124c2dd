"""Caddy, which serves the files of our folder to everybody."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.host import Tool, free_port
from rig.processes import Address, Program, wait_listening

_START_TIMEOUT_S = 30.0
PROGRAM = Tool(("caddy",), "caddy")


def missing() -> list[str]:
    return [] if PROGRAM.found() else [PROGRAM.package]


def configuration(root: Path, port: int) -> str:
    """The text of a Caddyfile. Caddy logs requests only when it is told to."""
    return f"""{{
	admin off
	auto_https off
}}
http://127.0.0.1:{port} {{
	bind 127.0.0.1
	root * "{root}"
	file_server
}}
"""


@contextmanager
def running(logs: Path, root: Path) -> Iterator[Address]:
    """Requires: Caddy is installed. It writes only to logs."""
    with tempfile.TemporaryDirectory(prefix="caddy-", dir=logs) as name:
        folder = Path(name)
        port = free_port()
        settings = folder / "Caddyfile"
        settings.write_text(configuration(root, port), encoding="utf-8")
        command = [PROGRAM.found(), "run", "--config", str(settings), "--adapter", "caddyfile"]
        # What it keeps between runs is in the home folder of its user.
        environment = {"HOME": name, "XDG_CONFIG_HOME": name, "XDG_DATA_HOME": name}
        program = Program("caddy", command, folder / "log", environment=environment)
        try:
            wait_listening(program, port, _START_TIMEOUT_S)
            yield Address("127.0.0.1", port)
        finally:
            program.stop()
