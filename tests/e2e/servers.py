"""The kinds of servers: both programs, all models, with and without idle threads or processes."""

from programs import Program
from scene import Scene

KINDS = (
    "fileserver",
    "fileserver without idle threads",
    "fileserver with processes",
    "fileserver with processes, none idle",
    "fileserver with loops",
    "authserver with threads",
    "authserver with threads, none idle",
    "authserver with processes",
    "authserver with processes, none idle",
)
AUTHSERVER_KINDS = tuple(kind for kind in KINDS if kind.startswith("authserver"))
PROCESS_KINDS = tuple(kind for kind in KINDS if "processes" in kind)


def start(scene: Scene, kind: str, *flags: object, **options) -> Program:
    """Starts a server of this kind that answers `ping` with OK."""
    keeps_none_idle = "without" in kind or "none idle" in kind
    models = {"processes": "process", "loops": "event"}
    model = next((model for word, model in models.items() if word in kind), "thread")
    if kind.startswith("fileserver"):
        spare = ("--spare-threads", "0") if keeps_none_idle else ()
        return scene.fileserver(scene.authserver(), "--model", model, *spare, *flags, **options)
    spare = ("--spare-workers", "0") if keeps_none_idle else ()
    return scene.authserver(
        "--model", model, "--password-scheme", "plain", *spare, *flags, **options
    )
