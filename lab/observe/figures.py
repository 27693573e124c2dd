"""What the host and a limited server felt during a trial: figures of the samples, a row each.

A row is all that a new figure needs beside the place that samples it. usage.csv has a line of this
name, the report's table of the host a column with this title, and docs/lab.md describes it.
"""

from dataclasses import dataclass

from ..kinds.kind import LESS, MORE, NEITHER

HOST, SERVER = "host", "limited server"
SLEEPER = "a sleeper of 10 ms woke late"
WAY = "the way there and back"
GROUPS = (WAY, SLEEPER, HOST, SERVER)  # of columns


@dataclass(frozen=True)
class HostFigure:
    """sample is what it comes from: of a gauge the highest value, of a counter its rate.

    "" if it does not come from the samples. unit and better are as in kinds/kind.py. title
    is that of its column, without the unit; "" if the table does not have it.
    """

    name: str
    sample: str
    unit: str
    better: str
    title: str = ""
    group: str = HOST


_ROWS = (
    HostFigure("page_cache_bytes", "memory.cached_bytes", "B", NEITHER, "page cache"),
    HostFigure("ganglia_used_bytes", "memory.ganglia_used_bytes", "B", LESS),
    HostFigure("swap_used_bytes", "memory.swap_used_bytes", "B", LESS),
    HostFigure("added_processes", "host.added_processes", "", LESS),
    HostFigure("added_threads", "host.added_threads", "", LESS),
    HostFigure("link_received_bytes_per_s", "link.received_bytes", "B/s", NEITHER),
    HostFigure("refaults_per_s", "memory.refaults", "/s", LESS, "refaults"),
    HostFigure("load_average", "host.load_average", "", LESS, "load average"),
    HostFigure("waiting_threads", "host.run_delay_s", "", LESS, "waiting threads"),
    HostFigure("context_switches_per_s", "host.context_switches", "/s", LESS),
    HostFigure("tcp_received_segments_per_s", "tcp.received_segments", "/s", NEITHER),
    HostFigure("tcp_sent_segments_per_s", "tcp.sent_segments", "/s", NEITHER),
    HostFigure("tcp_retransmits_per_s", "tcp.retransmits", "/s", LESS),
    HostFigure("udp_sent_datagrams_per_s", "udp.sent_datagrams", "/s", LESS, "datagrams"),
    HostFigure("group_used_bytes", "group.used_bytes", "B", LESS, "used", SERVER),
    HostFigure("group_peak_bytes", "group.peak_bytes", "B", LESS, "peak", SERVER),
    HostFigure("group_page_cache_bytes", "group.cached_bytes", "B", MORE, "page cache", SERVER),
    HostFigure("group_refaults_per_s", "group.refaults", "/s", LESS, "refaults", SERVER),
    HostFigure("group_throttled", "group.throttled_s", "share", LESS, "throttled", SERVER),
    HostFigure("group_oom_kills", "group.oom_kills", "", LESS, "killed", SERVER),
    HostFigure("rtt_p50_ms", "", "ms", LESS, "p50", WAY),
    HostFigure("rtt_max_ms", "", "ms", LESS, "most", WAY),
    HostFigure("rtt_lost", "", "share", LESS, "lost", WAY),
    HostFigure("link_late_p99_ms", "", "ms", LESS, "late", WAY),
    HostFigure("link_lost", "", "share", LESS, "dropped", WAY),
    HostFigure("sleeper_p50_ms", "", "ms", LESS, "p50", SLEEPER),
    HostFigure("sleeper_p99_ms", "", "ms", LESS, "p99", SLEEPER),
)
FIGURES: dict[str, HostFigure] = {figure.name: figure for figure in _ROWS}
