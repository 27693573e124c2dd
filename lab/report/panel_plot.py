"""The figure of what happened on the host while a point was measured, as SVG text."""

from __future__ import annotations

from itertools import pairwise

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

from .figure_style import COMPONENT_COLOURS, CORE_COLOURS, few_numbers, plain_number, svg


def panel(samples: list[dict], cores: list[str], components: dict[str, str], title: str) -> str:
    """What the paper's nmon screens show: cores, processes, disk and network, resident memory.

    samples are counters over time as the sampler took them; components are name -> title.
    """
    figure, ((top_left, top_right), (low_left, low_right)) = pyplot.subplots(
        2, 2, figsize=(10.5, 6.2)
    )
    _core_bars(top_left, samples, cores)
    top_left.set_title(f"{title}: each core")
    middles = [(a["time_s"] + b["time_s"]) / 2 for a, b in pairwise(samples)]
    for name, label in components.items():
        colour = COMPONENT_COLOURS[name]
        top_right.plot(
            middles,
            [100 * value for value in _rates(samples, f"{name}.cpu_s")],
            color=colour,
            label=label,
        )
        low_right.plot(
            [sample["time_s"] for sample in samples],
            [sample.get(f"{name}.resident_bytes", float("nan")) / 1e6 for sample in samples],
            color=colour,
            label=label,
        )
    top_right.set(title="CPU of each process", ylabel="% of one core", ylim=(0, None))
    low_right.set(
        title="Resident memory", xlabel="s in the measured window", ylabel="MB", yscale="log"
    )
    low_right.yaxis.set_major_formatter(FuncFormatter(plain_number))
    low_right.yaxis.set_minor_formatter(FuncFormatter(few_numbers))
    low_left.plot(
        middles, _sum_rates(samples, "disk.", ".read_bytes"), color="#0072b2", label="disk read"
    )
    low_left.plot(
        middles, _sum_rates(samples, "disk.", ".write_bytes"), color="#d55e00", label="disk write"
    )
    low_left.plot(
        middles, _sum_rates(samples, "loopback.", "bytes"), color="#009e73", label="loopback"
    )
    low_left.set(
        title="Disk and network", xlabel="s in the measured window", ylabel="MB/s", ylim=(0, None)
    )
    for axes in (top_right, low_left, low_right):
        axes.legend(loc="best")
    return svg(figure)


def _core_bars(axes, samples: list[dict], cores: list[str]) -> None:
    bottoms = [0.0] * len(cores)
    for part, colour in CORE_COLOURS.items():
        shares = []
        for core in cores:
            spent = {
                name: samples[-1][f"core.{core}.{name}_s"] - samples[0][f"core.{core}.{name}_s"]
                for name in CORE_COLOURS
            }
            shares.append(100 * spent[part] / (sum(spent.values()) or 1))
        axes.bar(
            [f"core {core}" for core in cores],
            shares,
            bottom=bottoms,
            color=colour,
            label=part,
            width=0.6,
        )
        bottoms = [bottom + share for bottom, share in zip(bottoms, shares)]
    axes.set(ylabel="% of the window", ylim=(0, 100))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _rates(samples: list[dict], name: str) -> list[float]:
    return [
        max(0.0, (b[name] - a[name]) / (b["time_s"] - a["time_s"]))
        if name in a and name in b
        else float("nan")
        for a, b in pairwise(samples)
    ]


def _sum_rates(samples: list[dict], start: str, end: str) -> list[float]:
    names = [name for name in samples[0] if name.startswith(start) and name.endswith(end)]
    each = [_rates(samples, name) for name in names]
    return [sum(values) / 1e6 for values in zip(*each)] if each else [0.0] * (len(samples) - 1)
