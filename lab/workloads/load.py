"""What a load is to the rest of the lab, whatever its users do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .closed_loop import Result


class Load(Protocol):
    """One run of the load generator. It knows its command line and what its result must be."""

    @property
    def threads(self) -> int:
        """N: users, or requests under way."""

    @property
    def password(self) -> str: ...

    @property
    def run_s(self) -> float:
        """How long a run takes, its slowest request apart."""

    def command_flags(self) -> list[str]:
        """The load generator's flags, without the one for its result."""

    def parse(self, raw: dict[str, Any]) -> Result:
        """Reads the load generator's JSON. KeyError when a field is missing."""

    def failures(self, result: Result) -> list[str]:
        """Why the result is none of this load; [] for a good one."""

    def can_be_spoiled(self, result: Result) -> bool:
        """Whether other programs, which took part of the cores, may have changed the result."""

    def figures(self, result: Result) -> dict[str, Any]:
        """The fields of a Run that only this workload has."""
