"""Processes of the bench itself, which end with it."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

_PR_SET_PDEATHSIG = 1  # from linux/prctl.h
_JOIN_S = 60.0

CONTEXT: Any = multiprocessing.get_context("fork")


def start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """Runs the function in a process of its own, which the kernel kills when we end."""
    process = CONTEXT.Process(target=_run, args=(os.getpid(), work, *arguments), daemon=True)
    process.start()
    return process


def end(process: BaseProcess) -> None:
    """Kills it if it still runs."""
    process.kill()
    process.join(_JOIN_S)


def _run(parent: int, work: Callable[..., None], *arguments: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the parent, which ends us
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # otherwise it has ended before
        work(*arguments)
