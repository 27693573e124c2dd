"""Attempts to fetch a file: how many succeeded at each number of channels, and how fast those were.

A failed attempt has no rate. So a mean is one of those that succeeded, which says less where others
failed: whoever shows it must show the counts beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ..results.records import Run
from ..workloads.client import FAILED


@dataclass(frozen=True)
class Attempts:
    """At one number of channels."""

    succeeded: tuple[Run, ...]
    failed: tuple[Run, ...]

    @property
    def count(self) -> int:
        return len(self.succeeded) + len(self.failed)

    @property
    def is_of_survivors(self) -> bool:
        """Whether a mean leaves out some of them."""
        return bool(self.failed)

    def mean(self, figure: str) -> float | None:
        """Of those that succeeded and have it. Requires: a workload declares it."""
        values = [value for run in self.succeeded if (value := run.figure(figure)) is not None]
        return statistics.fmean(values) if values else None


def by_channels(runs: Iterable[Run]) -> dict[int, Attempts]:
    """In rising order. Runs of one cell that are invalid for another reason are no attempts."""
    succeeded: dict[int, list[Run]] = {}
    failed: dict[int, list[Run]] = {}
    for run in runs:
        if run.is_valid:
            succeeded.setdefault(run.threads, []).append(run)
        elif run.failures.startswith(FAILED) and "; " not in run.failures:
            failed.setdefault(run.threads, []).append(run)
    return {
        channels: Attempts(tuple(succeeded.get(channels, ())), tuple(failed.get(channels, ())))
        for channels in sorted({*succeeded, *failed})
    }
