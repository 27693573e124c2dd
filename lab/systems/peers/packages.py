"""Private copies of packages: downloaded by apt, unpacked in a folder, and never installed.

The packages of the FTP servers exclude each other, so no two of them can be installed on one host.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig.errors import Failed
from rig.processes import run_tool

_DOWNLOAD_TIMEOUT_S = 300
_LIBRARIES = ("lib", "python3-")  # how the names of packages of libraries begin
_VERSION = "turnstile-version"  # a file in an unpacked copy
_ONLY_NEEDED = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")


class LeftOut(Failed):
    """This host cannot run the server. The message says which one, and why."""


@dataclass(frozen=True)
class Copy:
    """An unpacked package, with the libraries that the host does not have."""

    package: str
    folder: Path

    @property
    def version(self) -> str:
        return (self.folder / _VERSION).read_text(encoding="ascii")

    def path(self, name: str) -> Path:
        """Of a file that the package would install as /NAME. Failed if it has no such file."""
        found = self.folder / name
        if not found.exists():
            raise Failed(f"the package {self.package} {self.version} has no /{name}")
        return found

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program of the package find its libraries."""
        libraries = [*self.folder.glob("lib/*-linux-*"), *self.folder.glob("usr/lib/*-linux-*")]
        return {
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            "PYTHONPATH": str(self.folder / "usr/lib/python3/dist-packages"),
        }


def unpacked(package: str, parent: Path) -> Copy:
    """The copy below parent, which is made if it is not there. Several labs may call it at once.

    LeftOut, with the name of the package, when apt cannot provide it.
    """
    parent = parent.resolve()
    parent.mkdir(parents=True, exist_ok=True)
    copy = Copy(package, parent / package)
    with _locked(parent / f"{package}.lock"):
        if not copy.folder.exists():
            try:
                _make(copy)
            except Failed as reason:
                raise LeftOut(f"{package} is left out: {reason}") from reason
    return copy


def _make(copy: Copy) -> None:
    """The folder appears when it is whole."""
    if not shutil.which("apt-get"):
        raise Failed("this system has no apt to download it with")
    print(f"downloading the package {copy.package}", file=sys.stderr)
    new = copy.folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    archives = new / "archives"
    archives.mkdir(parents=True)
    what = "its package cannot be downloaded"
    command = ["env", f"--chdir={archives}", "apt-get", "download", "--quiet"]
    sandbox = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    needed = [copy.package, *_missing_libraries(copy.package)]
    run_tool([*command, *sandbox, *needed], what, _DOWNLOAD_TIMEOUT_S)
    for archive in archives.iterdir():
        run_tool(["dpkg", "-x", str(archive), str(new)], f"unpacking {archive.name}")
    own = next(archives.glob(f"{copy.package}_*"))
    version = run_tool(["dpkg-deb", "--field", str(own), "Version"], f"the version of {own.name}")
    (new / _VERSION).write_text(version.strip(), encoding="ascii")
    shutil.rmtree(archives)
    new.rename(copy.folder)


def _missing_libraries(package: str) -> list[str]:
    """The libraries that it needs, directly and indirectly, and that are not installed."""
    missing: list[str] = []
    asked = [package]
    while asked:
        direct = [name for name in _libraries_of(asked) if name not in missing]
        asked = [name for name in direct if not _is_installed(name)]
        missing += asked
    return missing


def _libraries_of(packages: list[str]) -> list[str]:
    """apt marks alternatives with a bar, and virtual packages with pointed brackets."""
    options = [f"--no-{kind}" for kind in _ONLY_NEEDED]
    what = "apt does not know it; apt-get update may help"
    listed = run_tool(["apt-cache", "depends", *options, *packages], what)
    lines = [line.strip(" |") for line in listed.splitlines()]
    needed = [line.partition("Depends: ")[2] for line in lines if "Depends: " in line]
    return [name for name in dict.fromkeys(needed) if name.startswith(_LIBRARIES)]


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}\n", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "installed" in done.stdout.split()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
