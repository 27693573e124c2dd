"""What a report shows of downloads. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..printed import printed
from ..scene import Scene
from .views import answers, figures, rates, restarts, round_trips

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "download_rates": lambda scene: [*rates(scene), *printed(scene)],
    "download_restarts": restarts,
    "download_round_trips": lambda scene: [*round_trips(scene), *printed(scene)],
}
TERMS = [
    "Channels: the connections over which one file is fetched at the same time. Seen: how many of "
    "them had data at once, at most, by the kernel of the server.",
    "Rate: the size of the file over the time from the start of the client program to its end. Its "
    "log-in and start-up count. It is a median of the attempts that succeeded; a hollow dot marks "
    "one of which some failed.",
    "Of the link: the rate as a share of the rate that the link is made for, and of what iperf3 "
    "carried over it in the same run. Headers of IP and TCP take 3.5% of the former. Findings take "
    "the former less these headers, as what spoils a download spoils iperf3, too.",
    "Window: the most bytes that a connection may have under way, as the kernel of the server "
    "says, and not as it was asked for. Kernel: the memory that this kernel holds for all of these "
    "connections, at most. Sent again: segments, as a share of all. Waited: bytes that came early, "
    "at most, as our load generator says.",
    "Round trip: ten datagrams a second go to the client’s place and back, beside the download. "
    "Foretold: what the packets of all windows together take on the link, but at least its delay. "
    "Where its queue overflows, or segments are sent again, windows are smaller, and what is "
    "foretold is a bound.",
    "Killed: with SIGKILL at random moments, and started again with what it takes to go on. True "
    "beginnings: of the files that it left then, those that are a beginning of the file. Fetched "
    "again: what the server sent beyond the size of the file, with what was under way.",
    "Best number of channels: that with the highest rate, of those with which four of five "
    "attempts succeed. Alike are those of which the 99% interval does not lie below 98% of it.",
    "Chance: three attempts or more have an interval of their own. Of two, it is that of all "
    "downloads by the same program over the same link together, and at least 1% either way.",
    "Self-checks: the link was late by at most 5 ms (p99). The parts that the server’s log names "
    "make up the file, or what the client wrote is the file. An attempt that failed is an answer.",
]
