"""A closed loop against several hosts behind a proxy."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Each host has the same share of a core, a link of its own, and memory for a part of the
    files. The proxy sends all requests for a name to the same host.
    """

    hosts: int
    cores: float = 0.1  # of each host
    link: str = "100mbit"  # of each host
    proxy_link: str = "1gbit"
    files: int = 3000  # all are asked for equally often
    in_memory: float = 0.334  # the share of them for which each host has memory
    is_same: bool = False  # each host reads the same files first; else its own ones
    is_lost: bool = False  # the last host is lost at a third of a run, and back at two thirds
    seconds: float = 10.0  # of a run
    quick_seconds: float = 5.0  # of one of --quick
    warmup_s: float = 1.0


KIND = Kind(
    name="scale_out",
    suffix="-hosts",
    title=", hosts behind a proxy",
    heading="One, two and three hosts behind a proxy",
    has_own_stages=True,
    is_here_only=True,
    takes_threads=True,
    few_files=Cluster.files,
)
