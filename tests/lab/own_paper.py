"""A paper of a test's own, with downloads. Its stages are in no paper of the lab."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from real_lab import ROOT

from lab.plan import catalog, machines, papers

NUMBER = "999"
LINK = "test-way"
SIZE, SIZE_BYTES = "500KB", 500_000
_CACHED = (
    *(papers.names, papers.numbers, machines.links),
    *(catalog.stages, catalog.sizes, catalog.ramps, catalog.modes, catalog.experiments),
)
_OURS = {"store": "sqlite", "cold": False, "authserver": [], "fileserver": [], "loadgen": []}
_MODE = {"seconds": 1, "warmup_s": 0, "repeat": 1, "refinements": 0, "threads": {}}
# Runs the lab with that paper.
_STARTER = """
import sys
from pathlib import Path
from lab.plan import papers
papers.FOLDER = Path(sys.argv[0]).parent / "papers"
from lab import cli
sys.exit(cli.main(sys.argv[1:]))
"""


def stage(client: str, steps: list[int], **changes: Any) -> dict[str, Any]:
    download = {"client": client}
    return {**_OURS, "title": client, "steps": steps, "download": download, **changes}


def write(folder: Path, stages: dict[str, dict[str, Any]]) -> None:
    """The experiment `download` has all of these stages."""
    shutil.copytree(ROOT / "lab" / "papers", folder / "papers")
    known = json.loads((folder / "papers" / "links.json").read_text(encoding="utf-8"))
    way = {"title": "a way", "rate": "50mbit", "delay_ms": 20, "queue_bytes": 131072}
    _write(folder / "papers" / "links.json", {**known, LINK: way})
    own = folder / "papers" / NUMBER
    own.mkdir()
    experiment = {"title": "Downloads", "stages": list(stages), "rows": [SIZE], "views": []}
    size = {"bytes": SIZE_BYTES, "files": {"quick": 1, "full": 1}}
    _write(own / "experiments.json", {"download": {**experiment, "workload": "client"}})
    _write(own / "stages.json", stages)
    modes = {"quick": _MODE, "full": {**_MODE, "repeat": 2}}
    _write(own / "method.json", {"sizes": {SIZE: size}, "modes": modes})
    _write(own / "findings.json", {"judged": []})
    _write(own / "numbers.json", {"title": "A paper of a test"})


def in_force(test: unittest.TestCase, folder: Path) -> None:
    """In this process, until the test has ended. Requires: write()."""
    patched = mock.patch.object(papers, "FOLDER", folder / "papers")
    patched.start()
    test.addCleanup(_forget)
    test.addCleanup(patched.stop)
    _forget()


def lab(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs it with this paper. Requires: write()."""
    starter, temporary = folder / "starter.py", folder / "temporary"
    starter.write_text(_STARTER, encoding="utf-8")
    temporary.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(starter), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
    )


def _forget() -> None:
    for function in _CACHED:
        function.cache_clear()


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
