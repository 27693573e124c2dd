"""What a report shows of bursts. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .figure import figures
from .views import answers, rates

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {"bursts": rates}
TERMS = [
    "Burst: all transfers log in and open their connections, wait for the last one, and ask in the "
    "same moment. Its rate is all bytes over the span from the first asking to the last byte.",
    "Overlap: the sum of the transfers' own times over their number times the span. 1: all took "
    "place together; 1/n: one after the other.",
    "(4, same): four transfers of one file; (4, different): of a file each.",
    "KB are 1,024 bytes. A rate has the 95% interval of its repetitions (* = lowest and highest of "
    "two). Server's: how much the rate by the log of the server differs. Slowest: of the single "
    "transfers. Fairness: Jain's index of their rates, 1 if all are alike.",
    "Finding: the ratio of two rates is taken within each pass. It is seen here if its whole 99% "
    "interval is within the limits of the finding, and not seen if it is outside; otherwise it "
    "cannot be told.",
]
