"""What a client is to the lab: a command line that gets one file over a number of channels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from rig.login import Login
from rig.servers import Programs

from ..peers.packages import Copy, unpacked

HTTP, FTP = "http", "ftp"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One file, and how it is to be fetched."""

    protocol: str  # HTTP or FTP
    server: str  # HOST:PORT
    name: str  # below the folder that a user enters
    size_bytes: int
    user: str
    password: str
    channels: int  # connections with data at the same time
    own_address: str  # of where the client runs
    folder: Path  # empty and private, in memory, for what the client reads and leaves
    is_kept: bool  # the file is to be written to the folder, because the log cannot tell enough
    receiver: Login | None = None  # to which the file is copied; None: to the client
    receiver_name: str = ""  # under which it takes the file
    flags: tuple[str, ...] = ()  # further ones of our load generator
    is_resumed: bool = False  # an earlier program has left a part in the folder

    @property
    def host(self) -> str:
        return self.server.rpartition(":")[0]

    @property
    def url(self) -> str:
        return f"{self.protocol}://{self.server}/{self.name}"

    def ranges(self) -> list[tuple[int, int]]:
        """The first and the last byte of a part for each channel; parts are alike."""
        ends = [self.size_bytes * k // self.channels for k in range(self.channels + 1)]
        return [(first, after - 1) for first, after in pairwise(ends)]

    def write(self, name: str, text: str) -> Path:
        """A file in the folder that only its owner can read: passwords are on no command line."""
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return path

    def write_netrc(self) -> Path:
        words = f"machine {self.host} login {self.user} password {self.password}\n"
        return self.write("netrc", words)


class Client:
    """A program on this host."""

    package: ClassVar[str]  # its name, too
    can_throw_away: ClassVar[bool] = False  # what it gets, without a file
    is_one_transfer: ClassVar[bool] = False  # in the log of the server, whatever its channels

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """Downloads what it lacks. LeftOut when that cannot be had."""
        unpacked(cls.package, packages)

    def __init__(self, packages: Path, programs: Programs) -> None:
        """LeftOut, with the reason, when this host cannot run it. programs are ours."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        raise NotImplementedError

    def command(self, wanted: Wanted) -> list[str]:
        """Writes what the program reads, and returns its command line."""
        raise NotImplementedError

    def environment(self, _wanted: Wanted) -> dict[str, str]:
        """What is added to the lab's own."""
        return {}

    def saved(self, wanted: Wanted) -> list[Path]:
        """The files that together, in this order, are what it got. [] if it has thrown it away."""
        return [] if self.can_throw_away and not wanted.is_kept else [wanted.folder / wanted.name]

    def reorder_bytes_max(self, _output: str) -> int | None:
        """The most bytes that waited for earlier ones; None if the output does not say."""
        return None

    def partial(self, wanted: Wanted) -> Path:
        """Where it keeps what it has got so far. Requires: the file is saved in one piece."""
        return wanted.folder / wanted.name


class Unpacked(Client):
    """One whose package is unpacked."""

    def __init__(self, packages: Path, programs: Programs) -> None:
        self.copy: Copy = unpacked(self.package, packages)

    @property
    def version(self) -> str:
        return self.copy.version

    def environment(self, _wanted: Wanted) -> dict[str, str]:
        return self.copy.environment
