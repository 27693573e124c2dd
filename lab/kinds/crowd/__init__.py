"""Many slow users, each at its own pace."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How each of many slow users behaves: see docs/measuring.md."""

    rate_bytes_s: float
    least_rate_percent: int = 75  # of the rate; a user with a slower fetch drops out
    engine: str = "epoll"  # of the load generator


KIND = Kind(
    name="crowd",
    suffix="-crowd",
    title=", a crowd",
    heading="How many users a server bears",
    takes_threads=True,
    few_files=1,
)
