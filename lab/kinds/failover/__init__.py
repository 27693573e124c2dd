"""An open loop while a server is killed and started again."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Failover:
    """What is killed at a third of a run and started again at two thirds, and the load meanwhile.

    `--seconds` is a length of its own.
    """

    rate_rps: float
    seconds: float  # of a run
    quick_seconds: float  # of one of --quick
    warmup_s: float = 0.0
    component: str = "authserver"


KIND = Kind(
    name="failover",
    suffix="-failover",
    title=", a failover",
    heading="A server is killed and started again",
    has_own_stages=True,
    is_here_only=True,
    shows_series=True,
)
