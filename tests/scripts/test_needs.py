"""A test that lacks a program is skipped with one line that names the package."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import needs


class NeedsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.enter(mock.patch.dict(os.environ, {"PATH": folder.name}))
        self.enter(mock.patch("needs._PLACES", f":{folder.name}/sbin"))

    def enter(self, patch: object) -> None:
        self.addCleanup(patch.__exit__, None, None, None)
        patch.__enter__()

    def install(self, name: str) -> str:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.touch(0o755)
        return str(path)

    def test_nothing_is_missing_where_all_are_there(self) -> None:
        self.install("rclone")
        self.install("fusermount")
        self.assertEqual(needs.missing("rclone", "fusermount"), "")

    def test_what_a_program_starts_may_be_missing(self) -> None:
        self.install("rclone")
        said = needs.missing("rclone", "fusermount", "ss")
        self.assertEqual(said, "not installed: fusermount (package fuse3), ss (package iproute2)")

    def test_another_name_will_do(self) -> None:
        path = self.install("fusermount3")
        self.assertEqual(needs.found("fusermount"), path)

    def test_a_program_for_root_is_found_though_the_path_does_not_lead_there(self) -> None:
        path = self.install("sbin/nginx")
        self.assertEqual(needs.found("nginx"), path)

    def test_a_program_without_a_row_is_a_mistake(self) -> None:
        with self.assertRaises(KeyError):
            needs.missing("no-such-program")
