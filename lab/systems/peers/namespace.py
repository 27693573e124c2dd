"""A mount namespace for a server, where files of the host are replaced by its own."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rig.errors import Failed
from rig.processes import run_tool

from .packages import LeftOut

SERVED = "/mnt"  # where the served folder is: sessions may enter it, wherever the folder lies
_MODE = "mode=0777"


def require_namespaces(server: str) -> None:
    """LeftOut when this user may not make a mount namespace. Containers often forbid it."""
    try:
        run_tool(["unshare", "--mount", "true"], "no mount namespace")
    except Failed as reason:
        raise LeftOut(f"{server} is left out: {reason}") from reason


def in_namespace(
    mounts: dict[Path, str], command: list[str], in_memory: Sequence[str] = ()
) -> list[str]:
    """The command, run where each of the files or folders is in its place.

    Each folder of in_memory is an empty one, which everybody may write to. It goes with the last
    process that sees it. The process id stays. Descriptor 0 is the log, because vsftpd complains
    there.
    """
    steps = [shlex.join(["mount", "-t", "tmpfs", "-o", _MODE, "lab", place]) for place in in_memory]
    steps += [shlex.join(["mount", "--bind", str(own), place]) for own, place in mounts.items()]
    steps.append(f"exec {shlex.join(command)} 0<&2")
    return ["unshare", "--mount", "sh", "-c", " && ".join(steps)]
