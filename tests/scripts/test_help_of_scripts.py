"""Every script says what it is for: -h and --help."""

import unittest

from host import SCRIPTS, run


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
