"""How programs of a submission are started: in the jail, as far as this host can have one."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import control_group
from rig.control_group import Limits
from rig.errors import Failed

from . import jail

_JAIL = Path(jail.__file__).resolve()
_FIRST_USER, _USERS = 60_100, 400  # numbers that Debian gives to nobody
_MEMORY_BYTES = 1 << 30  # of all processes of a submission
_ADDRESSES_BYTES = 8 << 30  # of each process, where there is no limit of memory in use
_PROCESSES = 512  # threads count too


@dataclass(frozen=True)
class Sandbox:
    """Of one submission. user is its number; 0 where we are not root. Immutable."""

    user: int
    prefix: tuple[str, ...] = ()  # words that put a program into its control group

    def command(
        self,
        program: Sequence[str],
        *,
        show: Sequence[Path] = (),
        write: Sequence[Path] = (),
        folder: Path | None = None,
        has_network: bool = True,
        temporary: str = "64m",
    ) -> list[str]:
        """The words that start it. show and write are the paths that it sees, beside the system.

        folder is where it starts; it must be one of these.
        """
        words = [sys.executable, "-I", "-S", str(_JAIL), "--user", str(self.user)]
        words += ["--temporary", temporary]
        # What the control group limits is that of this submission. The kernel counts processes of
        # a user, and two graders on one host may have given the same number.
        alone = ["--memory", str(_ADDRESSES_BYTES), "--processes", str(_PROCESSES)]
        words += [] if self.prefix else alone
        words += [] if has_network else ["--no-network"]
        words += ["--folder", str(folder)] if folder else []
        for flag, paths in (("--show", show), ("--write", write)):
            for path in paths:
                words += [flag, str(path)]
        return [*self.prefix, *words, "--", *program]

    def own(self, path: Path) -> None:
        """Gives it to the user of the submission, with all that is in it."""
        if not self.user:
            return
        for one in (path, *path.rglob("*")):
            os.chown(one, self.user, self.user, follow_symlinks=False)


@contextmanager
def made(number: int, work: Path, *, has_share: bool = False) -> Iterator[Sandbox]:
    """For the submission of this number. work is a folder on the disk.

    has_share: all its processes together get the share of the cores that one other program has, so
    one that forks without end takes no more. A measurement is without that: there it would be seen.
    """
    may = os.geteuid() == 0 and jail.has_users()
    user = _FIRST_USER + number % _USERS if may else 0
    cores = float(os.cpu_count() or 1) if has_share else None
    limits = Limits(memory_bytes=_MEMORY_BYTES, processes=_PROCESSES, cores=cores)
    with ExitStack() as stack:
        try:
            group = stack.enter_context(control_group.limited(limits, work))
        except Failed:
            yield Sandbox(user)
            return
        yield Sandbox(user, tuple(group.prefix))


def missing(work: Path) -> str:
    """What a submission cannot have on this host, in one line; "" where it has all."""
    found = [jail.missing()]
    with made(0, work) as sandbox:
        found += [] if sandbox.prefix else ["without a limit of memory for all processes together"]
    return ", ".join(filter(None, found))
