"""A table of the paper, as it is printed, below ours."""

from __future__ import annotations

from .document import Block, Table
from .scene import Scene


def printed(scene: Scene) -> list[Block]:
    """[] if the paper has no such table for this experiment."""
    found = scene.printed.printed.get(scene.experiment.numbers)
    if not found:
        return []
    return [
        Table(
            title="What the paper printed",
            caption="About its own servers and machines; only the shape can be compared.",
            header=list(found.header),
            rows=[list(row) for row in found.rows],
        )
    ]
