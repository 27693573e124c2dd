"""Another host, reached with ssh: it runs the load generator, and we run the servers.

The host must let us log in without a password (an ssh key), and have the packages of
`scripts/setup build`. The program is copied there for the time of the run.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .clocks import Clock
from .cores import Cores
from .errors import Failed
from .place import Place
from .processes import Program

_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
_DESTINATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%-]*")
_TIMEOUT_S = 60.0

# Runs "$@" with the variables of the first lines. It is killed when its input ends, so that it does
# not outlive us. Its own input is empty.
_RUN = """
while read -r line && [ -n "$line" ]; do export "$line"; done
exec 3<&0
"$@" </dev/null 3<&- & program=$!
( cat <&3; kill "$program" ) >/dev/null 2>&1 & watch=$!
exec 3<&-
wait "$program"; status=$?
kill "$watch" 2>/dev/null
exit "$status"
"""
# Prints the time whenever a line comes.
_CLOCK = "while read -r line; do date +%s.%N; done"


@dataclass(frozen=True, kw_only=True)
class OtherHost(Place):
    """folder is one of its own there. It has what program() copied."""

    is_here: bool = False
    destination: str
    folder: str
    _copied: dict[str, str] = field(default_factory=dict)

    def lscpu(self) -> str:
        try:
            return ask(self.destination, "LC_ALL=C lscpu -J")
        except Failed:
            return ""

    def program(self, ours: Path) -> str:
        if ours.name not in self._copied:
            there = f"{self.folder}/{ours.name}"
            quoted = shlex.quote(there)
            with open(ours, "rb") as file:
                ask(self.destination, f"cat >{quoted} && chmod 700 {quoted}", file)
            try:
                ask(self.destination, f"{quoted} --version")
            except Failed as error:
                raise Failed(f"{error} (`scripts/setup build` installs what it needs)") from error
            self._copied[ours.name] = there
        return self._copied[ours.name]

    def there(self, ours: Path) -> str:
        return f"{self.folder}/{ours.name}"

    def fetch(self, ours: Path) -> None:
        ours.write_text(ask(self.destination, f"cat {shlex.quote(self.there(ours))}"))

    def clock_command(self) -> list[str]:
        return _clock_command(self.destination)

    def start(
        self,
        name: str,
        command: list[str],
        log_path: Path,
        *,
        cores: Cores = (),
        secrets: dict[str, str] | None = None,
    ) -> Program:
        lines = "".join(f"{variable}={value}\n" for variable, value in (secrets or {}).items())
        wanted = ["sh", "-c", _RUN, "sh", *command]
        ssh = [*_SSH, self.destination, shlex.join(wanted)]
        return Program(name, ssh, log_path, input_lines=f"{lines}\n")


def is_destination(text: str) -> bool:
    """Whether ssh takes it as a host. Words that it would take as options are none."""
    return _DESTINATION.fullmatch(text) is not None


def ask(destination: str, command: str, sent: IO[bytes] | int = subprocess.DEVNULL) -> str:
    """Runs a shell command there; returns what it printed. Failed when it fails."""
    try:
        done = subprocess.run(
            [*_SSH, destination, command],
            stdin=sent,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise Failed("--client HOST needs ssh (package openssh-client)") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{destination} did not answer within {_TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        raise Failed(
            f"{destination}: {(done.stderr.strip() or 'it said nothing').splitlines()[-1]}"
        )
    printed: str = done.stdout
    return printed


@contextmanager
def logged_in(destination: str) -> Iterator[OtherHost]:
    """Failed when nobody may log in there. What was copied is removed when the block is left."""
    words = ask(destination, 'echo "$SSH_CONNECTION" && umask 077 && mktemp -d').split()
    if len(words) != 5:
        raise Failed(f"{destination} did not say by which address it sees us")
    our_address, folder = words[0], words[4]
    try:
        yield OtherHost(
            name=destination,
            title=f"the load generator on {destination}, reached with ssh",
            host=our_address,
            interface=_interface_of(our_address),
            clock_ahead_s=_clock_ahead_s(destination),
            destination=destination,
            folder=folder,
        )
    finally:
        ask(destination, f"rm -rf {shlex.quote(folder)}")


def _interface_of(address: str) -> str:
    """The interface that has this address of ours."""
    listed = json.loads(subprocess.check_output(["ip", "-json", "address"], text=True))
    for interface in listed:
        if any(one.get("local") == address for one in interface["addr_info"]):
            name: str = interface["ifname"]
            return name
    raise Failed(f"no interface of ours has {address}: is there a translation of addresses?")


def _clock_command(destination: str) -> list[str]:
    return [*_SSH, destination, _CLOCK]


def _clock_ahead_s(destination: str) -> float:
    clock = Clock(destination, _clock_command(destination))
    try:
        return clock.read().ahead_s
    finally:
        clock.close()
