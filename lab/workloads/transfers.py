"""Single transfers of a burst, as the load generator or the server recorded them."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Times are in seconds, of one clock. One that failed has no rate."""

    name: str
    bytes: int
    asked_s: float
    first_byte_s: float | None
    last_byte_s: float | None
    failure: str = ""

    @property
    def rate_bytes_s(self) -> float | None:
        if self.failure or self.last_byte_s is None or self.last_byte_s <= self.asked_s:
            return None
        return self.bytes / (self.last_byte_s - self.asked_s)


def of_client(path: Path) -> list[Transfer]:
    """What `loadgen --transfers` wrote; times are since the start of its run."""
    with open(path, newline="", encoding="utf-8") as file:
        return [of_words(row) for row in csv.DictReader(file)]


def of_words(row: dict[str, str]) -> Transfer:
    """A line of that file."""
    return Transfer(
        name=row["name"],
        bytes=int(row["bytes"]),
        asked_s=float(row["asked_s"] or row["started_s"]),
        first_byte_s=_number(row["first_byte_s"]),
        last_byte_s=_number(row["last_byte_s"]),
        failure=row["failure"],
    )


def of_server(lines: Sequence[str]) -> list[Transfer]:
    """Lines of `fileserver --transfer-log`."""
    found = []
    for line in lines:
        entry = json.loads(line)
        found.append(
            Transfer(
                name=entry["name"],
                bytes=entry["bytes"],
                asked_s=entry["asked"],
                first_byte_s=entry.get("first_byte"),
                last_byte_s=entry.get("last_byte"),
                failure="" if entry["result"] == "ok" else entry["result"],
            )
        )
    return found


def figures(clients: Sequence[Transfer], servers: Sequence[Transfer]) -> dict[str, float | None]:
    """What the records of single transfers tell of a burst; {} without any."""
    if not clients:
        return {}
    rates = single_rates(clients)
    return {
        "server_rate_bytes_s": overall_rate(servers),
        "slowest_bytes_s": min(rates, default=None),
        "fairness": fairness(rates),
    }


def overall_rate(transfers: Sequence[Transfer]) -> float | None:
    """All bytes over the time from the first asking to the last byte. None if none succeeded."""
    good = [(one, one.last_byte_s) for one in transfers if one.last_byte_s and not one.failure]
    if not good:
        return None
    span_s = max(last for _, last in good) - min(one.asked_s for one, _ in good)
    return sum(one.bytes for one, _ in good) / span_s if span_s > 0 else None


def single_rates(transfers: Sequence[Transfer]) -> list[float]:
    return [rate for one in transfers if (rate := one.rate_bytes_s) is not None]


def fairness(rates: Sequence[float]) -> float | None:
    """Jain's index: 1 if all are alike, 1/n if one has everything. None without a rate."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _number(text: str) -> float | None:
    return float(text) if text else None
