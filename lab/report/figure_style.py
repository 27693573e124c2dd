"""How all figures look. One colour for each stage and each component, everywhere."""

from __future__ import annotations

import io
import math

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

COMPONENT_COLOURS = {
    "fileserver": "#0072b2",
    "authserver": "#e69f00",
    "store": "#cc79a7",
    "loadgen": "#8a8a8a",
}
CORE_COLOURS = {
    "user": "#0072b2",
    "system": "#d55e00",
    "wait": "#f0e442",
    "stolen": "#000000",
    "idle": "#e8ecf0",
}

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "font.sans-serif": ["Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5b6675",
    "axes.labelcolor": "#1c2430",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#dde3ea",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.color": "#5b6675",
    "ytick.color": "#5b6675",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.constrained_layout.use": True,
}
matplotlib.rcParams.update(_STYLE)


def plain_number(value: float, _position) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def few_numbers(value: float, _position) -> str:
    """Names the twos and fives between the powers of ten."""
    leading = value / 10 ** math.floor(math.log10(value))
    return plain_number(value, None) if round(leading, 6) in (2, 5) else ""


def svg(figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return text.getvalue()
