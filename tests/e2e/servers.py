"""The kinds of servers that must all keep one promise: both programs, both models, with and without spare workers."""

from programs import Program
from scene import Scene

KINDS = (
    "fileserver",
    "fileserver without spare threads",
    "authserver with threads",
    "authserver with threads and none to spare",
    "authserver with processes",
    "authserver with processes and none to spare",
)
PROCESS_KINDS = tuple(kind for kind in KINDS if "processes" in kind)


def start(scene: Scene, kind: str, *flags: object, **options) -> Program:
    """A server of this kind, for which `ping` is OK."""
    is_spareless = "without" in kind or "none to spare" in kind
    if kind.startswith("fileserver"):
        spare = ("--spare-threads", "0") if is_spareless else ()
        return scene.fileserver(scene.authserver(), *spare, *flags, **options)
    spare = ("--spare-workers", "0") if is_spareless else ()
    model = "process" if "processes" in kind else "thread"
    return scene.authserver(
        "--model", model, "--password-scheme", "plain", *spare, *flags, **options
    )
