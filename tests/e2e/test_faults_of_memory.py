"""One allocation of the fileserver fails: nothing wrong is served, nothing is lost."""

import itertools

from faults import MEMORY
from faults_scene import FaultsScene
from scene import for_each


class FaultsOfMemoryTest(FaultsScene):
    @for_each(
        itertools.product(("prefetch", "disk"), (("thread", 32), ("thread", 0), ("event", 0)))
    )
    def test_an_allocation_fails(self, case: tuple[str, tuple[str, int]]) -> None:
        mode, (model, spare) = case
        self.run_all((MEMORY,), spare, "--files", mode, "--model", model)

    @for_each((32, 0))
    def test_an_allocation_of_a_process_fails(self, spare: int) -> None:
        self.run_all((MEMORY,), spare, "--model", "process")
