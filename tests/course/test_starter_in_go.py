"""The starter in Go, whose compiler takes long the first time."""

import unittest

from needs import missing
from test_contract import ServerTest


class GoTest(ServerTest):
    limit_s = 2.0

    @unittest.skipIf(missing("make", "go"), missing("make", "go"))
    def test_it_passes_the_first_cases(self) -> None:
        self.check_starter(self.built("go"))
