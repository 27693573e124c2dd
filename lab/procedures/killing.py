"""Kills a server while the load generator runs, and starts it again."""

from __future__ import annotations

import time

from ..kinds.failover.load import KILLED, STARTED
from ..observe.sampler import Sampler
from ..systems.system import Mortal, Running
from ..workloads.load import Kill
from ..workloads.series import Event
from .generator import Generator

_STEP_S = 0.02


def take_place(
    kill: Kill | None, servers: Running, generator: Generator, begun_s: float, sampler: Sampler
) -> list[Event]:
    """Returns, when the server is ready again, what happened at which time of the wall clock.

    begun_s is when the load generator was started, on the monotonic clock. Should that end early,
    the rest follows at once. A program lives as long as the thread that started it, so this must be
    the thread of the lab.
    """
    if kill is None:
        return []
    assert isinstance(servers, Mortal), servers
    _wait(generator, begun_s + kill.after_s)
    killed = Event(time.time(), f"{kill.component} {KILLED}")
    servers.kill(kill.component)
    _wait(generator, begun_s + kill.started_after_s)
    started = Event(time.time(), f"{kill.component} {STARTED}")
    servers.start_again(kill.component)
    sampler.replace(kill.component, servers.process_ids()[kill.component])
    return [killed, started]


def _wait(generator: Generator, until_s: float) -> None:
    while time.monotonic() < until_s and generator.is_running():
        time.sleep(_STEP_S)
