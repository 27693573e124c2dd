"""Prints the C++ sources that differ from a commit, or include what differs. Not those of tests.

    python3 tests/since.py COMMIT

All if the commit is not known here, or the flags of the compiler differ. The full gate looks at all
sources, with clang-tidy and each compiled alone. tests/last-full names the commit at which both
passed, and a push looks at what is printed here: the rest was looked at, and is as it was.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("authserver", "bench", "fileserver", "lab", "lib", "loadgen")
_FLAGS = re.compile(r"[+-].*(?:FLAGS|WARNINGS|PACKAGES)")
_OF_ALL = {".clang-tidy", "tests/tidy"}
_GENERATED = re.compile(r"(?:sql/.*\.sql|fileserver/http/page/.*\.(?:js|css))$")
_GENERATED_ONE = "generated"  # stands for any of the headers that make writes
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def lines_of_diff(*words: str) -> list[str] | None:
    """None if git does not know."""
    command = ["git", "diff", "--no-renames", *words]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    return ended.stdout.splitlines() if ended.returncode == 0 else None


def changed_since(commit: str) -> list[str] | None:
    """None if it may be any."""
    changed = lines_of_diff("--name-only", commit, "--")
    makefile = lines_of_diff("--unified=0", commit, "--", "Makefile")
    if changed is None or makefile is None or differs_for_all(changed, makefile):
        return None
    return changed


def differs_for_all(changed: list[str], makefile: list[str]) -> bool:
    """Whether each file may be compiled or checked otherwise. `makefile`: the lines of its diff."""
    return bool(_OF_ALL & set(changed)) or any(map(_FLAGS.match, makefile))


def sources_below(root: Path) -> dict[str, str]:
    """The texts of all sources and headers, by their paths."""
    found = (path for name in PROGRAMS for path in (root / name).rglob("*.[ch]*"))
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in found
        if path.suffix in (".cpp", ".h")
    }


def reached(changed: list[str] | None, texts: dict[str, str]) -> set[str]:
    """The sources that a change of these files reaches."""
    if changed is None:
        return set(texts)
    included_by = defaultdict(set)
    for path, text in texts.items():
        for name in _INCLUDE.findall(text):
            places = (name, f"lib/{name}", str(Path(path).parent / name))
            included_by[next(filter(texts.__contains__, places), _GENERATED_ONE)].add(path)
    left = [_GENERATED_ONE if _GENERATED.match(name) else name for name in changed]
    found: set[str] = set()
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += included_by[name]
    return found & set(texts)


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    texts = sources_below(ROOT)
    found = reached(changed_since(sys.argv[1]), texts)
    for path in sorted(found):
        if path.endswith(".cpp"):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
