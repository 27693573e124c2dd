"""Which tests `make ledger` runs for a mutation: those that enter what it changes."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from copies import point_of
from known import State, pair_name
from one_build import OneBuild
from place import Mutation
from reached import Entered
from running import is_unit
from tree import TOP
from units import names_of


class Choice:
    def __init__(self, build: OneBuild, state: State) -> None:
        self._build = build
        self._state = state
        self.order = names_of(build.folder)
        self._points: dict[str, frozenset[int]] = {}
        self._files: dict[str, frozenset[str]] = {}
        for test, one in self._state.all_of("entered").items():
            self._points[test], self._files[test] = (
                frozenset(one["points"]),
                frozenset(one["files"]),
            )
        self._point_of = build.plan.points()

    def add(self, test: str, found: Entered) -> None:
        """The test was seen to enter this."""
        self._points[test], self._files[test] = found.points, found.files

    def units_of(self, name: str) -> list[str]:
        """The unit tests that enter the function of a mutation."""
        point = self._point_of.get(name)
        enters = (lambda one: True) if point is None else (lambda one: point in self._points[one])
        return [test for test in self.units() if enters(f"unit/{test}")]

    def units(self) -> list[str]:
        """Those that can tell anything, in their order."""
        known = self._state.all_of("entered")
        passed = {test for test, one in known.items() if one["verdict"] == "PASSED"}
        return [test for test in self.order if f"unit/{test}" in passed]

    def units_of_folder(self, mutation: Mutation) -> list[str]:
        """The unit tests that enter a function beside the mutation. All if none does."""
        sources, folder = self._build.sources, Path(mutation.file).parent
        points = {
            point_of(f"{folder}/{path.name}", function)
            for path in (TOP / folder).iterdir()
            for function in sources.functions(f"{folder}/{path.name}")
        }
        units = self.units()
        return [test for test in units if points & self._points[f"unit/{test}"]] or units

    def narrowest(self, mutation: Mutation) -> list[str]:
        """The files of its tests that are no unit tests and can tell anything."""
        named = dict.fromkeys(test.split(".")[0] for test in mutation.tests if not is_unit(test))
        return [test for test in named if self.can_tell(test)]

    def can_tell(self, test: str) -> bool:
        known = self._state.get("entered", test)
        return known is not None and known["verdict"] in ("PASSED", "FAILED")

    def entering(self, mutation: Mutation) -> Iterator[str]:
        """The files of tests that enter it, except those of its narrowest tests."""
        narrowest, point = self.narrowest(mutation), self._point_of.get(mutation.name)
        is_chosen = mutation.name in self._build.plan.chosen
        file = self._build.sources.place_of(mutation).file
        for test, files in self._files.items():
            if is_unit(test) or test in narrowest or not self.can_tell(test):
                continue
            if (point is None or point in self._points[test]) if is_chosen else file in files:
                yield test

    def pairs(self) -> Iterator[tuple[Mutation, str]]:
        """All that may be tried, the narrowest tests first, then one of each folder in turn."""
        plan = self._build.plan
        mutations = [mutation for mutation, _, _ in plan.chosen.values()] + plan.replaced
        groups: dict[tuple[str, str], list[tuple[Mutation, str]]] = defaultdict(list)
        for mutation in mutations:
            for test in self.narrowest(mutation):
                yield mutation, test
            for test in self.entering(mutation):
                folders = (str(Path(mutation.file).parent), test.split("/")[0])
                groups[folders].append((mutation, test))
        for pairs in groups.values():
            pairs.sort(key=lambda pair: hashlib.sha256(pair_name(*pair).encode()).digest())
        while groups:
            for group in list(groups):
                yield groups[group].pop()
                if not groups[group]:
                    del groups[group]
