"""What `sudo lab` writes belongs to the user who called sudo."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from real_lab import lab

from lab import owner
from rig import host

USER, GROUP = 12345, 12346
SUDO = {"SUDO_UID": str(USER), "SUDO_GID": str(GROUP)}
WHY_NOT = "" if host.is_root() else "only root can give files away"


def owners(folder: Path) -> set[tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in found}


class CallerTest(unittest.TestCase):
    def caller(self, environment: dict[str, str], is_root: bool = True) -> owner.Caller | None:
        with (
            mock.patch("lab.owner.is_root", return_value=is_root),
            mock.patch.dict(os.environ, environment, clear=True),
        ):
            return owner.of_sudo()

    def test_it_is_who_called_sudo(self) -> None:
        self.assertEqual(self.caller(SUDO), owner.Caller(USER, GROUP))

    def test_there_is_none_without_sudo_and_where_root_called_it(self) -> None:
        self.assertIsNone(self.caller({}))
        self.assertIsNone(self.caller({"SUDO_UID": "0", "SUDO_GID": "0"}))
        self.assertIsNone(self.caller({"SUDO_UID": "x", "SUDO_GID": "1"}))
        self.assertIsNone(self.caller({"SUDO_UID": "12345"}))

    def test_a_user_who_is_root_in_a_namespace_only_gives_nothing_away(self) -> None:
        self.assertIsNone(self.caller(SUDO, is_root=False))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class OwnerTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        environment = mock.patch.dict(os.environ, SUDO)
        environment.start()
        self.addCleanup(environment.stop)

    def test_a_run_gives_the_results_and_the_folders_that_it_made(self) -> None:
        out, work = self.folder / "lab-results" / "one", self.folder / "build" / "lab"
        done = lab("run", "table1", "--out", str(out), "--work", str(work))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((out / "report.html").exists())
        for new in ("lab-results", "build"):
            self.assertEqual(owners(self.folder / new), {(USER, GROUP)})
        self.assertEqual(self.folder.stat().st_uid, 0)
        again = lab("report", str(out))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(owners(out), {(USER, GROUP)})

    def test_so_does_one_that_fails_or_is_interrupted(self) -> None:
        for reason in (ValueError, KeyboardInterrupt):
            tree = self.folder / reason.__name__ / "tree"
            with self.assertRaises(reason), owner.gives_to_caller(tree):
                (tree / "below").mkdir(parents=True)
                (tree / "below" / "points.csv").touch()
                raise reason
            self.assertEqual(owners(tree.parent), {(USER, GROUP)})

    def test_what_is_there_already_beside_the_results_stays_with_root(self) -> None:
        (self.folder / "other").mkdir()
        with owner.gives_to_caller(self.folder / "new"):
            (self.folder / "new").mkdir()
        self.assertEqual(owners(self.folder / "other"), {(0, 0)})
        self.assertEqual(self.folder.stat().st_uid, 0)

    def test_a_folder_with_something_else_in_it_is_not_given(self) -> None:
        out, work = self.folder / "out", self.folder / "work"
        out.mkdir()
        (out / "secret").touch()
        lab("run", "table1", "--out", str(out), "--work", str(work))
        self.assertEqual((out / "secret").stat().st_uid, 0)

    def test_no_link_of_the_user_makes_root_give_another_file(self) -> None:
        secret, tree = self.folder / "secret", self.folder / "tree"
        secret.touch()
        tree.mkdir()
        with owner.gives_to_caller(tree):
            (tree / "link").symlink_to(secret)
            (tree / "folder").symlink_to(self.folder)
            os.link(secret, tree / "name")
        self.assertEqual((secret.stat().st_uid, self.folder.stat().st_uid), (0, 0))
        self.assertEqual((tree / "link").lstat().st_uid, USER)

    def test_what_belongs_to_another_user_stays_with_that_one(self) -> None:
        tree = self.folder / "tree"
        with owner.gives_to_caller(tree):
            tree.mkdir()
            (tree / "database").touch()
            os.chown(tree / "database", 99, 99)
        self.assertEqual((tree / "database").stat().st_uid, 99)
