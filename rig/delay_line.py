"""A link with a delay, as a program of ours that holds packets: lab/delay_line.

Many kernels of virtual machines and containers have no netem. The program says how late it was
itself, because what it does not do in time looks like a slower link.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import cable
from .errors import Failed
from .link import Link
from .processes import Program
from .told import Direction, Told

_TIMEOUT_S = 10.0


class DelayLine:
    """Two devices, each in a namespace, with a link between them until stop().

    Threads: one.
    """

    def __init__(
        self, program: Path, link: Link, ours: str, namespace: str, theirs: str, logs: Path
    ) -> None:
        """ours and theirs are the names of the devices; theirs is in the namespace, a file of
        /proc. Failed when the devices cannot be made.
        """
        command = [str(program), f"/proc/{os.getpid()}/ns/net", ours, namespace, theirs]
        self._program = Program(
            "delay_line", command + _words(link), logs / "delay_line.log", input_lines=""
        )
        if self._program.read_line(_TIMEOUT_S) != "ready\n":
            self.stop()
            raise Failed(f"no link with a delay: {self._program.last_words()}")

    @property
    def pid(self) -> int:
        return self._program.pid

    def told(self) -> Told:
        """Since it was last asked. Failed when it has ended."""
        self._program.send("\n")
        line = self._program.read_line(_TIMEOUT_S)
        try:
            said = json.loads(line)
        except ValueError as error:
            raise Failed(f"the link with a delay: {self._program.last_words()}") from error
        return Told(*(Direction(**said[name]) for name in ("there", "back")))

    def stall(self, seconds: float) -> None:
        """For so long, the connection that sends data next loses all of its packets."""
        self._program.send(f"{seconds:g}\n")

    def stop(self) -> None:
        self._program.stop()


def _words(link: Link) -> list[str]:
    """DELAY_MS is that of one direction."""
    later = [f"{one.at_s:g}:{cable.bits_per_s(one.rate):.0f}" for one in link.later]
    one_way_ms = f"{link.delay_ms / 2:g}"
    rate = f"{cable.bits_per_s(link.rate):.0f}"
    return [one_way_ms, str(link.queue_bytes), str(link.lines), rate, *later]
