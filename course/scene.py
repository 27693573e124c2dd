"""What a case of the contract plays on: a server under test, its files, and whom it asks.

All files have random bytes and names that no server can know.
"""

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rig.errors import Failed
from rig.processes import Address, Program

from .peers import AuthServer, Client, Wrong

_READY_S = 10.0
_LARGE = 300_000

Start = Callable[[Sequence[str], Path], Program]  # of flags, and a folder that it may read


@dataclass
class Scene:
    """A server under test, what it serves, and whom it asks. Threads: one."""

    start: Start
    folder: Path
    auth: AuthServer
    files: dict[str, bytes] = field(default_factory=dict)
    program: Program | None = None
    _address: Address | None = None

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def prepare(self) -> None:
        inside, tag = self.root / "inside", secrets.token_hex(3)
        inside.mkdir(parents=True)
        sizes = {f"small-{tag}.txt": 1000, f"inside/{tag}": 77, f"none-{tag}": 0}
        for name, size in {**sizes, f"large-{tag}": _LARGE}.items():
            self.files[name] = secrets.token_bytes(size)
            (self.root / name).write_bytes(self.files[name])
        (self.folder / "secret").write_bytes(b"nobody may read this")
        (self.root / "link").symlink_to("../secret")
        (self.root / "absolute").symlink_to(self.folder / "secret")
        os.mkfifo(self.root / "fifo")
        self.auth.accounts["ann"] = "lemon"

    @property
    def small(self) -> str:
        return next(iter(self.files))

    def address(self) -> Address:
        """Of the server, which is started where it does not run. Wrong when it does not start."""
        if self.program and self._address and self.program.is_running():
            return self._address
        self.end()
        flags = ["--listen", "127.0.0.1:0", "--auth", str(self.auth.address)]
        self.program = self.start([*flags, "--root", str(self.root)], self.folder)
        try:
            self._address = self.program.wait_ready(_READY_S)
        except Failed as error:
            self.end()
            raise Wrong(f"no line READY HOST:PORT came: {str(error)[:200]}") from error
        return self._address

    def end(self) -> None:
        if self.program:
            self.program.kill()
        self.program = None

    def client(self, *lines: str) -> Client:
        return Client(self.address(), *lines)

    def granted(self) -> Client:
        """A connection of ann's. Wrong when she is not let in."""
        client = self.client("get:ann:lemon")
        try:
            same(client.reply(), "OK", "the right password")
        except Wrong:
            client.__exit__()
            raise
        return client


def same(found: str | bytes, wanted: str | bytes, what: str) -> None:
    if found == wanted:
        return
    if isinstance(found, bytes) and isinstance(wanted, bytes):
        raise Wrong(f"{what} came with other bytes ({len(found)} for {len(wanted)})")
    told = "the bytes of a file" if isinstance(found, bytes) else found
    should = "the bytes of the file" if isinstance(wanted, bytes) else wanted
    raise Wrong(f"{what} was answered with {told}, where {should} is right")


def of_process(pid: int, name: str) -> str:
    """A file of its in /proc; "" when it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
