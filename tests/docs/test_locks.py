"""docs/locks.md names each lock of the servers."""

import re
import unittest
from collections import Counter

from shell import PROJECT

_MUTEX = re.compile(
    r"^ *(?:mutable )?(?:std::array<)?base::(?:Process)?Mutex\b(?!&)[^(;]*;|^ +Mutex ", re.M
)
_TYPE = re.compile(r"^ *(?:class|struct) (\w+)", re.M)
# Locals of a function.
_LEFT_OUT = {"fileserver/files/prefetched_files.cpp"}


class LocksTest(unittest.TestCase):
    def test_each_is_in_the_table(self) -> None:
        page = (PROJECT / "docs" / "locks.md").read_text(encoding="utf-8")
        named = set(re.findall(r"`(\w+)", "\n".join(re.findall(r"^\| .*", page, re.M))))
        locks: Counter[str] = Counter()
        missing = []
        for folder in ("lib", "fileserver", "authserver"):
            for path in sorted((PROJECT / folder).rglob("*")):
                if path.suffix not in (".h", ".cpp"):
                    continue
                text = path.read_text(encoding="utf-8")
                name = str(path.relative_to(PROJECT))
                found = len(_MUTEX.findall(text))
                if found and name not in _LEFT_OUT:
                    locks[name] = found
                    if not named & set(_TYPE.findall(text)):
                        missing.append(name)
        self.assertEqual(missing, [])
        self.assertGreater(len(locks), 25)
