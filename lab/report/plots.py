"""The figures of throughput and response time, as SVG text."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, NullFormatter

from .figure_style import few_numbers, plain_number, svg


@dataclass(frozen=True)
class Curve:
    """One stage in a sweep plot. Points are (N, value, low, high)."""

    label: str
    colour: str
    throughput: list[tuple[int, float, float, float]]
    response_ms: list[tuple[int, float, float, float]]
    invalid: list[tuple[int, float]]
    n_star: int
    bound: list[tuple[int, float]]  # the asymptotes
    predicted: list[tuple[int, float, float]]  # MVA: N, throughput, response in ms


@dataclass(frozen=True)
class BarGroup:
    """One stage in a bar chart: a value for each row, None where there is none."""

    label: str
    colour: str
    values: list[float | None]
    errors: list[tuple[float, float] | None]  # low and high


def sweep(curves: list[Curve], title: str) -> str:
    """Throughput and response time against N, with asymptotes (dashed) and MVA (dotted).

    Requires: every curve has a point, if only an invalid one.
    """
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.5, 3.9))
    for curve in curves:
        _draw_throughput(left, curve)
        _draw_response(right, curve)
    highest = max(point[1] for curve in curves for point in curve.throughput or curve.invalid)
    left.set(
        title=title,
        xlabel="N, client threads",
        ylabel="throughput, requests/s",
        ylim=(0, highest * 1.35),
    )
    right.set(
        title="Response time",
        xlabel="N, client threads",
        ylabel="mean, ms",
        yscale="log" if any(curve.response_ms for curve in curves) else "linear",
    )
    right.yaxis.set_major_formatter(FuncFormatter(plain_number))
    right.yaxis.set_minor_formatter(FuncFormatter(few_numbers))
    left.yaxis.set_major_formatter(FuncFormatter(plain_number))
    for axes in (left, right):
        _threads_axis(
            axes,
            [n for curve in curves for n, *_ in curve.throughput]
            + [n for curve in curves for n, _ in curve.invalid],
        )
    left.legend(loc="best")
    return svg(figure)


def bars(groups: list[BarGroup], paper: list[BarGroup], rows: list[str]) -> str:
    """Ours beside the paper's, on one scale. Requires: at least one value."""
    panels = [("Ours", groups)] + ([("The paper", paper)] if paper else [])
    figure, all_axes = pyplot.subplots(
        1, len(panels), figsize=(10.5, 4.2), sharey=True, squeeze=False
    )
    least = min(value for _, shown in panels for group in shown for value in group.values if value)
    for axes, (title, shown) in zip(all_axes[0], panels):
        width = 0.8 / len(shown)
        for index, group in enumerate(shown):
            _bar_group(axes, group, index * width - 0.4 + width / 2, width)
        axes.set(title=title, yscale="log")
        axes.set_xticks(range(len(rows)), rows)
        axes.grid(axis="x", visible=False)
        axes.yaxis.set_major_formatter(FuncFormatter(plain_number))
    # After all panels are drawn: a limit that is set stays, and all panels share it.
    all_axes[0][0].set_ylim(bottom=0.6 * least)
    all_axes[0][0].set_ylabel("maximum throughput, requests/s")
    all_axes[0][-1].legend(loc="upper right")
    return svg(figure)


def gains(
    stages: list[tuple[str, str, list[float | None], list[float | None]]], rows: list[str]
) -> str:
    """stages are (label, colour, ours, paper's), each value a gain over the stage before."""
    figure, axes = pyplot.subplots(figsize=(10.5, 3.2))
    places = range(len(rows))
    for index, (label, colour, ours, paper) in enumerate(stages):
        shift = (index - (len(stages) - 1) / 2) * 0.16
        axes.plot(
            *_present([place + shift for place in places], ours),
            "o",
            color=colour,
            markersize=9,
            label=f"{label}, ours",
        )
        axes.plot(
            *_present([place + shift for place in places], paper),
            "_",
            color=colour,
            markersize=18,
            markeredgewidth=3,
            label=f"{label}, the paper",
        )
    axes.axhline(1, color="#5b6675", linewidth=1)
    axes.set(title="Shape: gain over the stage before", ylabel="times", yscale="log")
    axes.set_xticks(places, rows)
    axes.grid(axis="x", visible=False)
    axes.yaxis.set_major_formatter(FuncFormatter(plain_number))
    axes.yaxis.set_minor_formatter(FuncFormatter(few_numbers))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return svg(figure)


def scaling(
    points: list[tuple[int, float, float, float]], law: list[tuple[float, float]], colour: str
) -> str:
    """Throughput against cores, the straight line of perfect scaling, and efficiency per core."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.5, 3.9))
    cores = [point[0] for point in points]
    one = points[0][1] / points[0][0]
    left.errorbar(
        cores,
        [point[1] for point in points],
        yerr=_error_bars(points),
        color=colour,
        marker="o",
        capsize=3,
        label="measured",
    )
    left.plot(
        cores,
        [one * core for core in cores],
        "--",
        color="#5b6675",
        linewidth=1,
        label="perfect scaling",
    )
    if law:
        left.plot(
            *_columns(law, 2), ":", color=colour, linewidth=1.6, label="universal scalability law"
        )
    left.set(
        title="Throughput", xlabel="cores of the fileserver", ylabel="requests/s", ylim=(0, None)
    )
    right.bar(
        [str(core) for core in cores],
        [100 * point[1] / (one * point[0]) for point in points],
        color=colour,
        width=0.5,
    )
    right.set(
        title="Efficiency per core",
        xlabel="cores of the fileserver",
        ylabel="% of the first core's",
        ylim=(0, 110),
    )
    left.set_xticks(cores)
    left.yaxis.set_major_formatter(FuncFormatter(plain_number))
    left.legend(loc="best")
    return svg(figure)


def profile(functions: list[tuple[str, float]]) -> str:
    """functions are (name, share of all instructions), the largest first."""
    figure, axes = pyplot.subplots(figsize=(10.5, 0.36 * len(functions) + 0.9))
    names = [name if len(name) <= 70 else f"{name[:67]}…" for name, _ in functions]
    axes.barh(
        range(len(functions)), [100 * share for _, share in functions], color="#0072b2", height=0.65
    )
    axes.set_yticks(range(len(functions)), names)
    axes.invert_yaxis()
    axes.set(xlabel="% of the fileserver's instructions")
    axes.grid(axis="y", visible=False)
    return svg(figure)


def _draw_throughput(axes, curve: Curve) -> None:
    """Measured points, asymptotes, predictions, invalid points, and a diamond at N*."""
    colour = curve.colour
    _measured(axes, curve.throughput, curve)
    axes.plot(*_columns(curve.bound, 2), color=colour, linestyle="--", linewidth=1, alpha=0.8)
    axes.plot(*_columns(curve.predicted, 3)[:2], color=colour, linestyle=":", linewidth=1.6)
    axes.plot(
        *_columns(curve.invalid, 2),
        "o",
        markerfacecolor="none",
        color=colour,
        markersize=7,
        label=None if curve.throughput else curve.label,
    )
    star = [point[:2] for point in curve.throughput if point[0] == curve.n_star]
    diamond = {"markersize": 8, "markeredgecolor": "#1c2430", "zorder": 5}
    axes.plot(*_columns(star, 2), "D", color=colour, **diamond)


def _draw_response(axes, curve: Curve) -> None:
    _measured(axes, curve.response_ms, curve)
    numbers, _, responses = _columns(curve.predicted, 3)
    axes.plot(numbers, responses, color=curve.colour, linestyle=":", linewidth=1.6)


def _measured(axes, points, curve: Curve) -> None:
    if points:
        axes.errorbar(
            [point[0] for point in points],
            [point[1] for point in points],
            yerr=_error_bars(points),
            color=curve.colour,
            marker="o",
            markersize=5,
            linewidth=1.8,
            capsize=3,
            label=curve.label,
        )


def _error_bars(points) -> list[list[float]]:
    return [
        [max(0.0, value - low) for _, value, low, _ in points],
        [max(0.0, high - value) for _, value, _, high in points],
    ]


def _bar_group(axes, group: BarGroup, shift: float, width: float) -> None:
    places = [place + shift for place, value in enumerate(group.values) if value is not None]
    values = [value for value in group.values if value is not None]
    errors = [error for value, error in zip(group.values, group.errors) if value is not None]
    axes.bar(places, values, width * 0.92, color=group.colour, label=group.label)
    for place, value, error in zip(places, values, errors):
        if error:
            axes.errorbar(
                place,
                value,
                yerr=[[max(0.0, value - error[0])], [max(0.0, error[1] - value)]],
                ecolor="#1c2430",
                capsize=2,
                linewidth=1,
            )


def _threads_axis(axes, numbers: list[int]) -> None:
    axes.set_xscale("log", base=2)
    powers = sorted(
        {2**exponent for exponent in range(12) if 2**exponent <= max(numbers, default=1)}
    )
    axes.set_xticks(powers, [str(power) for power in powers])
    axes.xaxis.set_minor_formatter(NullFormatter())


def _columns(rows: list[tuple], count: int) -> list[list]:
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in range(count)]


def _present(places: list[float], values: list[float | None]) -> tuple[list[float], list[float]]:
    pairs = [(place, value) for place, value in zip(places, values) if value is not None]
    return [place for place, _ in pairs], [value for _, value in pairs]
