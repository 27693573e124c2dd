"""What a reader pastes from the pages works."""

import os
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pages
import paste
import shell


class PagesTest(unittest.TestCase):
    """Without namespaces, as in a container, the pages share the ports that they name."""

    def test_every_command_of_every_page_that_can_run_here_succeeds(self):
        side_by_side = 2 * (os.cpu_count() or 1) if shell.namespaces() else 1
        not_run: Counter[str] = Counter()
        run = 0
        with ThreadPoolExecutor(side_by_side) as pool:
            outcomes = pool.map(lambda name: paste.run(name, paste.Form()), pages.names())
            try:
                for outcome in outcomes:
                    with self.subTest(page=outcome.page):
                        self.assertFalse(outcome.failed, "\n".join(outcome.failed))
                    not_run += outcome.not_run
                    run += outcome.run
            except shell.PortsInUse as error:
                self.skipTest(str(error))
        print(f"pages: {run} commands run; not run: {pages.reasons(not_run)}")
        self.assertGreater(run, 50, "most commands were left out")
