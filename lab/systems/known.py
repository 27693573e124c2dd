"""The systems by the names that stages give them."""

from __future__ import annotations

from ..plan.catalog import Stage
from ..rig.errors import WrongUsage
from .ftp import known as ftp
from .ftp.system import FtpSystem
from .system import System
from .turnstile import Turnstile

SYSTEMS: dict[str, System] = {
    "turnstile": Turnstile(),
    **{name: FtpSystem(entry) for name, entry in ftp.ENTRIES.items()},
}


def of(stage: Stage) -> System:
    """WrongUsage for a stage of a system that there is not."""
    if stage.system not in SYSTEMS:
        raise WrongUsage(
            f"stage {stage.name}: no system '{stage.system}'; there are: {', '.join(SYSTEMS)}"
        )
    return SYSTEMS[stage.system]
