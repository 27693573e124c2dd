"""How a figure grows with a number: its table, the sentence about it, and its drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lab.report.charts import line_chart, svg
from lab.report.charts.line_chart import Axes
from lab.report.charts.svg import Canvas


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
    return svg.file("How cost grows", [_panel(curve) for curve in curves], 2)


def _panel(curve: Curve) -> Canvas:
    numbers = [number for number, _ in curve.points]
    measured = [line_chart.point(number, value) for number, value in curve.points if value > 0]
    start, exponent = curve.points[0], curve.exponent()
    fitted = [
        line_chart.point(number, start[1] * (number / start[0]) ** exponent) for number in numbers
    ]
    axes = Axes(
        x_low=float(min(numbers)),
        x_high=float(max(numbers)),
        y_values=[point.value for point in measured],
        x_base=10,
        is_y_logarithmic=True,
        x_title=curve.of,
    )
    drawn = [
        line_chart.Curve(name="", colour="soft", points=fitted, style="dots"),
        line_chart.Curve(name=f"power {exponent:.2f}", colour="ink", points=measured),
    ]
    return line_chart.draw(curve.title, drawn, axes, size=(420.0, 170.0))
