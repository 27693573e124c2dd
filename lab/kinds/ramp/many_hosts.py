"""A load from many hosts: testers that begin at one moment, and links that change meanwhile."""

import json
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rig.clocks import Reading
from rig.cores import Cores
from rig.errors import Failed
from rig.nodes import Nodes
from rig.testers import Testers

from ...workloads.outcome import Event, Result, Series
from ...workloads.uploads import Upload
from . import gathered
from . import load as ramp
from .load import RampLoad

_GRACE_S = 90.0  # beyond the length of the load: its slowest upload, and writing the results
_SEED = 1  # of the testers that are killed, so that it is repeatable


class ManyHosts:
    """See generator.Generator. Threads: one."""

    def __init__(
        self, nodes: Nodes, load: RampLoad, program: Path, folder: Path, cores: Cores = ()
    ):
        """Failed when one cannot be started. folder is for the files of the testers."""
        self._load = load
        self._uploads: list[Upload] = []
        self._clocks: list[Reading] = []
        self._stack = ExitStack()
        flags = load.command_flags()
        self._testers = Testers(nodes, program, flags, folder, password=load.password, cores=cores)
        changes = nodes.follow_changes(self._testers.start_unix_s)
        self._changed = self._stack.enter_context(changes)

    def process_ids(self) -> dict[str, int]:
        """They are too many to be watched one by one; their results say what they used."""
        return {}

    def command_line(self) -> str:
        return self._testers.command_line()

    def is_running(self) -> bool:
        return self._testers.is_running()

    def finish(self) -> Result:
        """With the uploads of those that are left."""
        events = self._kill_some()
        _, output = self._testers.wait_for_output(self._load.run_s + _GRACE_S)
        try:
            raw = json.loads(output)
        except ValueError as error:
            raise Failed(f"loadgen merge: {self._testers.last_words()}") from error
        found = gathered.of(self._testers, raw)
        self._clocks = found.clocks
        self._uploads = ramp.uploads_of(found)
        start_s = found.start_unix_s
        raw["ramp"] = ramp.together(found, self._uploads, self._load.ramp)
        events += [Event(t, what) for t, what in self._changed]
        return replace(
            self._load.parse(raw),
            start_s=start_s,
            end_s=start_s + self._load.ramp.length_s,
            series=Series(tuple(found.seconds)).with_events(events, start_s),
        )

    def uploads(self) -> list[Upload]:
        return self._uploads

    def clocks(self) -> list[Reading]:
        return self._clocks

    def stop(self) -> None:
        self._testers.stop()
        self._stack.close()

    def _kill_some(self) -> list[Event]:
        """Where and when the ramp says so."""
        wanted = self._load.ramp
        if not wanted.lost_share:
            return []
        due_s = self._testers.start_unix_s + wanted.loss_s
        time.sleep(max(0.0, due_s - time.time()))
        killed = self._testers.kill(wanted.lost_share, _SEED)
        return [Event(time.time(), f"{len(killed)} testers killed")]
