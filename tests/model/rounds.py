"""One round: servers, clients and somebody else for some seconds, then rest, then judgement."""

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from client import Client, grant
from clients import USER, HttpPeer, NativeReader, Notes
from disks import mounted
from disturber import Disturber
from heartbeat import Heartbeat
from http_client import FLAG
from judge import Judge, children, entries
from names import FILES, FOLDERS, LINKED, MADE
from observations import Asked
from programs import Program
from scene import Scene, create_account
from threads import run_threads
from timeline import ABSENT, FOLDER, Change, State, Timeline

_HTTP_PEERS = 4
_NATIVE_READERS = 2
_SOON_S = 2.0  # the protocol's promise, with --files prefetch
_REST_S = 10.0  # what is not true long after that is never true
_LOOK_AGAIN_S = 0.05
_HIDDEN = ".turnstile-upload-*"
_MOST_COMPLAINTS = 3


@dataclass(frozen=True)
class Plan:
    """All that makes a round what it is, as far as it can be repeated."""

    seed: int
    files: str  # prefetch or disk
    disk: str  # one of disks.KINDS
    seconds: float
    model: str = "thread"  # or event

    def __str__(self) -> str:
        return f"--seed {self.seed} --files {self.files} --disk {self.disk} --model {self.model}"


@dataclass(frozen=True)
class Result:
    complaints: list[str]
    asked: int
    worst_beat_s: float


def play(plan: Plan) -> Result:
    """Raises disks.NoSuchDisk where there is no such disk."""
    with mounted(plan.disk) as disk:
        scene = Scene(plan.model)
        try:
            game = _Round(plan, scene, disk)
            complaints = list(itertools.islice(game.complaints(), _MOST_COMPLAINTS))
        finally:
            scene.close()
        complaints += [f"{path} is left" for path in disk.rglob(_HIDDEN)]
        return Result(complaints, len(game.notes.all), game.heart.worst_s)


class _Round:
    def __init__(self, plan: Plan, scene: Scene, disk: Path) -> None:
        self._plan = plan
        self._root = scene.root = disk / "files"
        beside = disk / "beside"
        self._root.mkdir()
        beside.mkdir()
        self._timeline = Timeline()
        self.notes = Notes(self._timeline)
        self.heart = Heartbeat(beside)
        self._disturber = Disturber(self._root, beside, self._timeline, f"{plan.seed} disturber")
        self._timeline.add(Change("at first", ABSENT, 0.0, 0.0), *MADE)
        self._disturber.begin()
        self._server = self._start(scene)

    def _start(self, scene: Scene) -> Program:
        authserver = scene.authserver("--password-scheme", "plain")
        create_account(authserver, *USER)
        flags: tuple[str, ...] = (
            "--uploads",
            "folder",
            "--files",
            self._plan.files,
            "--auth-timeout",
            "60",
        )
        if self._plan.files == "prefetch":
            # Then only its own care keeps it from writing into a folder that was moved away.
            flags += ("--sandbox", "off")
        return scene.fileserver(authserver, *FLAG, *flags)

    def complaints(self) -> Iterator[str]:
        seed = self._plan.seed
        peers = [HttpPeer(self._server, self.notes, f"{seed} peer {n}") for n in range(_HTTP_PEERS)]
        readers = [
            NativeReader(self._server, self.notes, f"{seed} reader {n}")
            for n in range(_NATIVE_READERS)
        ]
        heart_stops = threading.Event()
        heart = threading.Thread(target=self.heart.live, args=(heart_stops,))
        heart.start()
        try:
            lives = [one.live for one in (self._disturber, *peers, *readers)]
            run_threads(lives, self._plan.seconds)
            at_rest = self._wait_for_rest(readers[0], peers[0])
        finally:
            heart_stops.set()
            heart.join()
        lag_s = self.heart.lag_s(_SOON_S) if self._plan.files == "prefetch" else 0.0
        judge = Judge(self._timeline, self.notes.all, lag_s, self._plan.disk == "coarse")
        yield from self._disturber.complaints
        yield from at_rest
        yield from judge.complaints()
        for name in (*FILES, *LINKED, *FOLDERS, *MADE):
            if complaint := judge.complaint_of_disk(name, self._on_disk(name)):
                yield complaint

    def _on_disk(self, name: str) -> State:
        path = self._root / name
        if path.is_dir():
            return FOLDER
        return path.read_bytes() if path.exists() else None

    def _wait_for_rest(self, reader: NativeReader, peer: HttpPeer) -> list[str]:
        """Until all that is served is what is on disk. What is not, if that never happens."""
        client = Client(self._server.address)
        grant(client, *USER)
        begun = time.monotonic()
        while wrong := self._wrong(reader, client, peer):
            if time.monotonic() > begun + self.heart.lag_s(_REST_S):
                break
            time.sleep(_LOOK_AGAIN_S)
        client.close()
        peer.close()
        return wrong

    def _wrong(self, reader: NativeReader, client: Client, peer: HttpPeer) -> list[str]:
        answers = [
            (name, one)
            for name in (*FILES, *LINKED)
            for one in (peer.get(name), reader.get(client, name))
        ]
        wrong = [
            f"at rest, {name} is not what is on disk: {one}"
            for name, one in answers
            if one is None or _served(one) != self._on_disk(name)
        ]
        for folder in ("", *FOLDERS):
            for accepted in ("application/json", "text/html"):
                listed = peer.list(folder, accepted)
                there = {name for name in children(folder) if (self._root / name).exists()}
                found = set(entries(listed)) if listed.status == 200 else set()
                if found != there:
                    wrong.append(f"at rest, /{folder} lists {sorted(found)}, not {sorted(there)}")
        return wrong


def _served(one: Asked) -> State:
    return one.body if one.status == 200 else None
