"""fileserver --show-rights and scripts/accounts rights: what a user may do, and by which line."""

import subprocess
from pathlib import Path

from programs import environment, run
from scene import SceneTest, create_account

ACCOUNTS = Path(__file__).parents[2] / "scripts" / "accounts"
RIGHTS = """\
group staff: amy bob
*         /            read
@staff    /plans       read write
bob       /plans/pay   none
*         /home/%u     read write
"""
OF_BOB = """\
read        /  (line 2)
read write  /home/bob  (line 5)
read write  /plans  (line 3)
none        /plans/pay  (line 4)
"""


class ShowRightsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.scene.folder / "rights"
        self.file.write_text(RIGHTS)
        self.store = ("--sqlite-path", self.scene.accounts)

    def accounts(self, *words: object) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(ACCOUNTS), "rights", *map(str, words)],
            capture_output=True,
            text=True,
            env=environment(None),
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def shown(self, user: str) -> str:
        done = run("fileserver", "--rights", self.file, "--show-rights", user)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_each_path_has_the_line_that_decides(self) -> None:
        self.assertEqual(self.shown("bob"), OF_BOB)
        self.file.write_text("amy /a/b read\n")
        self.assertEqual(
            self.shown("amy"), "none        /  (no line)\nread        /a/b  (line 1)\n"
        )
        self.assertEqual(self.shown("eve"), "none        /  (no line)\n")
        self.assertEqual(self.shown("-"), "amy\n")

    def test_it_needs_a_file_of_rights_that_is_right(self) -> None:
        done = run("fileserver", "--show-rights", "amy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--show-rights needs --rights FILE", done.stderr)
        self.file.write_text("amy\n")
        done = run("fileserver", "--rights", self.file, "--show-rights", "amy")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"{self.file} line 1: ", done.stderr)

    def test_accounts_warns_of_names_without_an_account(self) -> None:
        authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(authserver, "amy")
        flags = ("--rights", self.file, *self.store)
        missing = "accounts: warning: there is no account bob\n"
        self.assertEqual(self.accounts("bob", *flags), (0, OF_BOB, missing))
        self.assertEqual(self.accounts(*flags), (0, "", missing))
        self.assertEqual(self.accounts("amy", *flags)[::2], (0, ""))
        create_account(authserver, "bob")
        everybody = "every user in the file has an account\n"
        joined = (f"--rights={self.file}", *self.store)
        self.assertEqual(self.accounts(*joined), (0, everybody, ""))

    def test_accounts_says_what_is_wrong(self) -> None:
        self.file.write_text("amy\n")
        status, shown, said = self.accounts("amy", "--rights", self.file, *self.store)
        self.assertEqual((status, shown), (2, ""))
        self.assertIn(f"{self.file} line 1: ", said)
        self.file.write_text(RIGHTS)
        status, shown, said = self.accounts("bob", "--rights", self.file, *self.store)
        self.assertEqual((status, shown), (1, OF_BOB))  # there is no store
        self.assertEqual(said.count("\n"), 1, said)
