"""A closed loop in clear or in TLS. One run of the load generator each.

The load generator counts its handshakes. A run in which there were others than the stage asks for
is not valid.
"""

from dataclasses import dataclass
from typing import Any

from ...workloads.load import Asked
from ...workloads.outcome import Result
from ..closed_loop import load as closed_loop
from ..closed_loop.load import Drawn
from ..kind import LESS, NEITHER, Figure
from . import KEPT, RESUMED, Encryption

_MOST_FULL = 0.1  # of the handshakes that are to resume: the first of each thread is a full one

FIGURES = (
    # By the load generator, in the whole run.
    Figure(name="handshakes", better=NEITHER),
    Figure(name="resumed_share", unit="share", better=NEITHER),  # of them
    Figure(name="handshake_mean_ms", unit="ms", better=LESS),
    Figure(name="handshake_p99_ms", unit="ms", better=LESS),
)


@dataclass(frozen=True, kw_only=True)
class EncryptedLoop(Drawn):
    how: Encryption

    def failures(self, result: Result) -> list[str]:
        return [*super().failures(result), *self._other_handshakes(result.raw)]

    def _other_handshakes(self, raw: dict[str, Any]) -> list[str]:
        made = _handshakes(raw)
        if bool(made) != bool(self.how.by):
            return ["handshakes were made in clear" if made else "no handshake was made"]
        if self.how.connections == KEPT:
            many = made > self.threads
            return [f"{made} handshakes for {self.threads} kept connections"] if many else []
        share = _resumed(raw) if made else 0.0
        if self.how.connections == RESUMED:
            few = share < 1 - _MOST_FULL
            return [f"only {share:.0%} of the handshakes resumed"] if few else []
        return [f"{share:.0%} of the handshakes resumed"] if share else []

    def figures(self, result: Result) -> dict[str, float | None]:
        found = super().figures(result)
        made = _handshakes(result.raw)
        if not made:
            return found
        took = result.raw["tls"]["handshake_ms"]
        return {
            **found,
            "handshakes": made,
            "resumed_share": _resumed(result.raw),
            "handshake_mean_ms": took["mean"],
            "handshake_p99_ms": took["p99"],
        }


def _handshakes(raw: dict[str, Any]) -> int:
    made: int = raw.get("tls", {}).get("handshakes", 0)
    return made


def _resumed(raw: dict[str, Any]) -> float:
    """The share. Requires: there were handshakes."""
    return float(raw["tls"]["resumed"]) / _handshakes(raw)


def load(asked: Asked) -> EncryptedLoop:
    how, planned = asked.planned.stage.encryption, asked.planned
    assert how and planned.size  # see plan/options.py
    usual = closed_loop.load(asked)
    return EncryptedLoop(
        **{**vars(usual), "flags": (*usual.flags, *how.loadgen)},
        how=how,
        files=planned.file_count,
        seed=asked.repeat,
    )
