#!/usr/bin/env python3
"""Compares rules for which files have the memory when it has no room for all, on made-up traces.

    bench/hit_ratios.py

Of 1,000 files of one size 100 fit. For each trace and rule it prints the hits of all requests, and
how many files are read into memory for each request. "All known" has the 100 files that the whole
trace asks for most: where requests do not depend on each other, no rule that cannot look into the
future has more. "Belady" looks into it. "turnstile" is what fileserver/files/demand.h says, with a
choice after every 1,000 requests; at the start it has the first files by name.
"""

import bisect
import heapq
import itertools
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from random import Random

_FILES, _ROOM, _REQUESTS = 1000, 100, 200_000
_SHIFTS = 10

Trace = Sequence[int]
Result = tuple[float, float]  # hits and reads of a request


def _popular(names: Sequence[int], power: float, count: int, random: Random) -> list[int]:
    """Name k is asked for as often as 1/k^power says."""
    sums = list(itertools.accumulate(k**-power for k in range(1, len(names) + 1)))
    return [names[bisect.bisect_left(sums, random.random() * sums[-1])] for _ in range(count)]


def _shifted(names: list[int], random: Random) -> None:
    """A fifth of the names change their places."""
    places = random.sample(range(len(names)), len(names) // 5)
    moved = random.sample([names[place] for place in places], len(places))
    for place, name in zip(places, moved):
        names[place] = name


def traces() -> dict[str, Trace]:
    random = Random(1)
    names = random.sample(range(_FILES), _FILES)
    part = _REQUESTS // _SHIFTS
    found: dict[str, Trace] = {
        f"1/k^{power}": _popular(names, power, _REQUESTS, random) for power in (0.7, 0.9, 1.1)
    }
    scanned = list(found["1/k^0.9"])
    for begin in range(part // 2, _REQUESTS, part):
        scanned[begin : begin + _FILES] = range(_FILES)
    found["1/k^0.9, ten times all files in turn"] = scanned
    shifting: list[int] = []
    for _ in range(_SHIFTS):
        _shifted(names, random)
        shifting += _popular(names, 0.9, part, random)
    found["1/k^0.9, ten times a fifth changes"] = shifting
    return found


def belady(trace: Trace) -> Result:
    """Keeps what is asked for soonest; what comes later than all of that is not kept."""
    never = len(trace)
    next_at = [never] * len(trace)
    last: dict[int, int] = {}
    for at in range(len(trace) - 1, -1, -1):
        next_at[at] = last.get(trace[at], never)
        last[trace[at]] = at
    kept: dict[int, int] = {}
    latest: list[tuple[int, int]] = []
    hits = reads = 0
    for at, name in enumerate(trace):
        if name in kept:
            hits += 1
        else:
            while latest and kept.get(latest[0][1]) != -latest[0][0]:
                heapq.heappop(latest)
            if len(kept) == _ROOM:
                if -latest[0][0] <= next_at[at]:
                    continue
                del kept[heapq.heappop(latest)[1]]
            reads += 1
        kept[name] = next_at[at]
        heapq.heappush(latest, (-next_at[at], name))
    return hits / len(trace), reads / len(trace)


def all_known(trace: Trace) -> Result:
    return sum(count for _, count in Counter(trace).most_common(_ROOM)) / len(trace), 0.0


def lru(trace: Trace) -> Result:
    kept: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for name in trace:
        hits += name in kept
        kept[name] = None
        kept.move_to_end(name)
        if len(kept) > _ROOM:
            kept.popitem(last=False)
    return hits / len(trace), 1 - hits / len(trace)


def s3_fifo(trace: Trace) -> Result:
    """A small queue for a tenth, a main one, and the names of those that left the small one."""
    small, main = deque[int](), deque[int]()
    times: dict[int, int] = {}  # of what is kept
    left: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for name in trace:
        if name in times:
            times[name] = min(3, times[name] + 1)
            hits += 1
            continue
        while len(times) == _ROOM:
            queue = small if len(small) >= _ROOM // 10 else main
            oldest = queue.popleft()
            if times[oldest]:
                times[oldest] = 0 if queue is small else times[oldest] - 1
                main.append(oldest)
                continue
            del times[oldest]
            if queue is small:
                left[oldest] = None
                if len(left) > _ROOM:
                    left.popitem(last=False)
        (main if left.pop(name, 0) is None else small).append(name)
        times[name] = 0
    return hits / len(trace), 1 - hits / len(trace)


def tiny_lfu(trace: Trace) -> Result:
    """W-TinyLFU with exact counts: a window of a hundredth, and a main part that is an LRU."""
    window: OrderedDict[int, None] = OrderedDict()
    main: OrderedDict[int, None] = OrderedDict()
    times: Counter[int] = Counter()
    hits = 0
    for at, name in enumerate(trace):
        times[name] += 1
        if at % (10 * _ROOM) == 0:
            times = Counter({one: count // 2 for one, count in times.items() if count > 1})
        part = main if name in main else window
        hits += name in part
        part[name] = None
        part.move_to_end(name)
        if len(window) > _ROOM // 100:
            newest, _ = window.popitem(last=False)
            if len(main) < _ROOM - _ROOM // 100:
                main[newest] = None
            elif times[newest] > times[next(iter(main))]:
                main.popitem(last=False)
                main[newest] = None
    return hits / len(trace), 1 - hits / len(trace)


def turnstile(trace: Trace) -> Result:
    kept, times, seen = set(range(_ROOM)), Counter[int](), 0
    hits = reads = 0
    for at, name in enumerate(trace, start=1):
        times[name] += 1
        seen += 1
        hits += name in kept
        if at % 1000:
            continue
        while seen > 32 * _ROOM:
            times = Counter({one: count // 2 for one, count in times.items() if count > 1})
            seen = times.total()
        wanted = [one for one, count in times.most_common() if one not in kept and count >= 4]
        for name_in, name_out in zip(wanted, sorted(kept, key=lambda one: times[one])):
            if 2 * times[name_in] <= 3 * times[name_out]:
                break
            kept.remove(name_out)
            kept.add(name_in)
            reads += 1
    return hits / len(trace), reads / len(trace)


_RULES: dict[str, Callable[[Trace], Result]] = {
    "Belady": belady,
    "all known": all_known,
    "LRU": lru,
    "S3-FIFO": s3_fifo,
    "W-TinyLFU": tiny_lfu,
    "turnstile": turnstile,
}


def main() -> None:
    for title, trace in traces().items():
        print(title)
        for name, rule in _RULES.items():
            hits, reads = rule(trace)
            print(f"  {name:<10} {hits:6.1%} hits {reads:8.4f} reads for each request", flush=True)


if __name__ == "__main__":
    main()
