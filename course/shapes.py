"""The cases of the stages: the shape that each asks for."""

import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack

from rig.process_tree import tree

from .contract import QUIET_S, Case, file_comes
from .peers import LIMIT_S, Wrong
from .scene import Scene, of_process, same

_LOOKS = 4
_SEEN_S = 2.0  # after which a changed file is served


def _counts(scene: Scene) -> tuple[int, int]:
    """Its processes and its threads."""
    assert scene.program
    found = tree(scene.program.pid)
    threads = [of_process(pid, "status").partition("Threads:")[2].split() for pid in found]
    return len(found), sum(int(one[0]) for one in threads if one)


def _require_added(scene: Scene, is_right: Callable[[int, int], bool]) -> None:
    """Of the processes that three connections add, and the threads that serve them.

    Those of connections that were closed before may still end, so it looks several times.
    """
    scene.address()
    for _ in range(_LOOKS):
        before = _counts(scene)
        with ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(scene.granted())
            during = _counts(scene)
        spare = before[1] - before[0]  # threads that waited for connections
        added, threads = during[0] - before[0], max(during[1] - before[1], spare)
        if is_right(added, threads):
            return
        time.sleep(QUIET_S)
    raise Wrong(f"three connections added {added} processes, and {threads} threads served them")


def _processes(scene: Scene) -> None:
    _require_added(scene, lambda added, _: added >= 3)


def _threads(scene: Scene) -> None:
    _require_added(scene, lambda added, threads: added == 0 and threads >= 3)


def _memory(scene: Scene) -> None:
    with scene.granted() as client:
        large = max(scene.files, key=lambda name: len(scene.files[name]))
        client.ask(large)
        before = _read_bytes(scene)
        for _ in range(4):
            same(client.ask(large), scene.files[large], "a file")
        if _read_bytes(scene) - before > len(scene.files[large]):
            raise Wrong("it read the file again for each request")
        changed = secrets.token_bytes(500)
        draft = scene.folder / "draft"
        draft.write_bytes(changed)
        draft.rename(scene.root / scene.small)
        scene.files[scene.small] = changed
        deadline = time.monotonic() + _SEEN_S + LIMIT_S
        while client.ask(scene.small) != changed:
            if time.monotonic() > deadline:
                raise Wrong("a file that was replaced was still the old one")
            time.sleep(0.1)


def _read_bytes(scene: Scene) -> int:
    assert scene.program
    found = 0
    for pid in tree(scene.program.pid):
        found += sum(map(int, of_process(pid, "io").partition("rchar: ")[2].split()[:1]))
    return found


def _kept(scene: Scene) -> None:
    before = scene.auth.connections
    for _ in range(10):
        file_comes(scene)
    if (made := scene.auth.connections - before) > 2:
        raise Wrong(f"ten requests made {made} connections to the authserver")


def _kept_and_memory(scene: Scene) -> None:
    _kept(scene)
    _memory(scene)


SHAPES: dict[int, Case] = {
    1: Case("stage-1", "Each connection has a process of its own.", _processes),
    2: Case("stage-2", "Each connection has a thread, and none a process.", _threads),
    3: Case("stage-3", "Files come from memory, and a changed one within two seconds.", _memory),
    4: Case(
        "stage-4",
        "As stage 3, and connections to the authserver are kept.",
        _kept_and_memory,
    ),
    5: Case("stage-5", "The idea is your own: any shape will do.", file_comes),
}
