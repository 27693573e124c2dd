"""A closed loop over many kept connections, of which some may be idle."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Connections:
    """How many of N kept connections ask for files, and for how long. Few files are in the folder,
    so that what a server takes is mostly for connections.
    """

    busy: int = 0  # so many ask, and the others are logged in and idle; 0: all ask
    files: int = 100
    seconds: float = 3.0  # of a run
    quick_seconds: float = 2.0  # of one of --quick
    warmup_s: float = 0.5  # once all are connected
    log_ins_per_s: float = 1000  # that the server bears, while those before already ask

    def asking(self, connections: int) -> int:
        return min(self.busy, connections) or connections

    def connecting_s(self, connections: int) -> float:
        """The time that so many log-ins may take."""
        return connections / self.log_ins_per_s


KIND = Kind(
    name="connections",
    suffix="-connections",
    title=", many connections",
    heading="A thread, a process or events for many connections",
    has_own_stages=True,
    takes_threads=True,
    few_files=Connections.files,
)
