"""Draws docs/stall.svg: what a closed and an open loop see of a server that stalls.

python3 -m bench.stall starts both servers, stops the fileserver for a second in the middle of a run
of each loop, and draws the percentiles that loadgen prints. It takes half a minute.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.rig import loadgen, servers
from lab.rig.servers import Pair, Programs

_TOP = Path(__file__).resolve().parents[1]
_PERCENTILES = ("p50", "p90", "p99", "p99.9", "max")
_USER, _PASSWORD = "stall", "secret"
_THREADS = 4

_FROM_ABOVE = ("response", "service", "closed")  # the labels of the curves
_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP_EDGE, _BOTTOM = 72, 210, 34, 40
_STYLE = """
  text { font: 13px sans-serif; fill: #333 }
  .grid { stroke: #ddd }
  .line { fill: none; stroke-width: 2 }
  .closed { stroke: #777 }
  .service { stroke: #0072b2; stroke-dasharray: 5 4 }
  .response { stroke: #d55e00 }
  circle { stroke: none }
  circle.closed, text.closed { fill: #777; stroke: none }
  circle.service, text.service { fill: #0072b2; stroke: none }
  circle.response, text.response { fill: #d55e00; stroke: none }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } .grid { stroke: #444 }
    circle.closed, text.closed { fill: #aaa } .closed { stroke: #aaa }
    circle.service, text.service { fill: #56b4e9 } .service { stroke: #56b4e9 }
    circle.response, text.response { fill: #ff8c42 } .response { stroke: #ff8c42 } }
"""


@dataclass(frozen=True)
class Plan:
    seconds: float = 5.0
    stall_s: float = 1.0
    rate_rps: float = 500.0


@dataclass(frozen=True)
class Curve:
    """milliseconds are those of _PERCENTILES."""

    name: str  # its class in the drawing
    label: str
    milliseconds: Sequence[float]


def measure(plan: Plan, programs: Programs, folder: Path) -> list[Curve]:
    """Failed when a server does not start, or a run has no result."""
    root = folder / "files"
    root.mkdir()
    (root / "1KB.txt").write_bytes(b"x" * 1000)
    store = ["--sqlite-path", str(folder / "accounts.db"), "--password-scheme", "plain"]
    with servers.running(programs, store_flags=store, root=root, logs=folder) as pair:
        servers.make_account(pair.address, _USER, _PASSWORD)
        closed = _run(plan, programs, pair, folder, [])
        opened = _run(plan, programs, pair, folder, ["--rate", f"{plan.rate_rps:g}"])
    service = opened["open_loop"]["service_time_ms"]
    return [
        Curve("closed", "closed loop", _percentiles(closed["response_time_ms"])),
        Curve("service", "open loop, from sent", _percentiles(service)),
        Curve("response", "open loop, from due", _percentiles(opened["response_time_ms"])),
    ]


def _run(
    plan: Plan, programs: Programs, pair: Pair, folder: Path, more: list[str]
) -> dict[str, Any]:
    flags = ["get", "--server", str(pair.address), "--user", _USER, "--file", "1KB.txt"]
    flags += ["--threads", str(_THREADS), "--seconds", f"{plan.seconds:g}", *more]
    running = loadgen.start(
        programs.path("loadgen"), flags, folder / "loadgen.log", password=_PASSWORD
    )
    try:
        time.sleep(plan.seconds * 0.4)
        pair.fileserver.pause()
        try:
            time.sleep(plan.stall_s)
        finally:
            pair.fileserver.resume()
        found: dict[str, Any] = loadgen.result(running, plan.seconds)
    finally:
        running.stop()
    return found


def _percentiles(times: Mapping[str, float]) -> list[float]:
    return [times[name] for name in _PERCENTILES]


def svg(curves: Sequence[Curve], title: str) -> str:
    """A drawing with a logarithmic axis of milliseconds, in the colours of the reader's system."""
    every = [value for curve in curves for value in curve.milliseconds]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every) / 1.1))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label="{title}">',
        f"<style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="18">{title}</text>',
        *_axes(low, high),
    ]
    for curve in curves:
        lines += _drawn(curve, low, high)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _axes(low: int, high: int) -> Iterator[str]:
    for power in range(low, high + 1):
        y = _y(10.0**power, low, high)
        yield f'<path class="grid" d="M{_LEFT} {y:.0f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{10.0**power:g} ms</text>'
    for index, name in enumerate(_PERCENTILES):
        yield f'<text x="{_x(index):.0f}" y="{_HEIGHT - 14}" text-anchor="middle">{name}</text>'


def _drawn(curve: Curve, low: int, high: int) -> Iterator[str]:
    at = [(_x(index), _y(value, low, high)) for index, value in enumerate(curve.milliseconds)]
    path = " ".join(f"{x:.0f},{y:.0f}" for x, y in at)
    yield f'<polyline class="line {curve.name}" points="{path}"/>'
    for x, y in at:
        yield f'<circle class="{curve.name}" cx="{x:.0f}" cy="{y:.0f}" r="3.5"/>'
    label_y = _TOP_EDGE + 30 + 60 * _FROM_ABOVE.index(curve.name)
    p99 = curve.milliseconds[_PERCENTILES.index("p99")]
    for offset, text in ((0, curve.label), (17, f"p99 {p99:.3g} ms")):
        yield (
            f'<text class="{curve.name}" x="{_WIDTH - _RIGHT + 16}" y="{label_y + offset}">'
            f"{text}</text>"
        )


def _x(index: int) -> float:
    return _LEFT + 24 + index * (_WIDTH - _LEFT - _RIGHT - 48) / (len(_PERCENTILES) - 1)


def _y(value: float, low: int, high: int) -> float:
    share = (math.log10(value) - low) / (high - low)
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP_EDGE - _BOTTOM)


def main() -> None:
    parser = argparse.ArgumentParser(prog="stall", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=Path, default=_TOP / "build", help="default: build")
    parser.add_argument("--out", type=Path, default=_TOP / "docs" / "stall.svg")
    arguments = parser.parse_args()
    plan = Plan()
    with tempfile.TemporaryDirectory() as name:
        curves = measure(plan, Programs(arguments.programs.resolve()), Path(name))
    title = f"The server stalls for {plan.stall_s:g} s in a run of {plan.seconds:g} s"
    arguments.out.write_text(svg(curves, title), encoding="utf-8")
    print(
        json.dumps({curve.label: dict(zip(_PERCENTILES, curve.milliseconds)) for curve in curves})
    )


if __name__ == "__main__":
    main()
