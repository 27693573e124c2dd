"""Every room of the lab imports only from itself and from rooms on lower floors."""

import ast
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LAB = TOP / "lab"
# In the order of lab/__init__.py. papers/ has no code. The commands, beside the rooms, come last.
FLOORS = (
    ("kinds",),  # what the plan knows of them; PARTS has the rooms of what they do
    ("plan",),
    ("systems", "workloads", "observe"),  # which know nothing of each other
    ("results",),
    ("procedures",),
    ("analysis",),
    ("report",),
)
ROOMS = tuple(room for floor in FLOORS for room in floor)
# The modules of a kind of experiment, by the room that they would be in.
PARTS = {
    "workloads": ("load", "gathered"),
    "procedures": ("procedure", "fetching", "many_hosts"),
    "analysis": ("analysis", "findings", "capacity"),
    "report": ("views", "words", "capacity_view"),
}
ROOM_OF_PART = {part: room for room, parts in PARTS.items() for part in parts}


def room_of(module: tuple[str, ...]) -> str:
    """Where it belongs, of a path below `lab`, which may end in a name of that module."""
    if module[0] == "kinds" and len(module) > 2:
        return ROOM_OF_PART.get(module[2], "kinds")
    return module[0]


def modules_named(tree: ast.AST, package: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The modules that a source imports, as paths below `lab`. package is where the source is."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {tuple(name.name.split(".")) for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ("lab", *package)[: len(package) + 2 - node.level] if node.level else ()
            module = (*start, *(node.module.split(".") if node.module else ()))
            found |= {(*module, name.name) for name in node.names}
    return {name[1:] for name in found if name[0] == "lab" and name[1:]}


def backward_imports(source: str, package: tuple[str, ...], room: str = "") -> list[str]:
    """The imports of a room that go to others of its floor, to a higher floor or to a command."""
    room = room or package[0]
    own = next(number for number, floor in enumerate(FLOORS) if room in floor)
    allowed = {room, *(one for floor in FLOORS[:own] for one in floor)}
    named = modules_named(ast.parse(source), package)
    return [".".join(name) for name in sorted(named) if room_of(name) not in allowed]


def circles(imports: dict[str, set[str]]) -> list[str]:
    """The modules that a chain of imports leads back to."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        todo = [start]
        while todo:
            new = imports[todo.pop()] - found
            found |= new
            todo += new
        return found

    return [name for name in imports if name in reached(name)]


def imports_of_the_lab() -> dict[str, set[str]]:
    """Of each module the other ones; those that only serve a type count too."""
    sources = {path: path.relative_to(LAB).with_suffix("").parts for path in LAB.rglob("*.py")}
    known = {parts for parts in sources.values() if parts[-1] != "__init__"}
    found: dict[str, set[str]] = {".".join(parts): set() for parts in known}
    for path, parts in sources.items():
        named = modules_named(ast.parse(path.read_text(encoding="utf-8")), parts[:-1])
        named |= {name[:-1] for name in named}  # what stands last may be a part of a module
        if parts in known:
            found[".".join(parts)] = {".".join(name) for name in named & known}
    return found


class RoomsTest(unittest.TestCase):
    def test_no_import_goes_backwards(self):
        for room in ROOMS:
            sources = sorted((LAB / room).rglob("*.py"))
            self.assertTrue(sources, room)
            for path in sources:
                module = path.relative_to(LAB).with_suffix("").parts
                with self.subTest(module="/".join(module)):
                    source = path.read_text(encoding="utf-8")
                    found = backward_imports(source, module[:-1], room_of(module))
                    self.assertEqual(found, [])

    def test_an_import_that_goes_backwards_is_seen_in_every_form(self):
        for source in (
            "from ..report import wording",
            "from ..report.wording import rate",
            "from .. import report",
            "from .. import run",
            "from lab.report import wording",
            "from lab import cli",
            "import lab.report.wording",
            "def later():\n    from ..report import wording",
        ):
            self.assertEqual(len(backward_imports(source, ("analysis",))), 1, source)

    def test_the_rig_knows_no_user_of_it(self):
        for path in sorted((TOP / "rig").glob("*.py")):
            source = path.read_text(encoding="utf-8")
            self.assertNotRegex(source, r"(?m)^\s*(from|import) (lab|bench)\b", path.name)

    def test_rooms_of_a_floor_do_not_know_each_other(self):
        self.assertEqual(backward_imports("from ..systems import known", ("systems",)), [])
        for room in ("workloads", "observe"):
            self.assertEqual(len(backward_imports("from ..systems import known", (room,))), 1)

    def test_only_the_command_line_knows_the_report(self):
        for command in ("run", "doctor", "limits"):
            source = (LAB / f"{command}.py").read_text(encoding="utf-8")
            rooms = {name[0] for name in modules_named(ast.parse(source), ())}
            self.assertFalse(rooms & {"report", "cli"}, command)

    def test_imports_from_the_own_room_and_from_earlier_ones_are_right(self):
        source = "import math\nfrom . import usl\nfrom ..plan.catalog import Cell\n"
        self.assertEqual(backward_imports(source, ("analysis",)), [])

    def test_each_module_of_a_kind_is_a_part_with_a_room(self):
        for path in (LAB / "kinds").glob("*/*.py"):
            self.assertIn(path.stem, {"__init__", *ROOM_OF_PART}, path)

    def test_a_part_of_a_kind_is_on_the_floor_of_its_room(self):
        for source in ("from . import views", "from ..crowd.analysis import Step"):
            found = backward_imports(source, ("kinds", "burst"), "workloads")
            self.assertEqual(len(found), 1, source)
        self.assertEqual(backward_imports("from . import load", ("kinds", "burst"), "report"), [])

    def test_no_modules_import_each_other(self):
        imports = imports_of_the_lab()
        self.assertIn("workloads.load", imports["workloads.loadgen_run"])
        self.assertEqual(circles(imports), [])

    def test_a_circle_is_seen(self):
        around = {"a": {"b"}, "b": {"c"}, "c": {"b"}}
        self.assertEqual(circles(around), ["b", "c"])

    def test_there_is_no_other_room_with_code(self):
        rooms = {path.parent.name for path in LAB.glob("*/*.py")}
        self.assertEqual(rooms, set(ROOMS))

    def test_the_rooms_are_listed_in_this_order(self):
        described = (LAB / "__init__.py").read_text(encoding="utf-8")
        places = [described.index(f"\n  {room}/") for room in ROOMS]
        self.assertEqual(places, sorted(places))
