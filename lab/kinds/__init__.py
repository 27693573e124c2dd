"""The kinds of experiments, a folder each. A new one is a folder, and two lines here.

  __init__.py   KIND, and what a stage says of its users
  load.py       what the users do: load(asked), and FIGURES, which only its runs have
  procedure.py  which point is measured next: procedure(planned). Without it, a sweep over N
  analysis.py   what its points say
  findings.py   what a paper found about it, judged
  views.py      what a report shows: VIEWS by name, TERMS, answers(scene), figures(scene)
  words.py      how that is said, where it is much

A module imports only what its own part may: see FLOORS in tests/lab/test_rooms.py.
"""

from collections.abc import Mapping
from functools import cache

from .burst import KIND as BURST
from .client import KIND as CLIENT
from .closed_loop import KIND as CLOSED_LOOP
from .connections import KIND as CONNECTIONS
from .crowd import KIND as CROWD
from .failover import KIND as FAILOVER
from .kind import Figure, Kind
from .mix import KIND as MIX
from .open_loop import KIND as OPEN_LOOP
from .ramp import KIND as RAMP
from .scale_out import KIND as SCALE_OUT
from .tls import KIND as TLS

# In the order of the columns of a table that has the figures of all.
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        CLOSED_LOOP,
        OPEN_LOOP,
        CROWD,
        BURST,
        FAILOVER,
        MIX,
        RAMP,
        CLIENT,
        CONNECTIONS,
        SCALE_OUT,
        TLS,
    )
}


@cache
def figures() -> dict[str, Figure]:
    """Those that only runs of one kind have, by their names."""
    loads = [kind.part("load") for kind in KINDS.values()]
    return {figure.name: figure for load in loads for figure in load.FIGURES}
