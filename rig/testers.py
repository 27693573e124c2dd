"""One load from many hosts: a load generator on each of them, and all begin at one moment.

Each runs its share of the load, and writes its result, a line for each second and a line for each
transfer into files, which are fetched when all have ended. A tester that does not end as it should
is lost: its files up to then are fetched if they can be, but the result is of those that are left.
"""

import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .clocks import Clocks
from .cores import Cores
from .errors import Failed
from .nodes import Nodes
from .place import Place
from .processes import Program

_LEAD_S = 3.0  # loadgen starts its threads two seconds before
_LEAD_EACH_S = 0.015
_LEAD_ELSEWHERE_S = 5.0  # to log in
_MERGE_TIMEOUT_S = 120.0
_AT_ONCE = 16  # files that are copied
_REGULAR = (0, 1)  # the status of a run that ended by itself; 1: its result says what was wrong


@dataclass(frozen=True, kw_only=True)
class Tester:
    """One load generator. Its files are here once they are fetched, as far as they could be."""

    place: Place
    program: Program
    result: Path
    series: Path
    transfers: Path

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def files(self) -> tuple[Path, Path, Path]:
        return self.result, self.series, self.transfers


class Testers:
    """They are started by the construction, and run until wait_for_output() or stop().

    For who waits for the end of a load, this is like one Program that prints one result. Threads:
    one, and it must live until the end.
    """

    def __init__(
        self,
        nodes: Nodes,
        program: Path,
        flags: Sequence[str],
        folder: Path,
        *,
        password: str,
        cores: Cores = (),
    ) -> None:
        """Failed when one cannot be started.

        flags are those of the whole load; each tester runs a share of it. folder is for their files
        and logs; what it had is removed.
        """
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.lost: dict[str, str] = {}  # why, by the tester's name; filled by wait_for_output()
        self.gave_up: set[str] = set()  # names of those left that ended early: no request succeeded
        self.killed_unix_s: dict[str, float] = {}  # when, by our clock; of those by kill()
        self.start_late_ms: dict[str, float] = {}  # of those that are left
        self.testers: list[Tester] = []
        self._folder = folder
        self._program = program
        self._last_words = ""
        places = nodes.places
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            programs = list(pool.map(lambda place: place.program(program), places))
        self.clocks = Clocks(places)
        self.start_unix_s = time.time() + _lead_s(places)  # by our clock
        secrets = {"LOADGEN_PASSWORD": password}
        try:
            for number, (place, path) in enumerate(zip(places, programs), 1):
                share = ["--share", f"{number}/{len(places)}"]
                command = [path, *flags, *share]
                self.testers.append(self._started(place, command, cores, secrets))
        except BaseException:
            self.stop()
            raise

    def _started(
        self, place: Place, command: list[str], cores: Cores, secrets: dict[str, str]
    ) -> Tester:
        # A file of an earlier load, which could not be fetched, must not be taken for one of this.
        stem = self._folder / f"{place.name}-{self.start_unix_s:.0f}"
        result, series, transfers = (
            stem.with_name(f"{stem.name}.{kind}")
            for kind in ("json", "series.csv", "transfers.csv")
        )
        own = ["--start-at", f"{self.clocks.theirs_s(place.name, self.start_unix_s):.3f}"]
        for flag, file in (("--json", result), ("--series", series), ("--transfers", transfers)):
            own += [flag, place.there(file)]
        log = self._folder / f"{place.name}.log"
        program = place.start("loadgen", [*command, *own], log, cores=cores, secrets=secrets)
        return Tester(
            place=place, program=program, result=result, series=series, transfers=transfers
        )

    def process_ids(self) -> list[int]:
        """Of those on this machine."""
        return [one.program.pid for one in self.testers if one.place.is_here]

    def command_line(self) -> str:
        """That of the first."""
        return self.testers[0].program.command_line()

    def is_running(self) -> bool:
        """Whether one still is."""
        return any(one.program.is_running() for one in self.testers)

    def left(self) -> list[Tester]:
        """Those with a result. Requires: wait_for_output() returned."""
        return [one for one in self.testers if one.name not in self.lost]

    def kill(self, share: float, seed: int) -> list[str]:
        """Kills this share of all testers, at random; returns their names."""
        running = [one for one in self.testers if one.program.is_running()]
        count = min(len(running), round(share * len(self.testers)))
        chosen = random.Random(seed).sample(running, count)
        for one in chosen:
            one.program.kill()
            self.killed_unix_s[one.name] = time.time()
        return [one.name for one in chosen]

    def wait_for_output(self, timeout_s: float) -> tuple[int, str]:
        """Waits until all have ended, and fetches their files. Returns, as Program does, the exit
        status and the output of `loadgen merge`: the result of those that are left, by our clock.

        A tester that needs longer than timeout_s after the start is stopped, and lost. One that
        gave up is left, but not in the result: it ended before the others, without a success.
        Failed when all are lost or gave up.
        """
        deadline = time.monotonic() + self.start_unix_s - time.time() + timeout_s
        for one in self.testers:
            with suppress(subprocess.TimeoutExpired):
                one.program.wait(max(0.0, deadline - time.monotonic()))
        late = {one.name for one in self.testers if one.program.is_running()}
        self.stop()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(_fetch, self.testers))
        for one in self.testers:
            why = "it did not end in time" if one.name in late else self._taken(one)
            if why:
                self.lost[one.name] = why
        return self._merged()

    def last_words(self) -> str:
        """Why there is no result."""
        return self._last_words

    def stop(self) -> int:
        """Ends all. Returns the worst exit status."""
        for one in self.testers:
            one.program.signal(signal.SIGTERM)
        statuses = [one.program.stop() for one in self.testers]
        self.clocks.close()
        return max(map(abs, statuses), default=0)

    def _taken(self, tester: Tester) -> str:
        """Sets its result on our clock. Returns why there is none, or ""."""
        status = tester.program.wait()
        if status not in _REGULAR:
            return _why_ended(status, tester.program)
        try:
            raw: dict[str, Any] = json.loads(tester.result.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return f"no result: {tester.program.last_words()}"
        if raw["end"] == "failed" and not raw["requests"]:
            self.gave_up.add(tester.name)
        self.start_late_ms[tester.name] = 1000 * raw["start_late_s"]
        theirs_s = raw["started_unix_s"]
        ours_s = self.clocks.ours_s(tester.name, theirs_s)
        if ours_s != theirs_s:
            text = json.dumps({**raw, "started_unix_s": ours_s})
            tester.result.write_text(text, encoding="utf-8")
        return ""

    def _merged(self) -> tuple[int, str]:
        left = self.left()
        if not left:
            name, why = next(iter(self.lost.items()))
            raise Failed(f"all {len(self.testers)} testers were lost; {name}: {why}")
        results = [str(one.result) for one in left if one.name not in self.gave_up]
        if not results:
            raise Failed(f"no request of a tester succeeded; {left[0].program.last_words()}")
        command = [str(self._program), "merge", *results, "--json", "-"]
        merging = Program("loadgen merge", command, self._folder / "merge.log")
        try:
            status, output = merging.wait_for_output(_MERGE_TIMEOUT_S)
        finally:
            merging.stop()
        self._last_words = merging.last_words()
        return status, output


def _lead_s(places: Sequence[Place]) -> float:
    """What it takes until all are ready to begin."""
    are_here = all(place.is_here for place in places)
    return _LEAD_S + _LEAD_EACH_S * len(places) + (0 if are_here else _LEAD_ELSEWHERE_S)


def _fetch(tester: Tester) -> None:
    for file in tester.files:
        with suppress(Failed):  # then it is missing, and its reader says so
            tester.place.fetch(file)


def _why_ended(status: int, program: Program) -> str:
    if status < 0:
        return f"killed by signal {-status}"
    return f"exit status {status}: {program.last_words()}"
