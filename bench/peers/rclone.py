"""rclone as a client of WebDAV."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from lab.rig.host import Tool
from lab.rig.processes import Address, run_tool

PROGRAM = Tool(("rclone",), "rclone")
_OWN = ("--disable-http2", "--retries", "1", "--low-level-retries", "1", "--log-level", "ERROR")


def missing() -> list[str]:
    return [] if PROGRAM.found() else [PROGRAM.package]


def configured(folder: Path, address: Address, user: str, password: str) -> Path:
    """The file that names the remote "share"."""
    obscured = run_tool([PROGRAM.found(), "obscure", "-"], "rclone", sent=password).strip()
    path = folder / f"rclone-{address.port}.conf"
    path.touch(mode=0o600)
    path.write_text(
        f"[share]\ntype = webdav\nurl = http://{address}/\nvendor = other\n"
        f"user = {user}\npass = {obscured}\n",
        encoding="utf-8",
    )
    return path


def copy_s(config: Path, source: Path, folder: str, more: Sequence[str] = ()) -> float:
    """How long it takes to copy all files of source into a folder that is not there yet."""
    command = [PROGRAM.found(), "--config", str(config), *_OWN, *more]
    start = time.monotonic()
    run_tool([*command, "copy", str(source), f"share:{folder}"], "rclone")
    return time.monotonic() - start
