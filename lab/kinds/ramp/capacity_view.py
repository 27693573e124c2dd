"""The view of capacity: how many uploads memory bears, foretold and tried."""

from ...plan.catalog import Stage
from ...report.document import Block, Table
from ...report.scene import Scene
from . import capacity
from .capacity import Capacity, Foretold

_CAPTION = (
    "Foretold by the memory of runs with fewer clients, with the 99% interval, and the error to "
    "what was tried. Memory is the only end here: past a shared link, or without CPU, a server is "
    "slower and goes on. Page cache does not count; the kernel drops it first. The paper foretold "
    "5,000 clients by 0.94 MB each and did not try. Its own 1.5 GB of memory and 2 GB of swap hold "
    "3,700 to 3,800 such clients; the 1.5 GB of swap left at 1,800 clients, about 3,400."
)


def answers(scene: Scene) -> list[str]:
    return [_sentence(one) for one in _found(scene)]


def table(scene: Scene) -> list[Block]:
    found = [one for one in _found(scene) if one.foretold]
    if not found:
        return []
    return [
        Table(
            title="Capacity",
            caption=_CAPTION,
            header=["server", "memory", "by clients", "foretold", "error", "tried", "at the end"],
            rows=[
                _row(one, foretold, is_first=index == 0)
                for one in found
                for index, foretold in enumerate(one.foretold)
            ],
        )
    ]


def _found(scene: Scene) -> list[Capacity]:
    return [one for stage in scene.stages for one in _of_stage(scene, stage)]


def _of_stage(scene: Scene, stage: Stage) -> list[Capacity]:
    """Of each valid trial, by the valid runs that memory bore."""
    results = [scene.analysis.ramp(stage.name, row) for row in scene.rows]
    valid = [one for one in results if one and one.run.is_valid]
    borne = [one for one in valid if not one.is_trial]
    found = [capacity.of_runs(borne, one) for one in valid if one.is_trial]
    return [one for one in found if one]


def _row(one: Capacity, foretold: Foretold, *, is_first: bool) -> list[str]:
    error = foretold.error(one.tried.uploads) if one.tried.is_reached else None
    return [
        one.name if is_first else "",
        _mib(one.limit_bytes) if is_first else "",
        f"{foretold.clients:,}",
        _foretold(foretold, "\n{} to {}"),
        "" if error is None else f"{error:+.0%}",
        _tried(one) if is_first else "",
        one.tried.at_the_end if is_first else "",
    ]


def _sentence(one: Capacity) -> str:
    by = "; ".join(
        f"from {foretold.clients:,} clients: {_foretold(foretold, ' ({} to {})')}"
        for foretold in one.foretold
    )
    return (
        f"{one.name}: {_mib(one.limit_bytes)} of memory bear {_tried(one)} uploads "
        f"under way; at the end, {one.tried.at_the_end}." + (f" Foretold {by}." if by else "")
    )


def _tried(one: Capacity) -> str:
    return f"{'' if one.tried.is_reached else 'more than '}{one.tried.uploads:,}"


def _foretold(one: Foretold, interval: str) -> str:
    if one.estimate is None:
        return "no end"
    low, high = _clients(one.estimate.low), _clients(one.estimate.high)
    return _clients(one.estimate.value) + interval.format(low, high)


def _clients(value: float) -> str:
    return f"{max(0.0, value):,.0f}" if value < float("inf") else "no end"


def _mib(size: float) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
