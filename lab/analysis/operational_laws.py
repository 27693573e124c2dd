"""Operational laws of a closed system: asymptotes, their crossing, and exact mean value analysis.

A station is a place where a request needs service: a set of cores, a disk. Its demand D is the
total service time of one request there. A station with m servers (m cores) is modelled as one
server that is m times as fast, plus a fixed delay (Seidmann's approximation). A lone request then
still takes D, and the station still saturates at m / D.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

_MOST_THREADS = 20_000


@dataclass(frozen=True)
class Station:
    name: str
    demand_s: float
    servers: int = 1

    @property
    def bottleneck_demand_s(self) -> float:
        """The station's throughput is at most 1 / this."""
        return self.demand_s / self.servers


@dataclass(frozen=True)
class Prediction:
    threads: int
    throughput_rps: float
    residence_s: float  # time at the stations, without the delay


def heaviest(stations: list[Station]) -> Station:
    """The station that saturates first. Requires: at least one station."""
    return max(stations, key=lambda station: station.bottleneck_demand_s)


def crossing(stations: list[Station], delay_s: float) -> float:
    """(D + Z) / Dmax: where the two asymptotes cross. Requires: some demand above 0."""
    total_s = sum(station.demand_s for station in stations)
    return (total_s + delay_s) / heaviest(stations).bottleneck_demand_s


def throughput_bound(threads: int, stations: list[Station], delay_s: float) -> float:
    """X(N) <= min(1 / Dmax, N / (D + Z)). Requires: some demand above 0."""
    total_s = sum(station.demand_s for station in stations)
    return min(1 / heaviest(stations).bottleneck_demand_s, threads / (total_s + delay_s))


def one_after_the_other(stations: list[Station], response_s: float) -> list[Station]:
    """Shrinks demands until they add up to the response time, as a queueing model requires.

    The model lets a request be at one station at a time. But sender and receiver of a large file
    work on it at once, and their demands can add up to more than the response time. All demands
    except the largest are shrunk by the same factor. Requires: at least one station.
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
    return list(itertools.islice(_exact(stations, delay_s), most_threads))


def threads_for_share(stations: list[Station], delay_s: float, share: float) -> float | None:
    """The N at which exact MVA reaches this share of its asymptote, interpolated between integers.

    None if that is beyond any N that a sweep measures.
    Requires: 0 < share < 1; some demand above 0.
    """
    wanted = share / heaviest(stations).bottleneck_demand_s
    before = Prediction(0, 0.0, 0.0)
    for one in itertools.islice(_exact(stations, delay_s), _MOST_THREADS):
        if one.throughput_rps >= wanted:
            rise = one.throughput_rps - before.throughput_rps
            return before.threads + (wanted - before.throughput_rps) / rise
        before = one
    return None


def _exact(stations: list[Station], delay_s: float) -> Iterator[Prediction]:
    """For 1, 2, 3 … customers, without end."""
    demands = [station.bottleneck_demand_s for station in stations]
    delay_s += sum(station.demand_s - station.bottleneck_demand_s for station in stations)
    queues = [0.0] * len(demands)
    for threads in itertools.count(1):
        residences = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        throughput = threads / (delay_s + sum(residences))
        queues = [throughput * residence for residence in residences]
        yield Prediction(threads, throughput, sum(residences))
