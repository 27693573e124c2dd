"""Every script says what it is for, and one that needs files beside it may be a link to it."""

import os
import tempfile
import unittest
from pathlib import Path

from host import PROJECT, SCRIPTS, run


class HelpTest(unittest.TestCase):
    def test_every_script_prints_its_usage_for_both_flags_and_does_nothing_else(self) -> None:
        names = sorted(path.name for path in SCRIPTS.iterdir() if path.is_file())
        self.assertIn("lab", names)
        for name in names:
            with self.subTest(name):
                short, long = run(SCRIPTS / name, "-h"), run(SCRIPTS / name, "--help")
                self.assertEqual((short.returncode, long.returncode), (0, 0), short.stderr)
                self.assertTrue(short.stdout.startswith("usage: "), short.stdout)
                self.assertEqual((short.stdout, short.stderr), (long.stdout, long.stderr))


class LinkTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-link-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_stack_config_finds_the_files_of_compose(self) -> None:
        docker = self.folder / "docker"
        docker.write_text("#!/bin/sh\npwd\n", encoding="utf-8")
        docker.chmod(0o755)
        link = self.folder / "config"
        link.symlink_to(PROJECT / "docker" / "stack-config")
        path = f"{self.folder}:{os.environ['PATH']}"
        done = run(link, cwd=self.folder, env=os.environ | {"PATH": path})
        self.assertEqual((done.stdout, done.stderr), (f"{PROJECT}\n", ""))
