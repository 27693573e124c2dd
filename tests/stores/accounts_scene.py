"""scripts/accounts as a test runs it, on the store of its choice."""

import subprocess

import e2e_path  # noqa: F401
from databases import SCRIPTS
from programs import environment
from store_scene import StoreTest

STORES = ("sqlite", "mysql", "redis")


class AccountsScene(StoreTest):
    def store(self, kind: str) -> list[str]:
        """The flags of the store, as the authserver takes them."""
        if kind == "sqlite":
            return ["--store", "sqlite", "--sqlite-path", str(self.scene.accounts)]
        return self.databases[kind].authserver_flags

    def accounts(self, *arguments: object, said: str = "", **variables: str) -> tuple[int, str]:
        """Exit status and standard output. What failed says why in one line."""
        done = subprocess.run(
            [SCRIPTS / "accounts", *map(str, arguments)],
            input=said,
            capture_output=True,
            text=True,
            check=False,
            env=environment(variables),
        )
        self.assertLessEqual(done.stderr.count("\n"), 1)
        self.assertEqual(done.stderr == "", done.returncode == 0 and arguments[0] == "list")
        self.why = done.stderr
        return done.returncode, done.stdout

    def make_store(self) -> list[str]:
        """The flags of a store of SQLite that an authserver has made."""
        store = self.store("sqlite")
        self.scene.authserver(*store).stop()
        return store

    def assert_done(self, *arguments: object, said: str = "") -> None:
        self.assertEqual(self.accounts(*arguments, said=said), (0, ""), self.why)

    def assert_fails(self, status: int, why: str, *arguments: object, said: str = "") -> None:
        self.assertEqual(self.accounts(*arguments, said=said), (status, ""), self.why)
        self.assertIn(why, self.why)
