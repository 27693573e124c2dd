"""Whether the CPU time of a server's children is counted, or hidden.

The kernel adds the time of a child to its parent's when that waits for it. Who ignores SIGCHLD, or
sets SA_NOCLDWAIT, does not wait. The latter can only be told by a child that has worked. One that
goes on to the next connection has not ended, and is counted itself.
"""

import os
import signal
import time
from collections.abc import Callable

from rig.process_tree import tree

from .peers import LIMIT_S, Wrong
from .scene import Scene, of_process

_WORK_TICKS = 6  # of a child, before its end
_MOST_WORK = 2000  # files that are asked for until then


def require_counted(scene: Scene, serve_again: Callable[[], None]) -> None:
    """Wrong where the CPU time of a child that served a connection and ended is nowhere."""
    assert scene.program
    for pid in tree(scene.program.pid):
        ignored = of_process(pid, "status").partition("SigIgn:")[2].split()
        if ignored and int(ignored[0], 16) >> (signal.SIGCHLD - 1) & 1 and tree(pid)[1:]:
            raise Wrong("it ignores SIGCHLD, so the CPU time of its children is counted nowhere")
    ticks, child = _of_ended_children(scene), _child_that_worked(scene)
    deadline = time.monotonic() + LIMIT_S
    while child and _of_ended_children(scene) - ticks < _WORK_TICKS / 2:
        if time.monotonic() > deadline and child in tree(scene.program.pid):
            return
        if time.monotonic() > deadline:
            raise Wrong("the CPU time of a child that ended is counted nowhere")
        serve_again()  # it may wait for its children when the next connection comes
        time.sleep(0.01)


def _child_that_worked(scene: Scene) -> int:
    """A process that served a connection for some ticks of CPU; 0 where none came for it."""
    assert scene.program
    before = tree(scene.program.pid)
    large = max(scene.files, key=lambda name: len(scene.files[name]))
    with scene.granted() as client:
        added = set(tree(scene.program.pid)) - set(before)
        for _ in range(_MOST_WORK if added else 0):
            client.ask(large)
            for pid in added:
                ran_ns = of_process(pid, "schedstat").split()[:1]
                if ran_ns and int(ran_ns[0]) > _WORK_TICKS * 1e9 / os.sysconf("SC_CLK_TCK"):
                    return pid
    return 0


def _of_ended_children(scene: Scene) -> int:
    """The ticks of CPU of children that were waited for, by all its processes."""
    assert scene.program
    found = 0
    for pid in tree(scene.program.pid):
        words = of_process(pid, "stat").rpartition(")")[2].split()
        found += sum(map(int, words[13:15]))
    return found
