"""Runs with simple numbers, for tests that need one."""

import tempfile
import unittest
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from lab import kinds
from lab.kinds.closed_loop import load as closed_loop
from lab.kinds.crowd import load as crowd
from lab.kinds.kind import measured
from lab.observe.host import Host
from lab.observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from lab.plan import catalog, plan
from lab.plan.catalog import Cell
from lab.plan.plan import Options, Plan
from lab.report import page
from lab.results.environment import Environment, StackRecord
from lab.results.records import Folder, Run
from lab.workloads.load import Load
from lab.workloads.outcome import Result

Wanted = TypeVar("Wanted")


def folder(test: unittest.TestCase, parent: str | Path | None = None) -> Path:
    """One of its own, which is gone when the test has ended."""
    made = tempfile.TemporaryDirectory(dir=parent)
    test.addCleanup(made.cleanup)
    return Path(made.name)


def results(test: unittest.TestCase, *runs: Run, environment: Environment | None = None) -> Folder:
    """A results folder with these runs, and the environment if there is one."""
    made = Folder(folder(test))
    made.prepare()
    if environment:
        made.write_environment(environment)
    for one in runs:
        made.add(one, {})
    return made


def written(
    test: unittest.TestCase, experiment: str, runs: Sequence[Run], **environment: Any
) -> tuple[str, str]:
    """The page and the summary of a quick run of this experiment."""
    mode = catalog.modes()[catalog.experiments()[experiment].paper, "quick"]
    own = {"options": options(experiment), "mode": mode, **environment}
    its_own = replace(ENVIRONMENT, **own)
    made = results(test, *runs, environment=its_own)
    page.write(made)
    return (made.path / "report.html").read_text(), (made.path / "summary.md").read_text()


def only(kind: type[Wanted], blocks: Sequence[object]) -> Wanted:
    """The one block of this kind."""
    (found,) = (block for block in blocks if isinstance(block, kind))
    return found


def options(*experiments: str, **changes: object) -> Options:
    """Of a quick run without pinning, unless the changes say otherwise."""
    chosen = {"mode": "quick", "pin": "none", **changes}
    return Options(experiments=experiments, **chosen)  # type: ignore[arg-type]


def planned(*experiments: str, **changes: object) -> Plan:
    """On two cores, with an empty folder for files."""
    with tempfile.TemporaryDirectory() as files:
        return plan.make(options(*experiments, **changes), (0, 1), Path(files))


CELL = Cell("prefetching", "1KB")
NO_FOLDER = Path("/nonexistent")

ENVIRONMENT = Environment(
    options=options("table4"),
    mode=replace(catalog.modes()["002", "quick"], seconds=2, warmup_s=0.5, repeat=2),
    cores=(0, 1),
    file_counts={"1KB": 100},
    stages=dict(catalog.stages()),
    started_unix_s=1_700_000_000.0,
    host=Host(
        hardware={"Processor": "a <fast> one", "CPU(s)": "2"},
        memory_bytes=8e9,
        machine_id="abc",
        system="Debian",
        kernel="6.1",
        own_network_namespace=True,
    ),
    pinning="Nothing is pinned.",
    open_files="1024 (hard 1024)",
    is_complete=True,
    stacks={
        "prefetching-1KB": StackRecord(
            commands={"fileserver": "build/fileserver"},
            pinning="none",
            store="mysql",
            store_settings={"log_bin": "OFF"},
            durability="MySQL: on the disk.",
        )
    },
)

GET = closed_loop.ClosedLoop(
    request="get",
    server="127.0.0.1:1",
    threads=4,
    seconds=2.0,
    warmup_s=0,
    user="ann",
    password="secret",
    size_name="1KB",
    size_bytes=1000,
    files_per_thread=250,
)
CROWD = crowd.Crowd(
    server="127.0.0.1:1",
    threads=100,
    user="ann",
    password="secret",
    size_name="10KB",
    size_bytes=10_000,
    rate_bytes_s=1000.0,
    least_rate_percent=75,
    engine="epoll",
    ramp_s=2.0,
    stable_s=5.0,
)

# What `loadgen get --json` prints for a run of GET without fault.
LOADGEN_RESULT: dict[str, Any] = {
    "request": "get",
    "threads": 4,
    "connection": "per-request",
    "warmup_s": 0,
    "started_unix_s": 10.0,
    "elapsed_s": 2.0,
    "requests": 8000,
    "throughput_rps": 4000.0,
    "bytes": 8_000_000,
    "errors": {"total": 0},
    "response_time_ms": {"mean": 1.0, "p50": 1.0, "p90": 1.0, "p99": 1.0, "max": 2.0},
    "per_second": [
        {"t": 1, "requests": 4000, "mean_ms": 1.0},
        {"t": 2, "requests": 4000, "mean_ms": 1.0},
    ],
    "valid": True,
    "invalid_because": [],
    "n_check": 1.0,
    "phases_ms": {},
    "cpu": {"used_cores": 0.5, "allowed_cores": 2, "is_bottleneck": False},
    "run_delay": {"share": 0.12, "is_starved": False},
}


def result(load: Load = GET, **changes: Any) -> Result:
    """Of this load: that of GET, with the changes."""
    return load.parse({**LOADGEN_RESULT, **changes})


def disk_usage(
    busy: float, read: float = 0.0, written: float = 0.0, **requests: float
) -> DiskUsage:
    return DiskUsage(busy=busy, read_bytes_per_s=read, write_bytes_per_s=written, **requests)


def usage(
    cpu_cores: dict[str, float] | None = None, core_busy: float = 0.5, disk: DiskUsage | None = None
) -> Usage:
    used = cpu_cores or {"fileserver": 0.4, "authserver": 0.2, "store": 0.1, "loadgen": 0.3}
    components = {
        name: ComponentUsage(
            cpu_cores=cores,
            main_thread=0.1,
            resident_bytes=5e6,
            read_bytes_per_s=0.0,
            write_bytes_per_s=0.0,
            minor_faults_per_s=10.0,
            threads=3,
        )
        for name, cores in used.items()
    }
    core = CoreUsage(
        user=core_busy / 2, system=core_busy / 2, wait=0.0, idle=1 - core_busy, stolen=0.0
    )
    return Usage(
        components=components,
        cores={"0": core, "1": core},
        disks={"vda": disk or disk_usage(0.01, written=1000.0)},
        loopback_bytes_per_s=1e6,
        accepts_per_s=3000.0,
        used_memory_bytes=1e9,
    )


def run(
    threads: int = 1,
    throughput_rps: float = 1000.0,
    repeat: int = 1,
    used: Usage | None = None,
    **changes,
) -> Run:
    """changes are fields of a Run, or figures that a workload declares."""
    mean_ms = 1000 * threads / throughput_rps
    made = Run(
        cell=CELL,
        store="mysql",
        threads=threads,
        repeat=repeat,
        started_unix_s=1_700_000_000.5,
        elapsed_s=2.0,
        requests=round(2 * throughput_rps),
        bytes=round(2 * throughput_rps) * 1000,
        throughput_rps=throughput_rps,
        mean_ms=mean_ms,
        p50_ms=mean_ms,
        p90_ms=mean_ms,
        p99_ms=mean_ms,
        max_ms=mean_ms,
        noise=0.01,
        figures={"n_check": 1.0},
        errors="",
        is_generator_limit=False,
        failures="",
        notes="",
        usage=used or usage(),
    )
    figures = {name: changes.pop(name) for name in kinds.figures() if name in changes}
    return with_figures(replace(made, **changes), **figures)


def crowd_trial(stage: str, users: int, held: int, row: str = "10KB", **changes: Any) -> Run:
    """A trial of so many users, of whom some held."""
    cell = Cell(stage, row, workload="crowd")
    return run(users, cell=cell, users_held=float(held), store="", **changes)


def burst_trials(stage: str, transfers: int, *rates: float, **changes: Any) -> list[Run]:
    """One in each pass, with its rate in bytes/s."""
    cell = Cell(stage, "1MiB", workload="burst")
    return [
        run(transfers, repeat=repeat, cell=cell, rate_bytes_s=rate, **changes)
        for repeat, rate in enumerate(rates, start=1)
    ]


def with_figures(made: Run, **figures: float | None) -> Run:
    """None takes a figure away."""
    return replace(made, figures=measured({**made.figures, **figures}))
