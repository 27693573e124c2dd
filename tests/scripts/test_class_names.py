"""No two headers define a class of the same name in the same namespace.

The linker keeps one of two destructors, whichever it is, and no compiler tells: each file is right.
"""

import re
import unittest
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PROGRAMS = ("lib", "fileserver", "authserver", "loadgen")
_NAMESPACE = re.compile(r"(?:inline )?namespace ([\w:]+) {")
_CLASS = re.compile(r"(?:class|struct|enum(?: class)?) (?:\w+\(.*?\) )?(\w+)[^;]*{")


def classes(header: str) -> Iterator[str]:
    """Those that begin at the left edge, with their namespaces."""
    space: list[str] = []
    for line in header.splitlines():
        if found := _NAMESPACE.match(line):
            space.append(found[1])
        elif line.startswith("}  // namespace"):
            space.pop()
        elif found := _CLASS.match(line):
            yield "::".join((*space, found[1]))


class ClassNamesTest(unittest.TestCase):
    def test_each_class_is_in_one_header(self) -> None:
        homes: dict[str, list[str]] = defaultdict(list)
        for path in (path for folder in PROGRAMS for path in (TOP / folder).rglob("*.h")):
            for name in classes(path.read_text()):
                homes[name].append(str(path.relative_to(TOP)))
        self.assertIn("fileserver::Exchange", homes)
        self.assertIn("base::Mutex", homes)
        self.assertEqual({name: found for name, found in homes.items() if len(found) > 1}, {})
