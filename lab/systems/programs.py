"""What systems have in common whose servers are programs of this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rig.errors import Failed
from rig.processes import Program
from rig.transfer_log import TransferLog


class OfPrograms(ABC):
    """A part of system.Running, for those that name their programs."""

    @abstractmethod
    def programs(self) -> list[Program]:
        """All of them, the one that serves files first."""

    def commands(self) -> dict[str, str]:
        return {program.name: program.command_line() for program in self.programs()}

    @property
    def transfer_log(self) -> TransferLog | None:
        return None

    @property
    def upload_name(self) -> str:
        return ""

    def helpers(self) -> list[int]:
        return []

    def check_running(self) -> None:
        for program in self.programs():
            if not program.is_running():
                raise Failed(f"{program.name} ended: {program.last_words()}")
