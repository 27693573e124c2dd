"""What the machine did during the measured window, computed from samples."""

import statistics
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise

from rig.errors import Failed

from .figures import FIGURES, SERVER
from .moment import MOST_GAP_S, Moment, Sample, is_gauge, on_line

# Of all cores, by what is not under test. On full cores 5 to 9% belonged to no watched process,
# although nothing else ran.
MOST_FOREIGN = 0.10
_ENOUGH_INSIDE = 3
_FEWEST_FOR_RISE = 6  # samples; two in each third of the window
_NEAR_EDGE_S = 0.02  # a sample this near to an edge is dropped: rates between the two are noise


@dataclass(frozen=True, kw_only=True)
class ComponentUsage:
    """None stands for what was not measured, here and in Usage."""

    cpu_cores: float  # CPU time per time; 1.5 is one and a half cores
    main_thread: float | None = None  # share of a core that the first thread used
    resident_bytes: float | None = None
    read_bytes_per_s: float | None = None  # from the disk, as the kernel charges it to the process
    write_bytes_per_s: float | None = None
    minor_faults_per_s: float | None = None
    major_faults_per_s: float | None = None
    processes: float | None = None  # with all that it started
    threads: float | None = None
    threads_rise: float | None = None  # over the window, if it was steady; see _rise
    virtual_bytes: float | None = None
    text_bytes: float | None = None  # its machine code
    data_bytes: float | None = None  # its data and stacks
    main_thread_delay: float | None = None  # share of time: its first thread waited for a core
    proportional_bytes: float | None = None  # its PSS; see server_memory.py


@dataclass(frozen=True, kw_only=True)
class CoreUsage:
    """Shares of the window, 0 … 1. A stolen part was not there to be used."""

    user: float
    system: float
    wait: float
    idle: float
    stolen: float  # by the hypervisor

    @property
    def worked(self) -> float:
        return self.user + self.system

    @property
    def busy(self) -> float:
        """The share of the time that the hypervisor left; 1 for a full core whatever was stolen."""
        return self.worked / (1 - self.stolen) if self.stolen < 1 else 1.0


@dataclass(frozen=True, kw_only=True)
class DiskUsage:
    busy: float  # the share of the time in which it had at least one request
    read_bytes_per_s: float
    write_bytes_per_s: float
    reads_per_s: float | None = None  # requests, as they reached the disk
    writes_per_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    components: dict[str, ComponentUsage]
    cores: dict[str, CoreUsage]
    disks: dict[str, DiskUsage]
    loopback_bytes_per_s: float | None = None
    link_bytes_per_s: float | None = None  # in the direction that has more
    accepts_per_s: float | None = None
    open_ends: float | None = None  # of TCP connections, at most
    used_memory_bytes: float | None = None
    lab_cpu_cores: float | None = None  # of the lab itself, which watches
    figures: dict[str, float] = field(default_factory=dict)  # see figures.py, by their names

    def figure(self, name: str) -> float | None:
        """None if it was not measured. Requires: figures.py declares it."""
        assert name in FIGURES, name
        return self.figures.get(name)

    @property
    def foreign_share(self) -> float:
        """The share of all cores that programs used which are neither under test nor the lab."""
        worked = sum(core.worked for core in self.cores.values())
        ours = sum(component.cpu_cores for component in self.components.values())
        ours += self.lab_cpu_cores or 0.0
        return max(0.0, worked - ours) / max(1, len(self.cores))

    @property
    def has_limited_server(self) -> bool:
        return "group_page_cache_bytes" in self.figures


def cut(samples: list[Sample], start_s: float, end_s: float) -> list[Sample]:
    """The samples inside the window, and a computed one at each of its edges.

    The load begins and ends with the window. So the edges are extrapolated from samples inside;
    only a window with too few of them is interpolated across its edges. A gauge is
    not a line; at an edge it is what the nearest sample says. Failed if the samples do not cover
    the window.
    """
    if not samples or start_s < samples[0].time_s or end_s > samples[-1].time_s:
        raise Failed("the samples do not cover the measured window")
    inside = [
        sample
        for sample in samples
        if start_s + _NEAR_EDGE_S < sample.time_s < end_s - _NEAR_EDGE_S
    ]
    if len(inside) < _ENOUGH_INSIDE:
        return [
            Sample(start_s, _across(samples, start_s)),
            *inside,
            Sample(end_s, _across(samples, end_s)),
        ]
    return [
        Sample(start_s, on_line(inside[0], inside[1], start_s)),
        *inside,
        Sample(end_s, on_line(inside[-2], inside[-1], end_s)),
    ]


def gaps(window: list[Sample]) -> list[tuple[float, float]]:
    """Where the series broke off: from when on, after the first sample, and for how long.

    Requires: a window from `cut`.
    """
    return [
        (before.time_s - window[0].time_s, after.time_s - before.time_s)
        for before, after in pairwise(window)
        if after.time_s - before.time_s > MOST_GAP_S
    ]


def _across(samples: list[Sample], time_s: float) -> Moment:
    """Interpolates between the samples before and after.

    A process that has not started counts as 0; one that has ended keeps its last values.
    """
    index = max(1, bisect_left([sample.time_s for sample in samples], time_s))
    before, after = samples[index - 1], samples[index]
    return {**before.values, **on_line(before, after, time_s)}


def between(window: list[Sample], *, has_limited_server: bool = True) -> Usage:
    """Requires: a window from `cut`.

    The control group of a server without a limit gives no figures of a limited server.
    """
    first, last = window[0], window[-1]
    seconds = last.time_s - first.time_s
    rates = {
        name: (value - first.values.get(name, 0.0)) / seconds for name, value in last.values.items()
    }
    names = dict.fromkeys(name for sample in window for name in sample.values if is_gauge(name))
    gauges = {name: max(sample.values.get(name, 0.0) for sample in window) for name in names}
    return Usage(
        components={
            component: _component(
                component, rates, gauges, [one.values.get(f"{component}.threads") for one in window]
            )
            for component in _processes(rates)
        },
        cores={core: _core(core, rates) for core in _names(rates, "core")},
        disks={disk: _disk(disk, rates) for disk in _names(rates, "disk")},
        loopback_bytes_per_s=rates.get("loopback.bytes", 0.0),
        link_bytes_per_s=max(rates["link.sent_bytes"], rates["link.received_bytes"])
        if "link.sent_bytes" in rates
        else None,
        accepts_per_s=rates.get("tcp.accepts", 0.0),
        lab_cpu_cores=rates.get("lab.cpu_s"),
        open_ends=gauges.get("tcp.open_ends"),
        used_memory_bytes=gauges.get("memory.used_bytes", 0.0),
        figures={
            figure.name: found[figure.sample]
            for figure in FIGURES.values()
            if (has_limited_server or figure.group != SERVER)
            and figure.sample in (found := gauges if is_gauge(figure.sample) else rates)
        },
    )


def _processes(rates: Moment) -> list[str]:
    """The components that were watched."""
    names = (name.split(".") for name in rates)
    return [name[0] for name in names if name[1:] == ["main_thread_s"]]


def _names(rates: Moment, kind: str) -> list[str]:
    return list(dict.fromkeys(name.split(".")[1] for name in rates if name.startswith(f"{kind}.")))


def _component(
    name: str, rates: Moment, gauges: Moment, threads: list[float | None]
) -> ComponentUsage:
    return ComponentUsage(
        cpu_cores=rates[f"{name}.cpu_s"],
        main_thread=rates[f"{name}.main_thread_s"],
        resident_bytes=gauges[f"{name}.resident_bytes"],
        read_bytes_per_s=rates[f"{name}.read_bytes"],
        write_bytes_per_s=rates[f"{name}.write_bytes"],
        minor_faults_per_s=rates[f"{name}.minor_faults"],
        major_faults_per_s=rates.get(f"{name}.major_faults"),
        processes=gauges.get(f"{name}.processes"),
        threads=gauges[f"{name}.threads"],
        threads_rise=_rise([value for value in threads if value is not None]),
        virtual_bytes=gauges.get(f"{name}.virtual_bytes"),
        text_bytes=gauges.get(f"{name}.text_bytes"),
        data_bytes=gauges.get(f"{name}.data_bytes"),
        main_thread_delay=rates.get(f"{name}.main_thread_delay_s"),
        proportional_bytes=gauges.get(f"{name}.proportional_bytes"),
    )


def _rise(values: list[float]) -> float | None:
    """From the first to the last third of the window, 0 unless it went on in the second one.

    None with too few values.
    """
    if len(values) < _FEWEST_FOR_RISE:
        return None
    third = len(values) // 3
    first, last = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    middle = statistics.fmean(values[third:-third])
    return last - first if first < middle < last else 0.0


def _core(name: str, rates: Moment) -> CoreUsage:
    """Shares of the counted ticks, which do not add up to the window exactly."""
    parts = {
        part: rates[f"core.{name}.{part}_s"]
        for part in ("user", "system", "wait", "idle", "stolen")
    }
    total = sum(parts.values()) or 1.0
    return CoreUsage(**{part: ticks / total for part, ticks in parts.items()})


def _disk(name: str, rates: Moment) -> DiskUsage:
    return DiskUsage(
        busy=min(1.0, rates[f"disk.{name}.busy_s"]),
        read_bytes_per_s=rates[f"disk.{name}.read_bytes"],
        write_bytes_per_s=rates[f"disk.{name}.write_bytes"],
        reads_per_s=rates.get(f"disk.{name}.reads"),
        writes_per_s=rates.get(f"disk.{name}.writes"),
    )
