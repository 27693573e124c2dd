"""Draws docs/stall.svg: what a closed and an open loop see of a server that stalls.

python3 -m bench.stall starts both servers, stops the fileserver for a second in the middle of a run
of each loop, and draws the percentiles that loadgen prints. It takes half a minute.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.report.charts import line_chart, svg
from lab.report.charts.line_chart import Axes
from rig import loadgen, servers
from rig.servers import Pair, Programs

_TOP = Path(__file__).resolve().parents[1]
_PERCENTILES = ("p50", "p90", "p99", "p99.9", "max")
_USER, _PASSWORD = "stall", "secret"
_THREADS = 4

_NAME_PX = 215.0  # the room for the name of a curve


@dataclass(frozen=True)
class Plan:
    seconds: float = 5.0
    stall_s: float = 1.0
    rate_rps: float = 500.0


@dataclass(frozen=True)
class Curve:
    """milliseconds are those of _PERCENTILES."""

    label: str
    colour: str
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
        Curve("closed loop", "paper", _percentiles(closed["response_time_ms"])),
        Curve("open loop, from sent", "fileserver", _percentiles(service)),
        Curve("open loop, from due", "authserver", _percentiles(opened["response_time_ms"])),
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


def drawing(curves: Sequence[Curve], title: str) -> str:
    """SVG: the percentiles beside each other, over a logarithmic axis of milliseconds."""
    axes = Axes(
        x_low=0,
        x_high=len(_PERCENTILES) - 1,
        y_values=[value for curve in curves for value in curve.milliseconds],
        is_y_logarithmic=True,
        x_ticks=range(len(_PERCENTILES)),
        x_names=_PERCENTILES,
    )
    drawn = [
        line_chart.Curve(
            name=f"{curve.label}: p99 {curve.milliseconds[_PERCENTILES.index('p99')]:.3g} ms",
            colour=curve.colour,
            points=[line_chart.point(x, value) for x, value in enumerate(curve.milliseconds)],
        )
        for curve in curves
    ]
    canvas = line_chart.draw(
        f"{title}: response times in ms", drawn, axes, size=(640.0, 220.0), right=_NAME_PX
    )
    return svg.file(title, [canvas], 1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="stall", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=Path, default=_TOP / "build", help="default: build")
    parser.add_argument("--out", type=Path, default=_TOP / "docs" / "stall.svg")
    arguments = parser.parse_args()
    plan = Plan()
    with tempfile.TemporaryDirectory() as name:
        curves = measure(plan, Programs(arguments.programs.resolve()), Path(name))
    title = f"The server stalls for {plan.stall_s:g} s in a run of {plan.seconds:g} s"
    arguments.out.write_text(drawing(curves, title), encoding="utf-8")
    print(
        json.dumps({curve.label: dict(zip(_PERCENTILES, curve.milliseconds)) for curve in curves})
    )


if __name__ == "__main__":
    main()
