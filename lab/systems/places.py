"""Where the load generator of a stage runs: here, in a second namespace, or on another host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..plan.catalog import Stage
from ..plan.plan import Options
from ..rig import remote, wire
from ..rig.place import HERE, Place


@contextmanager
def reached(options: Options, stage: Stage, logs: Path) -> Iterator[Place]:
    """Failed when the place cannot be reached or made. It is left tidy when the block is left."""
    link = options.link or stage.link
    if options.has_remote_client:
        with remote.logged_in(options.client) as host:
            yield host
    elif options.client or link:
        with wire.laid(link, logs) as end:
            yield end
    else:
        yield HERE
