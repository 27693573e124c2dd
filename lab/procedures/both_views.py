"""Uploads over the time of a load, as clients and server saw them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..observe.moment import INTERVAL_S
from ..observe.served import Served
from ..results.courses import Courses
from ..workloads import uploads
from ..workloads.uploads import Upload

_MOST_STEPS = 2000


def of_run(
    clients: Sequence[Upload], served: Sequence[Served], start_s: float, length_s: float
) -> Courses:
    """A step is as long as that between two samples of the machine, or longer in a long run."""
    step_s = INTERVAL_S * max(1, math.ceil(length_s / INTERVAL_S / _MOST_STEPS))
    server = [
        Upload(
            start_s=one.start_s - start_s,
            end_s=one.end_s - start_s,
            bytes=one.bytes,
            is_whole=one.is_whole,
        )
        for one in served
    ]
    return Courses(
        step_s,
        uploads.over_time(clients, length_s, step_s),
        uploads.over_time(server, length_s, step_s) if server else [],
    )
