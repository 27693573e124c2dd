"""One attempt to fetch a file with a client: see generator.py, and kinds/client/load.py."""

import os
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Thread
from typing import BinaryIO

from rig import private_folder
from rig.clocks import Reading
from rig.cores import Cores
from rig.errors import Failed
from rig.host import network_counters
from rig.place import Place
from rig.transfer_log import TURNSTILE, TransferLog

from ...observe.connections import Connections
from ...observe.kept import Kept, kept_in, sent_again
from ...observe.log_formats import Served, make_up
from ...procedures.server_log import ServerLog
from ...systems.clients.client import Client, Wanted
from ...systems.system import Site
from ...workloads.outcome import Result
from ...workloads.uploads import Upload
from .load import Attempt, FetchLoad

_CHUNK_BYTES = 1 << 20


class Fetching:
    """It runs from its construction until it has finished, or is stopped.

    Threads: one. When the process ends is noted by another one, as the lab may be busy then.
    """

    def __init__(
        self, client: Client, load: FetchLoad, site: Site, log: TransferLog | None, cores: Cores
    ) -> None:
        """log is that of the server. Failed when the client cannot be started, or has no room."""
        self._client, self._load, self._root = client, load, site.root
        self._server_log = ServerLog(log)
        self._stack = ExitStack()
        try:
            is_told = log is not None and tells_the_whole(log, client, load.threads)
            is_kept = load.is_saved or load.kills > 0 or not is_told
            is_written = is_kept or not client.can_throw_away
            need_bytes = load.size_bytes if is_written else 0
            folder = self._stack.enter_context(private_folder.made(need_bytes))
            self._wanted = _wanted(load, site.place, folder, is_kept=is_kept)
            self._start(site, cores)
        except BaseException:
            self._stack.close()
            raise

    def _start(self, site: Site, cores: Cores) -> None:
        self._place, self._cores = site.place, cores
        self._log = site.logs / f"client-{self._client.package}.log"
        self._log.unlink(missing_ok=True)  # its last words are to be those of this attempt
        self._connections = Connections(site.place.host)
        self._connections.start()
        self._stack.callback(self._connections.stop)
        self._counted = network_counters("Tcp")
        self._true_prefixes, self._killed_s = 0, 0.0
        self._kept: list[Kept] = []  # at each kill
        self._start_s, self._end_s = time.time(), 0.0
        self._launch()

    def _launch(self) -> None:
        """Starts the program, and the thread that notes its end."""
        self._program = self._place.start(
            self._client.package,
            self._client.command(self._wanted),
            self._log,
            cores=self._cores,
            secrets=self._client.environment(self._wanted),
        )
        self._stack.callback(self._program.stop)
        self._watch = Thread(target=self._note_end, args=(self._program.pid,))
        self._watch.start()

    def process_ids(self) -> dict[str, int]:
        return {"loadgen": self._program.pid}

    def command_line(self) -> str:
        return self._program.command_line()

    def is_running(self) -> bool:
        return self._program.is_running()

    def finish(self) -> Result:
        """A client that takes too long, or fails, is a result as well. Failed when the place has no
        connection that could be stuck.
        """
        self._stall()
        self._kill_and_resume()
        failure, output = self._wait()
        self._watch.join()
        counted = network_counters("Tcp")
        self._connections.stop()
        served = self._server_log.of_file(0 if failure else self._load.size_bytes)
        attempt = Attempt(
            start_s=self._start_s,
            end_s=self._end_s,
            failure=failure or self._what_is_wrong(served),
            sent_bytes=sum(one.bytes for one in served),
            seen=self._connections.seen(),
            sent_segments=counted["OutSegs"] - self._counted["OutSegs"],
            retransmitted_segments=counted["RetransSegs"] - self._counted["RetransSegs"],
            cpu_s=self._killed_s + (self._program.used_s or 0.0),
            reorder_bytes_max=self._client.reorder_bytes_max(output),
            kills=len(self._kept),
            true_prefixes=self._true_prefixes,
            again_bytes=self._sent_again(served),
        )
        lines = [asdict(one) for one in served]
        return self._load.parse({**asdict(attempt), "served": lines})

    def uploads(self) -> list[Upload]:
        return []

    def clocks(self) -> list[Reading]:
        return []

    def stop(self) -> None:
        self._stack.close()

    def _note_end(self, pid: int) -> None:
        """The process stays a child that the program itself can wait for."""
        with suppress(ChildProcessError):  # it was waited for, just now
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        self._end_s = time.time()

    def _stall(self) -> None:
        """When it is time, if the program still runs then."""
        if not self._load.stuck_s:
            return
        self._watch.join(max(0.0, self._start_s + self._load.stuck_after_s - time.time()))
        if self._watch.is_alive():
            self._place.stall(self._load.stuck_s)

    def _kill_and_resume(self) -> None:
        """As often as it was asked for, or until the program has ended by itself."""
        for _ in range(self._load.kills):
            self._watch.join(random.uniform(0.0, self._load.run_s))
            if not self._watch.is_alive():
                return
            self._program.kill()
            self._watch.join()
            self._killed_s += self._program.used_s or 0.0
            self._kept.append(Kept(self._end_s, kept_in(self._client.partial(self._wanted))))
            self._true_prefixes += self._has_true_prefix()
            self._wanted = replace(self._wanted, is_resumed=True)
            self._launch()

    def _has_true_prefix(self) -> bool:
        """Whether what the program has left is a beginning of the file. Nothing is one, too."""
        left = self._client.partial(self._wanted)
        with open(self._root / self._load.name, "rb") as file:
            return not left.exists() or _begins_with(file, left)

    def _sent_again(self, served: Sequence[Served]) -> int | None:
        """None where the log does not tell parts."""
        return sent_again(served, self._kept) if self._server_log.has_parts else None

    def _wait(self) -> tuple[str, str]:
        """Why the client did not succeed, by its own exit status, or ""; and what it printed."""
        try:
            status, output = self._program.wait_for_output(self._load.timeout_s)
        except Failed as error:
            return str(error), ""
        if not status:
            return "", output
        last = self._program.last_words()
        return f"{self._client.package} ended with status {status}: {last}", output

    def _what_is_wrong(self, served: Sequence[Served]) -> str:
        """With what the client got, although it did not complain; ""."""
        saved = self._client.saved(self._wanted)
        if not saved:
            makes_it = make_up(served, self._load.size_bytes)
            return "" if makes_it else "what the server sent is not the file, each byte once"
        is_file = _are_the_same(saved, self._root / self._load.name)
        return "" if is_file else "what was saved is not the file"


def tells_the_whole(log: TransferLog, client: Client, channels: int) -> bool:
    """Whether the log shows that a file was sent as a whole. Only ours has ranges."""
    return log.form == TURNSTILE or channels == 1 or client.is_one_transfer


def _wanted(load: FetchLoad, place: Place, folder: Path, *, is_kept: bool) -> Wanted:
    return Wanted(
        protocol=load.protocol,
        server=load.server,
        name=load.name,
        size_bytes=load.size_bytes,
        user=load.user,
        password=load.password,
        channels=load.threads,
        own_address=place.own_address,
        folder=folder,
        is_kept=is_kept,
        receiver=load.receiver,
        receiver_name=load.receiver_name,
        flags=load.flags,
    )


def _are_the_same(parts: Sequence[Path], whole: Path) -> bool:
    """Whether the parts, one behind the other, are the file."""
    with open(whole, "rb") as file:
        for part in parts:
            if not part.is_file() or not _begins_with(file, part):
                return False
        return not file.read(1)


def _begins_with(file: BinaryIO, part: Path) -> bool:
    """Whether what is next in the file is this part. It is read."""
    with open(part, "rb") as got:
        while chunk := got.read(_CHUNK_BYTES):
            if file.read(len(chunk)) != chunk:
                return False
    return True
