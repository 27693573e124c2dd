#!/usr/bin/python3
"""Writes a notebook for Jupyter about a results folder: notebook.py FILE.ipynb

Its cells need Python alone; where matplotlib is there, they draw. A test runs them.
"""

import json
import sys
from pathlib import Path

# Text and code in turn.
_CELLS = (
    """# What does a run say?

Set `FOLDER` to a results folder of the lab, and `STAGE` and `ROW` to a cell of it.""",
    """import csv
import statistics
from collections import defaultdict
from pathlib import Path

FOLDER, STAGE, ROW = Path("results"), "multithreaded", "1KB"

with open(FOLDER / "points.csv", newline="") as file:
    points = [
        row
        for row in csv.DictReader(file)
        if (row["stage"], row["row"]) == (STAGE, ROW) and not row["failures"] and not row["pair"]
    ]
usage = defaultdict(dict)
with open(FOLDER / "usage.csv", newline="") as file:
    for line in csv.DictReader(file):
        usage[line["trial"]][line["component"], line["metric"]] = line["value"]
by_n = defaultdict(list)
for row in points:
    by_n[int(row["threads"])].append(row)
print(len(points), "valid points at N =", sorted(by_n))""",
    """## X(N) and R(N)

X is requests per second, R the mean response time. Check X · R = N: what would be wrong if it did
not hold?""",
    """def middle(n, name):
    return statistics.median(float(row[name]) for row in by_n[n])


ns = sorted(by_n)
x = {n: middle(n, "throughput_rps") for n in ns}
r = {n: middle(n, "mean_ms") / 1000 for n in ns}
for n in ns:
    print(f"N = {n:4}  X = {x[n]:9.1f}/s  R = {1000 * r[n]:8.3f} ms  X·R/N = {x[n] * r[n] / n:.3f}")


def draw(title, *lines):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    for name, values in lines:
        plt.plot(ns, [values[n] for n in ns], "o-", label=name)
    plt.xscale("log", base=2)
    plt.ylim(bottom=0)
    plt.title(title)
    plt.legend()
    plt.show()


draw("X(N)", ("X", x))
draw("R(N)", ("R", r))""",
    """## U = X · D

D is the CPU time of a request. Compute it from U at each N. Does it stay the same? Which component
has the largest?""",
    """programs = sorted({name for one in usage.values() for name, metric in one
                   if metric == "cpu_cores"})
demand = {}
for name in programs:
    used = {n: statistics.median(float(usage[row["trial"]].get((name, "cpu_cores"), 0))
                                 for row in by_n[n]) for n in ns}
    demand[name] = {n: used[n] / x[n] for n in ns}
    shown = ", ".join(f"{1e6 * demand[name][n]:.0f}" for n in ns)
    print(f"{name:12} D in µs at N = {ns}: {shown}")
draw("D", *demand.items())""",
    """## Mean value analysis by hand

With demands at N = 1, predict X(N) for a queue of all CPU time and a delay Z that is the rest of
R(1). Then look where the measured X leaves it: what does the model not know?""",
    """cores = max(1, len({name for one in usage.values() for name, _ in one
                    if name.startswith("core ")}))
first = ns[0]
d = sum(one[first] for name, one in demand.items()) / cores
z = max(0.0, r[first] - d * cores)
queue, predicted = 0.0, {}
for n in range(1, ns[-1] + 1):
    response = d * (1 + queue)
    rate = n / (response + z + d * (cores - 1))
    queue = rate * response
    predicted[n] = rate
for n in ns:
    print(f"N = {n:4}  predicted {predicted[n]:9.1f}/s  measured {x[n]:9.1f}/s")
draw("X(N)", ("measured", x), ("predicted", predicted))""",
)


def notebook() -> dict[str, object]:
    cells: list[dict[str, object]] = []
    for number, text in enumerate(_CELLS):
        is_code = number % 2 == 1
        lines = text.splitlines(keepends=True)
        code: dict[str, object] = {"execution_count": None, "outputs": []} if is_code else {}
        kind = "code" if is_code else "markdown"
        cells.append(
            {"cell_type": kind, "id": f"c{number}", "metadata": {}, "source": lines, **code}
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: notebook.py FILE", file=sys.stderr)
        sys.exit(2)
    Path(sys.argv[1]).write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n")
