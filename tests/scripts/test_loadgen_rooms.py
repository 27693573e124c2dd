"""In loadgen, includes point downwards: from main to run, loops, clients, figures and config."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOADGEN = ROOT / "loadgen"
# What a file may include of loadgen: its own room and those behind the colon. A room is a folder,
# or a header and its source. One that is not named here is wrong.
ROOMS = {
    "config": "",
    "sources": "",
    "host": "",
    "cpu": "",
    "stalls": "",
    "run_control": "figures",
    "outlook": "figures",
    "watch": "run_control",
    "figures": "config cpu stalls",
    "preflight": "config sources host",
    "second_count": "figures config",
    "clients": "figures config sources",
    "loops": "clients figures config preflight run_control cpu",
    "run": "loops clients figures config preflight run_control outlook watch second_count host cpu "
    "stalls",
    "merge": "figures config",
    "main": "run merge figures config preflight",
}
# The folders within rooms, in the same way: the files beside them use them, or they use the files.
INNER_ROOMS = {
    "clients/channels": "clients clients/drivers figures config sources",
    "clients/engines": "config",
    "clients/drivers": "clients figures config",
    "loops/burst": "loops clients figures config",
    "loops/crowd": "loops clients clients/engines figures config cpu",
}
MOST_FLOORS = 6
INCLUDE = re.compile(r'^\s*#\s*include\s+"loadgen/([^"]+)"', re.MULTILINE)


def room_of(path: str) -> str:
    """`path` is below loadgen/."""
    return path.split("/", 1)[0].removesuffix(".cpp").removesuffix(".h")


def inner_room_of(path: str) -> str:
    """The folder of a file, or its room if it stands beside the folders."""
    folder = path.rsplit("/", 1)[0]
    return folder if "/" in path and folder in INNER_ROOMS else room_of(path)


def arrows(room: str, text: str) -> set[str]:
    """The other rooms that a source of `room` includes."""
    return {room_of(name) for name in INCLUDE.findall(text)} - {room}


def sources() -> dict[str, str]:
    paths = [*LOADGEN.rglob("*.h"), *LOADGEN.rglob("*.cpp")]
    return {str(path.relative_to(LOADGEN)): path.read_text(encoding="utf-8") for path in paths}


def floors(rooms: dict[str, str]) -> int:
    """The length of the longest way down. Without an end if the rooms have a circle."""

    def height(room: str) -> int:
        return 1 + max((height(other) for other in rooms[room].split()), default=0)

    return max(height(room) for room in rooms)


class LoadgenRoomsTest(unittest.TestCase):
    def test_no_include_points_upwards(self):
        for path, text in sorted(sources().items()):
            with self.subTest(source=path):
                self.assertLessEqual(arrows(room_of(path), text), {*ROOMS[room_of(path)].split()})

    def test_inner_folders_include_only_what_they_stand_on(self):
        for path, text in sorted(sources().items()):
            room = inner_room_of(path)
            if room not in INNER_ROOMS:
                continue
            with self.subTest(source=path):
                named = {inner_room_of(name) for name in INCLUDE.findall(text)} - {room}
                allowed = {*INNER_ROOMS[room].split(), *ROOMS[room_of(path)].split()}
                self.assertLessEqual(named, allowed)

    def test_an_include_that_points_upwards_is_seen(self):
        upwards = '#include "loadgen/figures/tally.h"\n# include "loadgen/loops/load.h"\n'
        self.assertEqual(arrows("clients", upwards), {"figures", "loops"})
        self.assertEqual(arrows("loops", upwards), {"figures"})
        self.assertEqual(
            arrows("figures", '// "loadgen/loops/load.h"\n#include "net/fd.h"\n'), set()
        )

    def test_every_arrow_that_is_allowed_is_there(self):
        drawn: dict[str, set[str]] = {room: set() for room in ROOMS}
        for path, text in sources().items():
            drawn[room_of(path)] |= arrows(room_of(path), text)
        self.assertEqual(drawn, {room: {*others.split()} for room, others in ROOMS.items()})

    def test_the_floors_are_few(self):
        self.assertLessEqual(floors(ROOMS), MOST_FLOORS)
