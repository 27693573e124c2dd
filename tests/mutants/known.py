"""What `make ledger` knows. It is kept in build/mutants/ledger while the sources stay the same."""

import hashlib
import json
import shutil
from typing import Any

from copies import PROGRAMS
from one_build import FOLDER
from place import Mutation
from tree import TOP


class State:
    """What is known. One line of JSON for each result, so that it may be ended at any time."""

    def __init__(self, key: str) -> None:
        folder = FOLDER / "ledger"
        if folder.exists() and not (folder / key).exists():
            shutil.rmtree(folder)  # of other sources
        folder.mkdir(parents=True, exist_ok=True)
        (folder / key).touch()
        self._path = folder / "results"
        self._path.touch()
        text = self._path.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):  # a line that was not written to its end
            text = text[: text.rfind("\n") + 1]
            self._path.write_text(text, encoding="utf-8")
        lines = text.splitlines()
        self._known = {(one["what"], one["of"]): one for one in map(json.loads, lines)}

    def get(self, what: str, of: str) -> dict[str, Any] | None:
        return self._known.get((what, of))

    def put(self, what: str, of: str, **values: object) -> None:
        self._known[what, of] = {"what": what, "of": of, **values}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self._known[what, of]) + "\n")

    def all_of(self, what: str) -> dict[str, dict[str, Any]]:
        return {of: one for (kind, of), one in self._known.items() if kind == what}


def key_of_sources() -> str:
    """Another one when the programs or their tests change, or how they are run.

    The lists of mutations do not count, because a result names the text of its mutation.
    """
    sum_of_all = hashlib.sha256()
    for name in (*PROGRAMS, "Makefile", "lab", "rig", "bench", "scripts", "tests"):
        top = TOP / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            is_list = path.parent.name in ("mutants", "tests") and path.suffix == ".txt"
            if path.is_file() and "__pycache__" not in path.parts and not is_list:
                sum_of_all.update(str(path.relative_to(TOP)).encode() + b"\0" + path.read_bytes())
    return sum_of_all.hexdigest()[:16]


def digest_of(mutation: Mutation) -> str:
    text = "\0".join([mutation.file, mutation.function, mutation.old, mutation.new])
    return f"{mutation.name} {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def pair_name(mutation: Mutation, test: str) -> str:
    return f"{digest_of(mutation)} {test}"
