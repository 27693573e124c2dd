"""Runs files of tests side by side, each in a process of its own."""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from .outcome import Failure, Outcome, Runnable
from .packing import Packing

# A process that has read the modules which most tests read, and is forked for each file.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["runner.preloaded"])
_KILL_AFTER = 3  # time limits without a word: the process does not even listen to its alarm
_START_S = 120  # until the first word, as a busy machine needs seconds to start Python
_LOOK_S = 0.3  # how soon a free core is seen


@dataclass
class _Running:
    """A file that runs now."""

    file: Runnable
    process: BaseProcess
    words: Connection
    last_test: str
    silent_until: float  # by then it has said something


def run(files: Sequence[Runnable], packing: Packing, limit_s: int) -> Iterator[Outcome]:
    """Starts files in this order as `packing` has room. Yields each outcome once it is known."""
    waiting = list(files)
    running: list[_Running] = []
    try:
        while waiting or running:
            while chosen := packing.next_of(waiting, [one.file for one in running]):
                waiting.remove(chosen)
                running.append(_start(chosen, limit_s))
            wait([one.words for one in running], timeout=_LOOK_S)
            for one in list(running):
                outcome = _news(one, limit_s)
                if outcome:
                    running.remove(one)
                    one.process.join()
                    yield outcome
    finally:
        for one in running:
            one.process.terminate()


def _start(file: Runnable, limit_s: int) -> _Running:
    ours, its = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_run_in_child, args=(file, limit_s, its), name=file.module)
    process.start()
    its.close()  # so that its end is seen when the process dies
    patience_s = max(_START_S, _KILL_AFTER * limit_s)
    return _Running(file, process, ours, file.module, time.monotonic() + patience_s)


def _run_in_child(file: Runnable, limit_s: int, words: Connection) -> None:
    words.send(file.run(limit_s, words.send))


def _news(one: _Running, limit_s: int) -> Outcome | None:
    """Reads what the process has to say. Its outcome, once there is one."""
    try:
        while one.words.poll():
            word = one.words.recv()
            if isinstance(word, Outcome):
                return word
            one.last_test, one.silent_until = word, time.monotonic() + _KILL_AFTER * limit_s
    except EOFError:
        one.process.join()
        return _broken(one, f"its process ended with {one.process.exitcode}")
    if time.monotonic() > one.silent_until:
        one.process.kill()
        return _broken(
            one, f"its process was killed after {_KILL_AFTER * limit_s} s without a word"
        )
    return None


def _broken(one: _Running, what: str) -> Outcome:
    failure = Failure(one.last_test, f"FAILED {one.last_test}\n{what}\n", is_final=True)
    return Outcome(one.file, failed=[failure])
