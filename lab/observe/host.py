"""Describes this host: hardware, versions, and settings that influence results."""

import fcntl
import json
import os
import platform
import re
import shutil
import socket
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rig import namespace
from rig.stores import KINDS

from ..plan import papers

_TOOLS = ("iperf3", "valgrind")
_NOT_REPORTED = "not reported"


@dataclass(frozen=True, kw_only=True)
class Host:
    """What a reader of a result wants to know about the host. Empty where it was not recorded."""

    hardware: dict[str, str] = field(default_factory=dict)
    memory_bytes: float | None = None
    machine_id: str = ""
    system: str = ""
    kernel: str = ""
    virtualisation: str = ""
    governor: str = ""
    disks: dict[str, str] = field(default_factory=dict)
    file_system: dict[str, str] = field(default_factory=dict)  # of the work folder
    network: dict[str, str] = field(default_factory=dict)
    own_network_namespace: bool = False
    load_before: tuple[float, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)


def describe(programs: Path, work: Path) -> Host:
    """programs is the folder of ours, work the one that has the files and the stores."""
    return Host(
        hardware=hardware(),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        machine_id=_read("/etc/machine-id")[:8],
        system=_distribution(),
        kernel=platform.release(),
        virtualisation=_line(["systemd-detect-virt"]) or "unknown",
        governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "not visible",
        disks=disks(),
        file_system=file_system(work),
        network=namespace.settings(),
        own_network_namespace=namespace.is_inside(),
        load_before=os.getloadavg(),
        versions=_versions(programs),
    )


def hardware() -> dict[str, str]:
    """The rows in which the papers describe their machines."""
    english = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(["lscpu", "-J"], capture_output=True, text=True, check=True, env=english)
    return {**hardware_in(done.stdout), **_beside_processors()}


def _beside_processors() -> dict[str, str]:
    """Rows that lscpu does not know."""
    links = real()
    speeds = [f"{name}: {rate}" for name in links if (rate := speed(name))]
    sizes = dict.fromkeys(str(mtu_of_real(name)) for name in links)
    found = {"System": f"{platform.system()} {platform.release()}", "Swap": _swap()}
    found |= {"Link": ", ".join(speeds), "MTU": ", ".join(sizes)}
    return {row: text or _NOT_REPORTED for row, text in found.items()}


def _swap() -> str:
    sizes = re.findall(r"^SwapTotal: *(\d+) kB$", _read("/proc/meminfo"), re.MULTILINE)
    if not sizes:
        return ""
    return f"{int(sizes[0]) / (1 << 20):.1f} GiB" if int(sizes[0]) else "none"


def hardware_in(lscpu: str) -> dict[str, str]:
    """Those of processors, from what `lscpu -J` printed."""
    entries = {
        entry["field"].rstrip(":"): entry["data"]
        for entry in _flattened(json.loads(lscpu)["lscpu"])
    }
    entries["Processor"] = entries.get("Model name", entries.get("Vendor ID", "unknown"))
    rows = [row for paper in papers.names() for row in papers.numbers(paper).hardware]
    return {row: entries.get(row, _NOT_REPORTED) for row in rows}


def disks() -> dict[str, str]:
    """Whole disks, without those that are made of memory, each in a few words."""
    found = {}
    for block in sorted(Path("/sys/block").iterdir()):
        if block.name.startswith(("loop", "ram", "zram", "sr", "fd")):
            continue
        model = _read(block / "device/model") or "no model name"
        kind = "rotating" if _read(block / "queue/rotational") == "1" else "solid state"
        gigabytes = int(_read(block / "size") or 0) * 512 / 1e9
        found[block.name] = f"{model}, {gigabytes:.0f} GB, {kind}"
    return found


def file_system(folder: Path) -> dict[str, str]:
    """What holds the folder, or what would hold it if it does not exist yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return {
        "file system": _line(["findmnt", "-n", "-o", "FSTYPE", "-T", str(there)]) or "unknown",
        "mount options": _line(["findmnt", "-n", "-o", "OPTIONS", "-T", str(there)]) or "unknown",
        "block size": f"{os.statvfs(there).f_bsize} bytes",
    }


def _versions(programs: Path) -> dict[str, str]:
    of_stores = [name for kind in KINDS.values() for tool in kind.tools for name in tool.names]
    installed = [name for name in (*of_stores, *_TOOLS) if shutil.which(name)]
    found = {name: _line([name, "--version"]) for name in installed}
    for name in ("fileserver", "authserver", "loadgen"):
        if (programs / name).is_file():
            found[name] = _line([str(programs / name), "--version"])
    found["python"] = platform.python_version()
    found["source"] = _line(
        ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    )
    return {name: version for name, version in found.items() if version}


def _flattened(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Newer versions of lscpu nest their entries."""
    return [one for entry in entries for one in (entry, *_flattened(entry.get("children", [])))]


def _distribution() -> str:
    lines = _read("/etc/os-release").splitlines()
    names = [line.partition("=")[2].strip('"') for line in lines if line.startswith("PRETTY_NAME=")]
    return names[0] if names else platform.system()


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _line(command: list[str]) -> str:
    """The first line that a program prints; "" when it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (
        next(iter(done.stdout.strip().splitlines()), "")
        if done.returncode == 0 or done.stdout
        else ""
    )


_SIOCGIFMTU = 0x8921
_OF_THE_SYSTEM = Path("/sys/class/net")


def real(folder: Path = _OF_THE_SYSTEM) -> list[str]:
    """Those with a device behind them. They are seen from a namespace of our own too."""
    return sorted(one.name for one in folder.glob("*") if (one / "device").exists())


def speed(name: str, folder: Path = _OF_THE_SYSTEM) -> str:
    """Such as 1000 Mbit/s; "" for a virtual one, and where the device does not say it."""
    megabits = _number(folder / name / "speed")
    return f"{megabits} Mbit/s" if megabits and megabits > 0 else ""


def mtu_of_real(name: str, folder: Path = _OF_THE_SYSTEM) -> int | None:
    return _number(folder / name / "mtu")


def mtu(name: str) -> int | None:
    """Of an interface of our namespace; None if there is none of this name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16si12x", name.encode(), 0)
        try:
            answer = fcntl.ioctl(control, _SIOCGIFMTU, request)
        except OSError:
            return None
    found: int = struct.unpack("16si12x", answer)[1]
    return found


def _number(path: Path) -> int | None:
    """None for what cannot be read, as the speed of a link that is down."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
