"""`lab limits`: what this host can bear, by trying, beside what its settings say.

Root sees the limits of the network namespace in which the lab measures.
"""

import dataclasses
import json
import os
import platform
import resource
import sys
from pathlib import Path

from rig import namespace

from .observe import host, tried_limits

_SLOW = "connecting until the system refuses, which may take a minute"


def show(json_path: Path | None) -> int:
    """Prints a line for each limit, and writes them to the file as JSON."""
    settings = _settings()
    print("settings")
    _print_rows(settings)
    print("tried")
    tried = {}
    for one in tried_limits.try_all():
        tried[one.name] = dataclasses.asdict(one)
        print(f"  {one.name:26} {one.count:>8}  {_end_of(one)}".rstrip(), flush=True)
        if one.name == tried_limits.BEFORE_CONNECTIONS:
            print(f"lab: {_SLOW}", file=sys.stderr)
    if json_path:
        record = {"settings": settings, "tried": tried}
        json_path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0


def _end_of(one: tried_limits.Tried) -> str:
    return f"then: {one.ended_by}" if one.ended_by else ""


def _print_rows(rows: dict[str, str]) -> None:
    for name, value in rows.items():
        print(f"  {name:26} {value}")


def _settings() -> dict[str, str]:
    hardware = host.hardware()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    page = os.sysconf("SC_PAGE_SIZE")
    total, free = (os.sysconf(name) * page for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    return {
        "processor": hardware.get("Processor", "not reported"),
        "kernel": platform.release(),
        "memory (total, free)": f"{total // 1024} KB, {free // 1024} KB",
        "ip_local_port_range": namespace.settings()["net.ipv4.ip_local_port_range"],
        "file-max": Path("/proc/sys/fs/file-max").read_text(encoding="ascii").strip(),
        "open files (soft, hard)": f"{soft}, {hard}",
        "queued signals (soft)": str(resource.getrlimit(resource.RLIMIT_SIGPENDING)[0]),
    }
