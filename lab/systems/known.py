"""The systems by the names that stages give them."""

from __future__ import annotations

from ..plan.catalog import Stage
from ..rig.errors import WrongUsage
from .system import System
from .turnstile import Turnstile

SYSTEMS: dict[str, System] = {"turnstile": Turnstile()}


def of(stage: Stage) -> System:
    """WrongUsage for a stage of a system that there is not."""
    if stage.system not in SYSTEMS:
        raise WrongUsage(
            f"stage {stage.name}: no system '{stage.system}'; there are: {', '.join(SYSTEMS)}"
        )
    return SYSTEMS[stage.system]
