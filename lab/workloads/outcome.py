"""What one run of the load generator came to, whatever its users did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Result:
    """The load generator's result."""

    requests: int
    elapsed_s: float
    throughput_rps: float
    bytes: int
    errors: dict[str, int]
    response_ms: dict[str, float]  # of a crowd only the mean is known
    phases_ms: dict[str, float]
    n_check: float | None  # None in an open loop, whose N is not given
    is_valid: bool
    invalid_because: list[str]
    start_s: float
    end_s: float
    used_cores: float
    is_bottleneck: bool
    noise: float
    made_in_all: int | None  # requests with warm-up, cool-down and errors; None if unknown
    raw: dict[str, Any] = field(repr=False)

    def moved(self, seconds: float) -> Result:
        """By another clock."""
        return replace(self, start_s=self.start_s + seconds, end_s=self.end_s + seconds)

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())

    @property
    def error_list(self) -> str:
        return ", ".join(f"{cause} {count}" for cause, count in sorted(self.errors.items()))
