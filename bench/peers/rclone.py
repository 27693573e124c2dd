"""rclone as a client of WebDAV."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rig.host import Tool
from rig.processes import Address, run_tool

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


def copy_s(config: Path, sources: Sequence[Path], folder: str) -> float:
    """How long it takes until each source is below a folder that is not there yet.

    There is an rclone for each source, all at once: one waits 10 ms before each request to WebDAV.
    """
    command = [PROGRAM.found(), "--config", str(config), *_OWN, "copy"]

    def copy(source: Path) -> None:
        run_tool([*command, str(source), f"share:{folder}/{source.name}"], "rclone")

    start = time.monotonic()
    with ThreadPoolExecutor(len(sources)) as at_once:
        for one in [at_once.submit(copy, source) for source in sources]:
            one.result()
    return time.monotonic() - start
