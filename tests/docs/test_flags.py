"""Every flag that a page names is one of the program that it stands behind."""

import re
import subprocess
import unittest

import page_flags
import pages
from shell import PROJECT, programs


class FlagsTest(unittest.TestCase):
    """The flags come from the help of the programs and scripts."""

    @classmethod
    def setUpClass(cls):
        cls.known = page_flags.ours()

    def unknown(self, text: str) -> list[tuple[int, str]]:
        return page_flags.unknown(text, self.known)

    def test_every_program_and_script_says_its_flags(self):
        self.assertIn("--uploads", self.known["fileserver"])
        self.assertIn("--targets", self.known["scripts/lab"])
        self.assertIn("--max-connections", self.known["scripts/setup-mysql"])

    def test_every_flag_on_a_page_is_there(self):
        named = 0
        for name in pages.names():
            text = (PROJECT / name).read_text(encoding="utf-8")
            named += len(list(page_flags.on_page(text, self.known)))
            for line, flag in self.unknown(text):
                with self.subTest(f"{name}:{line}: nobody has {flag}"):
                    self.fail()
        self.assertGreater(named, 300, "most flags were not found")

    def test_a_table_names_the_programs_that_have_a_flag(self):
        rows = 0
        for name in pages.names():
            text = (PROJECT / name).read_text(encoding="utf-8")
            rows += len(page_flags.rows_with_owners(text))
            with self.subTest(page=name):
                self.assertEqual(page_flags.of_no_owner(text, self.known), [])
        self.assertGreater(rows, 10)
        wrong = "| `--root DIR` | authserver | the served folder |"
        self.assertEqual(page_flags.of_no_owner(wrong, self.known), [wrong])

    def test_the_list_of_the_flags_of_loadgen_is_that_of_its_help(self):
        said = subprocess.run(
            [programs()["loadgen"], "--help=all"], capture_output=True, text=True, timeout=60
        )
        text = (PROJECT / "docs" / "measuring.md").read_text(encoding="utf-8")
        part = text.partition("| group | flags | more |\n|---|---|---|\n")[2].partition("\n\n")[0]
        rows = [re.split(r"(?<!\\) \| ", row.removeprefix("| "))[:2] for row in part.splitlines()]
        groups = page_flags.by_group(said.stdout)
        self.assertGreater(len(groups), 8)
        self.assertEqual(rows, [[group, ", ".join(flags)] for group, flags in groups.items()])

    def test_a_flag_that_nobody_has_is_found(self):
        self.assertEqual(
            self.unknown("text\n\nWith `--no-such-flag on` it\n"), [(3, "--no-such-flag")]
        )

    def test_a_flag_of_another_program_is_found(self):
        self.assertEqual(
            self.unknown("    build/fileserver --root a \\\n      --store redis\n"),
            [(2, "fileserver --store")],
        )
        self.assertEqual(self.unknown("`curl --root`"), [(1, "curl --root")])

    def test_another_command_may_follow_in_the_same_line(self):
        self.assertEqual(
            self.unknown("    build/authserver --store mysql & build/fileserver --root a\n"), []
        )
        self.assertEqual(self.unknown("`docker compose run --rm files --size 1MB`"), [])
