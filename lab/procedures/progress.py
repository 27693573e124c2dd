"""Prints how far a run is, on standard error: point i of n, the rate, the time left."""

import sys
import time

from ..plan.catalog import Cell
from ..plan.planned import Pair, Setting


class Progress:
    """Prints a line for each finished point. On a terminal it also shows the point under way."""

    def __init__(self, points: int, seconds: float, done: int = 0):
        """seconds estimates the time of all points; `done` of them were measured before."""
        self._points = max(points, done)
        self._seconds = seconds
        self._done = self._done_before = done
        self._started = 0.0  # when the first point began, after all preparations

    def say(self, text: str) -> None:
        self._clear()
        print(text, file=sys.stderr, flush=True)

    def begin(self, cell: Cell, setting: Setting, repeat: int) -> None:
        self._started = self._started or time.monotonic()
        if sys.stderr.isatty():
            print(
                f"\r\033[K{self._position()} {cell}, {setting}, run {repeat} …",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def end(self, cell: Cell, setting: Setting, throughput_rps: float, failures: str) -> None:
        self._done += 1
        self._points = max(self._points, self._done)  # a disturbed point was tried once more
        remark = f"  INVALID: {failures}" if failures else ""
        self.say(
            f"{self._position()} {cell!s:38} {setting!s:<8} {throughput_rps:>10,.1f}/s  "
            f"{duration(self._left())} left{remark}"
        )

    def compared(
        self, pair: Pair, setting: Setting, block: int, rates: list[float], failures: str
    ) -> None:
        """A block of four trials has been made."""
        remark = f"  INVALID: {failures}" if failures else ""
        shown = "  ".join(f"{rate:,.1f}" for rate in rates)
        self.say(f"{pair!s:55} {setting} block {block}:  {shown}/s{remark}")

    def expect(self, points: int) -> None:
        """Corrects the number of all points, when more is known."""
        self._points = max(points, self._done)

    def _position(self) -> str:
        width = len(str(self._points))
        return f"[{self._done:>{width}} of {'~'}{self._points}]"

    def _left(self) -> float:
        """Estimated from the time that this command's points took so far."""
        done_now = self._done - self._done_before
        each_s = (
            (time.monotonic() - self._started) / done_now
            if done_now
            else self._seconds / max(1, self._points)
        )
        return max(0.0, each_s * (self._points - self._done))

    def _clear(self) -> None:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
