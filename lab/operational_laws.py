"""Operational laws of a closed system: demands, asymptotes, N*, and exact mean value analysis.

A station is a place where a request needs service: a set of cores, a disk. Its demand is the
service time that one request needs there in all, D = U / X. A station with m servers (m cores) is
taken as one server m times as fast plus a fixed delay (Seidmann's approximation), so that a lone
request still takes D and the station still saturates at m / D.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Station:
    name: str
    demand_s: float
    servers: int = 1

    @property
    def bottleneck_demand_s(self) -> float:
        """What counts for saturation: the station cannot do more than one over this."""
        return self.demand_s / self.servers


@dataclass(frozen=True)
class Prediction:
    threads: int
    throughput_rps: float
    residence_s: float  # time at the stations; the delay outside of them not included


def service_demand_s(busy: float, throughput_rps: float) -> float:
    """D = U / X, with U in servers busy (1.5 cores: 1.5). Requires: throughput_rps > 0."""
    return busy / throughput_rps


def heaviest(stations: list[Station]) -> Station:
    """The station that saturates first. Requires: at least one station."""
    return max(stations, key=lambda station: station.bottleneck_demand_s)


def saturation_threads(stations: list[Station], delay_s: float) -> float:
    """N* = (D + Z) / Dmax: where the two asymptotes cross. Requires: some demand above 0."""
    total_s = sum(station.demand_s for station in stations)
    return (total_s + delay_s) / heaviest(stations).bottleneck_demand_s


def throughput_bound(threads: int, stations: list[Station], delay_s: float) -> float:
    """X(N) <= min(1 / Dmax, N / (D + Z)). Requires: some demand above 0."""
    total_s = sum(station.demand_s for station in stations)
    return min(1 / heaviest(stations).bottleneck_demand_s, threads / (total_s + delay_s))


def one_after_the_other(stations: list[Station], response_s: float) -> list[Station]:
    """The stations as a queueing model must see them, which knows no two that work at one request at once.

    The sender and the receiver of a large file do, and then their demands add up to more than the whole
    response. All but the heaviest are shrunk until they fit. Requires: at least one station.
    """
    heavy = heaviest(stations)
    others_s = sum(station.bottleneck_demand_s for station in stations if station is not heavy)
    room_s = max(0.0, response_s - heavy.bottleneck_demand_s)
    if others_s <= room_s:
        return stations
    share = room_s / others_s
    return [
        station if station is heavy else replace(station, demand_s=share * station.demand_s)
        for station in stations
    ]


def mean_value_analysis(
    stations: list[Station], delay_s: float, most_threads: int
) -> list[Prediction]:
    """Exact MVA for 1 … most_threads customers of one class.

    delay_s is time that a request spends where nobody queues: think time, wake-ups, waits for a
    thing that is not busy. Requires: delay_s and all demands add up to more than 0.
    """
    demands = [station.bottleneck_demand_s for station in stations]
    delay_s += sum(station.demand_s - station.bottleneck_demand_s for station in stations)
    queues = [0.0] * len(demands)
    predictions = []
    for threads in range(1, most_threads + 1):
        residences = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        throughput = threads / (delay_s + sum(residences))
        queues = [throughput * residence for residence in residences]
        predictions.append(Prediction(threads, throughput, sum(residences)))
    return predictions
