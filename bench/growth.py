"""How a figure grows with a number: its table, the sentence about it, and its drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.ticker import NullFormatter

from lab.report import plots

_COLOURS = ("#0072b2", "#d55e00")


@dataclass(frozen=True)
class Curve:
    """points are (number, value), in rising order of the number."""

    title: str  # what the value is, with its unit
    of: str  # what the number counts
    points: Sequence[tuple[int, float]]
    is_a_sum: bool = False  # each one adds its part, so that the part of one is worth saying

    def exponent(self) -> float:
        """The e of value = c * number^e that fits best: 0 is constant, 1 is proportional."""
        logs = [(math.log(number), math.log(value)) for number, value in self.points if value > 0]
        if len(logs) < 2:
            return 0.0
        mean_x, mean_y = (sum(column) / len(logs) for column in zip(*logs))
        spread = sum((x - mean_x) ** 2 for x, _ in logs)
        return float(sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread)

    def sentence(self) -> str:
        (first, low), (last, high) = self.points[0], self.points[-1]
        parts = [f"from {first:,} to {last:,} {self.of}: {_number(low)} to {_number(high)}"]
        if low > 0:
            parts.append(f"{high / low:.3g} times")
        if self.is_a_sum and last > first:
            parts.append(f"{(high - low) / (last - first):.3g} more for each")
        return f"{self.title}, {', '.join(parts)}, power {self.exponent():.2f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(curves: Sequence[Curve]) -> str:
    """Curves over the same numbers share their rows."""
    blocks = [
        _rows([curve for curve in curves if curve.of == of])
        for of in dict.fromkeys(curve.of for curve in curves)
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def _rows(curves: Sequence[Curve]) -> list[str]:
    titles = [curve.title for curve in curves]
    lines = [f"{curves[0].of:>24}  " + "  ".join(titles)]
    numbers = sorted({number for curve in curves for number, _ in curve.points})
    for number in numbers:
        values = [dict(curve.points).get(number) for curve in curves]
        cells = [
            f"{'' if value is None else _number(value):>{len(title)}}"
            for value, title in zip(values, titles)
        ]
        lines.append(f"{number:>24,}  " + "  ".join(cells))
    return lines


def drawing(curves: Sequence[Curve]) -> str:
    """SVG: one panel for each curve, both axes logarithmic, so that a power is a straight line."""
    rows = math.ceil(len(curves) / 2)
    figure, grid = plots.pyplot.subplots(rows, 2, figsize=(10.5, 3.4 * rows), squeeze=False)
    panels = [panel for row in grid for panel in row]
    for panel, curve in zip(panels, curves):
        numbers, values = zip(*curve.points)
        panel.plot(numbers, values, marker="o", color=_COLOURS[0], label="measured")
        start, exponent = curve.points[0], curve.exponent()
        fitted = [start[1] * (number / start[0]) ** exponent for number in numbers]
        panel.plot(numbers, fitted, ":", color=_COLOURS[1], label=f"power {exponent:.2f}")
        panel.set(title=curve.title, xlabel=curve.of, xscale="log", yscale="log")
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.legend(loc="best")
    for panel in panels[len(curves) :]:
        panel.set_visible(False)
    return plots.svg(figure)
