"""transfers.csv: a line for each transfer of each burst, by the load generator's clock."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from ..workloads.transfers import Transfer
from .records import Run

_OF_RUN = ("trial", "stage", "row", "transfers", "repeat")
_COLUMNS = (*_OF_RUN, *(field.name for field in fields(Transfer)))


def add(folder: Path, run: Run, transfers: Sequence[Transfer]) -> None:
    """Appends them. `trial` is that of points.csv; a repetition may be one that is discarded."""
    path = folder / "transfers.csv"
    is_new = not path.exists()
    own = dict(zip(_OF_RUN, (run.trial, run.cell.stage, run.cell.row, run.threads, run.repeat)))
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerows({**own, **asdict(one)} for one in transfers)
