"""What a client is to the lab: a command line that gets one file over a number of channels."""

import shutil
import socket
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from rig.login import Login
from rig.processes import run_tool
from rig.servers import Programs

from ..peers.namespace import in_namespace, require_namespaces
from ..peers.packages import Copy, LeftOut, unpacked

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


_SMALLEST_PART = "1M"  # it takes no smaller one, so a file of 4 MB has at most 4 channels


class Aria2(Unpacked):
    """The first connection asks for the whole file, and is closed when its segment has come.

    It can have 16 at most.
    """

    package = "aria2"

    def command(self, wanted: Wanted) -> list[str]:
        count = str(wanted.channels)
        return [
            str(self.copy.path("usr/bin/aria2c")),
            *("--no-conf=true", "--quiet=true", f"--netrc-path={wanted.write_netrc()}"),
            *("-x", count, "-s", count, "-k", _SMALLEST_PART, "--file-allocation=none"),
            *("--auto-save-interval=1", "--continue=true"),
            *("-d", str(wanted.folder), "-o", wanted.name, wanted.url),
        ]


# A part has 1 MB at least by default: small files would have fewer channels than were asked for.
_SCRIPT = """\
set cmd:fail-exit yes
set net:max-retries 2
set xfer:log no
set pget:min-chunk-size 64k
open -u {user},{password} {protocol}://{server}/
set pget:save-status 1
pget {resumed}-n {channels} -O {folder} {name}
"""


class Lftp(Unpacked):
    """Its home is the folder of the fetch, so that it neither reads nor leaves anything else."""

    package = "lftp"

    def command(self, wanted: Wanted) -> list[str]:
        resumed = "-c " if wanted.is_resumed else ""
        script = wanted.write("script", _SCRIPT.format(**vars(wanted), resumed=resumed))
        return [str(self.copy.path("usr/bin/lftp")), "--norc", "-f", str(script)]

    def environment(self, wanted: Wanted) -> dict[str, str]:
        return super().environment(wanted) | {"HOME": str(wanted.folder)}


_SINK = "file:///dev/null"


class GlobusUrlCopy(Unpacked):
    """Anonymous users only, as our GridFTP server has no others.

    It is told its own address by a file of hosts, as the server is: for several channels the data
    connections come to it.
    """

    package = "globus-gass-copy-progs"
    can_throw_away = True
    is_one_transfer = True

    def __init__(self, packages: Path, programs: Programs) -> None:
        require_namespaces(self.package)
        super().__init__(packages, programs)

    def command(self, wanted: Wanted) -> list[str]:
        text = f"127.0.0.1 localhost\n{wanted.own_address} {socket.gethostname()}\n"
        return in_namespace({wanted.write("hosts", text): "/etc/hosts"}, self.transfer(wanted))

    def transfer(self, wanted: Wanted) -> list[str]:
        program = str(self.copy.path("usr/bin/globus-url-copy"))
        parallel = ["-p", str(wanted.channels)] if wanted.channels > 1 else []
        return [program, *parallel, self.source(wanted), self.target(wanted)]

    def source(self, wanted: Wanted) -> str:
        return f"ftp://{wanted.server}/~/{wanted.name}"

    def target(self, wanted: Wanted) -> str:
        """Where the file goes, as a URL."""
        saved = self.saved(wanted)
        return f"file://{saved[0]}" if saved else _SINK

    def environment(self, wanted: Wanted) -> dict[str, str]:
        return super().environment(wanted) | {"HOME": str(wanted.folder)}


_NOWHERE = "/dev/null"


class Curl(Client):
    """That of the host. Its ranges stay files of their own: curl does not put them together."""

    package = "curl"
    can_throw_away = True

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """It is on nearly every host, and downloads nothing here."""

    def __init__(self, packages: Path, programs: Programs) -> None:
        if not shutil.which("curl"):
            raise LeftOut("curl is left out: it is not installed (package curl)")

    @property
    def version(self) -> str:
        return run_tool(["curl", "--version"], "the version of curl").split()[1]

    def command(self, wanted: Wanted) -> list[str]:
        netrc = str(wanted.write_netrc())
        outputs = [str(path) for path in self.saved(wanted)] or [_NOWHERE] * wanted.channels
        one = ["--fail", "--silent", "--show-error", "--netrc-file", netrc]
        if wanted.channels == 1:
            resumed = ["--continue-at", "-"] if wanted.is_resumed else []
            return ["curl", "--disable", *one, *resumed, "--output", outputs[0], wanted.url]
        together = ["--parallel", "--parallel-immediate", "--parallel-max", str(wanted.channels)]
        command = ["curl", "--disable", "--no-progress-meter", *together]
        for number, (first, last) in enumerate(wanted.ranges()):
            part = ["--range", f"{first}-{last}", "--output", outputs[number], wanted.url]
            command += [*(["--next"] if number else []), *one, *part]
        return command

    def saved(self, wanted: Wanted) -> list[Path]:
        if not wanted.is_kept:
            return []
        return [wanted.folder / f"part{number}" for number in range(wanted.channels)]

    def partial(self, wanted: Wanted) -> Path:
        return wanted.folder / "part0"
