"""The network interfaces of this host: how fast they are, and how large their packets may be."""

from __future__ import annotations

import fcntl
import socket
import struct
from pathlib import Path

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
