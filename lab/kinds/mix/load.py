"""A closed loop of readers and writers. One run of the load generator each.

The kind of each request is drawn, and which file a get asks for. All files have one size, and so
does what is written. Whatever is written has a name that nobody asks for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...workloads.load import Asked
from ...workloads.outcome import Result, known_times
from ..closed_loop import load as closed_loop
from ..closed_loop.load import ClosedLoop
from ..kind import LESS, MORE, NEITHER, Figure

KINDS = ("get", "put", "new")
FROM_MEMORY = 'turnstile_file_sends_total{source="memory"}'
FROM_DISK = 'turnstile_file_sends_total{source="disk"}'
IN_MEMORY = "turnstile_files_in_memory"

FIGURES = (
    # By the server's telemetry, with the requests of the warm-up.
    Figure(name="hit_share", unit="share", better=MORE),  # of the sent files, those from memory
    Figure(name="files_in_memory", better=NEITHER),  # before the run
    Figure(name="files_written_to_memory", better=NEITHER),
    *(Figure(name=f"{kind}_rps", unit="/s", better=MORE) for kind in KINDS),
    *(Figure(name=f"{kind}_p50_ms", unit="ms", better=LESS) for kind in KINDS),
    *(Figure(name=f"{kind}_p99_ms", unit="ms", better=LESS) for kind in KINDS),
)


@dataclass(frozen=True, kw_only=True)
class MixedLoop(ClosedLoop):
    kinds: str  # as loadgen takes them; "": all get files
    zipf: float
    files: int
    seed: int  # chooses the kinds and the files

    def command_flags(self) -> list[str]:
        flags = ["get", "--server", self.server, "--threads", str(self.threads)]
        flags += ["--seconds", f"{self.seconds:g}", "--warmup", f"{self.warmup_s:g}"]
        flags += ["--user", self.user, "--file", f"{self.size_name}%d.txt"]
        flags += ["--files", str(self.files), "--popularity", f"zipf:{self.zipf:g}"]
        flags += ["--seed", str(self.seed)]
        flags += ["--mix", self.kinds] if self.kinds else []
        flags += ["--size", str(self.size_bytes)] if "put" in self.kinds else []
        return [*flags, *self.flags]

    def _missing_bytes(self, result: Result) -> list[str]:
        """A new account has no bytes."""
        files = sum(_kinds(result)[kind]["requests"] for kind in ("get", "put"))
        if result.bytes == files * self.size_bytes:
            return []
        return [f"{result.bytes} bytes are not {files} files of {self.size_bytes}"]

    def failures(self, result: Result) -> list[str]:
        missing = [
            f"no {kind} succeeded"
            for kind in KINDS
            if kind in self.kinds and not _kinds(result)[kind]["requests"]
        ]
        return [*super().failures(result), *missing]

    def figures(self, result: Result) -> dict[str, float | None]:
        found = super().figures(result)
        for kind, part in _kinds(result).items():
            if part["requests"]:
                found[f"{kind}_rps"] = part["throughput_rps"]
                times = known_times(part["response_time_ms"], part["requests"])
                found[f"{kind}_p50_ms"] = times["p50"]
                found[f"{kind}_p99_ms"] = times["p99"]
        return found

    def figures_of_server(
        self, before: Mapping[str, float], after: Mapping[str, float]
    ) -> dict[str, float | None]:
        from_memory, from_disk = (after[name] - before[name] for name in (FROM_MEMORY, FROM_DISK))
        sent = from_memory + from_disk
        return {
            "hit_share": from_memory / sent if sent else None,
            "files_in_memory": before[IN_MEMORY],
            "files_written_to_memory": after[IN_MEMORY] - before[IN_MEMORY],
        }


def _kinds(result: Result) -> dict[str, dict[str, Any]]:
    """What each kind came to. Without a mix all requests are gets."""
    nothing = {"requests": 0}
    found: dict[str, dict[str, Any]] = result.raw.get("kinds") or {"get": result.raw}
    return {kind: found.get(kind, nothing) for kind in KINDS}


def load(asked: Asked) -> MixedLoop:
    mix, planned = asked.planned.stage.mix, asked.planned
    assert mix and planned.size  # see plan/options.py
    return MixedLoop(
        **vars(closed_loop.load(asked)),
        kinds=mix.kinds,
        zipf=mix.zipf,
        files=planned.file_count,
        seed=asked.repeat,
    )
