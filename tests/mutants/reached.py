"""What a test enters: functions of C++, and files of Python. It runs once for that, unmutated."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from copies import POINTS, REACHED
from running import Outcome, run_test

_SET = re.compile(b"\x01")
_HOOK = Path(__file__).resolve().parent / "loaded"


@dataclass(frozen=True)
class Entered:
    """The outcome of a test, the point_of() of each function, and the files below the tree."""

    outcome: Outcome
    points: frozenset[int]
    files: frozenset[str]


def entered(test: str, tree: Path, limit_s: float) -> Entered:
    """Requires what run_test() does."""
    with tempfile.TemporaryDirectory(prefix="reached-") as folder:
        Path(folder).chmod(0o755)  # a test may start programs of another user
        points, loaded = Path(folder) / "points", Path(folder) / "loaded"
        for path, size_bytes in ((points, POINTS), (loaded, 0)):
            path.write_bytes(bytes(size_bytes))
            path.chmod(0o666)
        variables = {
            REACHED: str(points),
            "PYTHONPATH": str(_HOOK),
            "TURNSTILE_LOADED": str(loaded),
            "TURNSTILE_LOADED_BELOW": f"{tree}/",
        }
        outcome = run_test(test, tree, limit_s, variables)
        found = frozenset(one.start() for one in _SET.finditer(points.read_bytes()))
        lines = loaded.read_text(encoding="utf-8", errors="replace").splitlines()
    files = frozenset(line.removeprefix(f"{tree}/") for line in lines if line.endswith(".py"))
    return Entered(outcome, found, files)
