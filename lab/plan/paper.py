"""The numbers of the paper "File server with backend authentication, Phase 3: Optimisation".

Rows are named as in papers/002/experiments.json: "new", or the size of a get. Numbers are copied as
printed. Tables 3 and 4 disagree: Table 3 was measured over a 1 Gbit/s network, Table 4 most likely
with everything on one machine. So a number is only compared with others of its own table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peak:
    """What the paper prints for one row: N* and the throughput there."""

    throughput_rps: float
    n_star: int | None = None
    response_s: float | None = None
    bottleneck: str = ""


_DISK_READ = "Disk I/O (Read)"

TABLE_2 = {
    "new": Peak(3363.49, 800, 0.219622, "Disk I/O (Write) and MySQL"),
    "1KB": Peak(3093.7, 17, 0.0054039, _DISK_READ),
    "10KB": Peak(2547.3, 10, 0.00390524, _DISK_READ),
    "100KB": Peak(430.355, 5, 0.0113418, _DISK_READ),
    "1MB": Peak(75.1187, 2, 0.0265555, _DISK_READ),
    "10MB": Peak(10.1575, 1, 0.0984429, _DISK_READ),
    "100MB": Peak(1.1356, 1, 0.880579, _DISK_READ),
}

TABLE_3_AFTER = {
    "new": Peak(6806.03, 900),
    "1KB": Peak(5323.32, 12),
    "10KB": Peak(3325.93, 9),
    "100KB": Peak(465.524, 5),
    "1MB": Peak(81.0029, 1),
    "10MB": Peak(10.3492, 2),
    "100MB": Peak(1.14016, 1),
}

_TABLE_4_ROWS = {
    "new": (6806.03, 6806.03, 23089.8),
    "1KB": (4954.06, 9932.58, 23154.2),
    "10KB": (3453.44, 9973.76, 20907.1),
    "100KB": (1139.57, 9804.96, 9604.82),
    "1MB": (135.965, 1633.88, 1624.99),
    "10MB": (12.508, 176.932, 175.399),
    "100MB": (1.14016, 18.0733, 17.6434),
}

# Section 4.2, get 100KB over the network, before and after prefetching (middle of the ranges).
_SECTION_4_2 = {"multithreaded": {"100KB": Peak(462.5)}, "prefetching": {"100KB": Peak(1157.0)}}

# experiment -> stage -> row -> what the paper printed. It has none of our own stages.
_TABLE_3 = {"ph2": TABLE_2, "multithreaded": TABLE_3_AFTER}
_TABLE_4 = {
    stage: {row: Peak(values[column]) for row, values in _TABLE_4_ROWS.items()}
    for column, stage in enumerate(("multithreaded", "prefetching", "redis"))
}
_BY_EXPERIMENT = {
    "table2": _TABLE_3,
    "table3": _TABLE_3,
    "figure4": _TABLE_3,
    "prefetch": _SECTION_4_2,
}

# Section 4.2's probe: (test, interval in seconds, GBytes as printed, Mbit/s, MByte/s).
NETWORK_PROBE = (
    ("iperf", 10.0, 1.09, 935.0, 116.875),
    ("load generator", 30.0997, 3.4742, 923.384, 115.423),
)

# Table 1: row -> (load generator, server 1 and 2).
HARDWARE = {
    "Processor": ("4x Intel Core i5-4440 @ 3.10GHz", "Intel Core i7-4790K @ 4.00GHz"),
    "CPU(s)": ("4", "8"),
    "Thread(s) per core": ("1", "2"),
    "Core(s) per socket": ("4", "4"),
    "Socket(s)": ("1", "1"),
    "L1d cache": ("32K", "32K"),
    "L1i cache": ("32K", "32K"),
    "L2 cache": ("256K", "256K"),
    "L3 cache": ("6144K", "8192K"),
}


def peak(experiment: str, stage: str, row: str) -> Peak | None:
    """The paper's number for a cell of an experiment; None where the paper has none."""
    return _BY_EXPERIMENT.get(experiment, _TABLE_4).get(stage, {}).get(row)
