"""Records of testers that are made up, so that what they come to is known."""

from typing import Any

from lab.kinds.ramp.gathered import Gathered, Lost, OfTester


def transfer(
    tester: str, start_s: float, end_s: float | None, failure: str = "", group: str = "far"
) -> OfTester:
    return OfTester(
        tester=tester,
        group=group,
        name="x",
        bytes=100,
        asked_s=start_s + 0.1,
        first_byte_s=None,
        last_byte_s=end_s,
        started_s=start_s,
        failure=failure,
    )


def gathered(*transfers: OfTester, lost: tuple[str, ...] = (), **changes: Any) -> Gathered:
    usual: dict[str, Any] = {
        "raw": {"threads": 2},
        "start_unix_s": 1.79e9,
        "testers": 3,
        "lost": [Lost(tester=name, group="far", why="gone", last_heard_s=1.0) for name in lost],
        "gave_up": [],
        "seconds": [],
        "seconds_of_lost": [],
        "transfers": list(transfers),
        "start_late_ms": {"a": 4.0, "b": 1.5},
        "clocks": [],
    }
    return Gathered(**{**usual, **changes})
