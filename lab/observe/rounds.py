"""Does the same thing again and again, in a thread of its own and at a bounded cost."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

_NICE = -10  # before thousands of processes under load, where this user may


class Rounds:
    """Begins a round every so many seconds, from start() until stop().

    Its thread is put before others where this user may do that: a round is not to wait for a core
    behind thousands of processes under load. So a round starts no process.

    A round that lasts longer than that, as it had to wait for a core, delays the next one; rounds
    are not made up for.
    """

    def __init__(self, name: str, one: Callable[[], None], every_s: Callable[[float], float]):
        """one is a round. every_s tells, by what the last round used of a core in seconds, how long
        after its begin the next one may begin.
        """
        self._one = one
        self._every_s = every_s
        self._due_s = 0.0
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

    def start(self, first_after_s: float) -> None:
        self._due_s = time.monotonic() + first_after_s
        self._thread.start()

    def stop(self) -> None:
        """Returns when no round runs any more. Does nothing when it was not started."""
        self._is_stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)  # of this thread
        while not self._is_stopped.wait(self._due_s - time.monotonic()):
            before_s = time.thread_time()
            self._one()
            cost_s = time.thread_time() - before_s
            self._due_s = max(self._due_s + self._every_s(cost_s), time.monotonic())
