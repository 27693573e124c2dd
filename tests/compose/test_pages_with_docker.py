"""What a reader pastes from the pages works, where it needs Docker."""

import os
import sys
import unittest
from pathlib import Path

from engine import SETTINGS, run

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))

import pages
import paste
import shell


class PagesWithDockerTest(unittest.TestCase):
    """The pages name the ports, so only one test on a host can have them."""

    def test_every_command_that_needs_docker_succeeds(self):
        for name in pages.names():
            if "docker" not in pages.needs(name):
                continue
            project = f"turnstile-pages-{os.getpid()}"
            self.addCleanup(self.remove, project)
            try:
                outcome = paste.run(
                    name, paste.Form(docker=True), SETTINGS | {"COMPOSE_PROJECT_NAME": project}
                )
            except shell.PortsInUse as error:
                self.skipTest(str(error))
            print(pages.summary(outcome))
            with self.subTest(page=name):
                self.assertFalse(outcome.failed, "\n".join(outcome.failed))

    def remove(self, project: str) -> None:
        """What the pages leave: volumes, and containers if a command has failed."""
        run("docker", "compose", "--project-name", project, "down", "--volumes", "--timeout", "5")
        left = ("--filter", f"label=com.docker.compose.project={project}", "--quiet")
        for volume in run("docker", "volume", "ls", *left).split():
            run("docker", "volume", "rm", volume)
