"""Results folders of made-up runs that obey all laws, and what forgers do to them."""

import csv
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import course_path  # noqa: F401
import examples

from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.results.environment import StackRecord
from lab.results.records import Folder

START_S = 1_700_000_000.0
_STAGES = {"ph2": 1000.0, "multithreaded": 1800.0}  # and their most requests per second
_ROW, _SIZE = "1KB", 1000
_LOOPBACK = 2.2  # bytes of all hops for a byte of a file
_POINT_S = 3.0
CLAIMS = {
    "predicted": [{"before": "ph2", "after": "multithreaded", "row": "1KB", "gain": 3}],
    "gains": [
        {
            "before": "ph2",
            "after": "multithreaded",
            "row": "1KB",
            "gain": 1.8,
            "why": "a thread is made faster than a process",
        }
    ],
    "n_stars": [
        {"stage": name, "row": "1KB", "n_star": 2, "why": "more users only wait longer here"}
        for name in _STAGES
    ],
}


def honest(place: Path) -> Path:
    """Of two stages, three passes over N = 1, 2 and 4."""
    folder = Folder(place)
    folder.prepare()
    stages = {name: catalog.stages()[name] for name in _STAGES}
    stacks = {
        Cell(name, _ROW).slug: StackRecord(
            commands={
                program: f"build/{program} --listen 127.0.0.1:0 {' '.join(getattr(stage, program))}"
                for program in ("fileserver", "authserver")
            },
            pinning="none",
            store=stage.store,
            store_settings={},
            durability="",
        )
        for name, stage in stages.items()
    }
    folder.write_environment(
        replace(examples.ENVIRONMENT, stages=stages, stacks=stacks, started_unix_s=START_S)
    )
    now_s = START_S + 1
    for repeat in (1, 2, 3):
        for name, most in _STAGES.items():
            for threads, share in ((1, 0.6), (2, 1.0), (4, 1.0)):
                rate = most * share * (1 + 0.002 * repeat)
                used = replace(examples.usage(), loopback_bytes_per_s=_LOOPBACK * rate * _SIZE)
                run = examples.run(
                    threads, rate, repeat, used, cell=Cell(name, _ROW), started_unix_s=now_s
                )
                run = replace(run, throughput_rps=run.requests / run.elapsed_s)
                said = {"requests": run.requests, "throughput_rps": run.throughput_rps}
                folder.add(run, {"loadgen": said})
                now_s += _POINT_S
    return place


def committed(folder: Path, when_s: float) -> None:
    """answers.json, at this time."""
    date = f"{when_s:.0f} +0000"
    git = ["git", "-C", str(folder), "-c", "user.name=ann", "-c", "user.email=a@b"]
    variables = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
    for words in (["init", "-q"], ["add", "answers.json"], ["commit", "-qm", "predict"]):
        subprocess.run([*git, *words], check=True, env=variables)


_Rows = list[dict[str, str]]


def _changed(path: Path, change: Callable[[_Rows], _Rows | None]) -> None:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows = change(rows) or rows
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def _times(row: dict[str, str], factor: float, *names: str) -> None:
    for name in names:
        whole = name in ("requests", "bytes")
        value = factor * float(row[name])
        row[name] = str(round(value) if whole else value)


def _points(change: Callable[[dict[str, str]], None]) -> Callable[[Path], None]:
    """Of the second stage."""

    def forge(folder: Path) -> None:
        def all_rows(rows: _Rows) -> None:
            for row in rows:
                if row["stage"] == "multithreaded":
                    change(row)

        _changed(folder / "points.csv", all_rows)

    return forge


def _usage(component: str, metric: str, factor: float) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        def all_rows(rows: _Rows) -> None:
            for row in rows:
                if (row["component"], row["metric"]) == (component, metric):
                    row["value"] = str(factor * float(row["value"]))

        _changed(folder / "usage.csv", all_rows)

    return forge


def _environment(old: str, new: str) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = folder / "environment.json"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return forge


def _without_the_worst(folder: Path) -> None:
    _changed(folder / "points.csv", lambda rows: [row for row in rows if row["trial"] != "4"])


def _from_another_machine(folder: Path) -> None:
    def all_rows(rows: _Rows) -> _Rows:
        return [row for row in rows if not (row["trial"] == "9" and row["component"] == "core 1")]

    _changed(folder / "usage.csv", all_rows)


def _with_new_evidence(folder: Path) -> None:
    """All of a forger's care: points, and what the load generator said."""

    def triple(row: dict[str, str]) -> None:
        _times(row, 3, "throughput_rps", "requests", "bytes")
        _times(row, 1 / 3, "mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms")

    _points(triple)(folder)
    for path in (folder / "samples").glob("multithreaded*.json"):
        kept = json.loads(path.read_text(encoding="utf-8"))
        kept["loadgen"] = {name: 3 * value for name, value in kept["loadgen"].items()}
        path.write_text(json.dumps(kept), encoding="utf-8")


# What is done to a folder, and the check that tells it.
FORGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "throughput times three": (_points(lambda row: _times(row, 3, "throughput_rps")), "laws"),
    "response times by three": (_points(lambda row: _times(row, 1 / 3, "mean_ms")), "laws"),
    "all of it times three, and the evidence": (_with_new_evidence, "kernel"),
    "requests and bytes with other evidence": (
        _points(lambda row: _times(row, 1.5, "requests", "bytes", "elapsed_s")),
        "evidence",
    ),
    "more bytes": (_points(lambda row: _times(row, 1.2, "bytes")), "bytes"),
    "a server that hardly works": (_usage("fileserver", "cpu_cores", 0.1), "valid"),
    "a store that works more than the cores": (_usage("store", "cpu_cores", 30), "cpu"),
    "another model behind the stage": (
        _environment("--model process", "--model thread"),
        "commands",
    ),
    "a point of another machine": (_from_another_machine, "machine"),
    "points at one time": (
        _points(lambda row: row.update(started_unix_s=str(START_S + 2))),
        "times",
    ),
    "the worst point removed": (_without_the_worst, "evidence"),
}
