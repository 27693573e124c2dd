"""The SQLite file: it may be no file at all, or be removed or replaced under a running server."""

import shutil
from pathlib import Path

import e2e_path  # noqa: F401
import programs
from scene import SceneTest, create_account
from store_scene import CONNECTIONS, PATIENT, PLAIN


class SqliteFileTest(SceneTest):
    def remove_accounts(self) -> None:
        for path in self.files():
            path.unlink(missing_ok=True)  # SQLite removes its own with the last connection

    def files(self) -> list[Path]:
        """The file with the accounts and those that SQLite keeps beside it."""
        return list(self.scene.folder.glob(f"{self.scene.accounts.name}*"))

    def test_a_database_that_is_in_memory_only_is_refused(self) -> None:
        flags = ("--listen", "127.0.0.1:0", "--sqlite-path", ":memory:", *PLAIN)
        done = programs.run("authserver", *flags)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("would not be on disk", done.stderr)

    def test_a_file_that_others_can_read_is_told(self) -> None:
        words = "can be read by others path={} mode=0644 "
        server = self.scene.authserver()
        self.assertNotIn("can be read", server.log())
        create_account(server)
        self.assertEqual(len(self.files()), 3)
        for path in self.files():
            if path.name.endswith("-shm"):  # has no account
                continue
            path.chmod(0o644)
            log = self.scene.authserver().log()
            self.assertEqual(log.count("can be read"), 1, log)
            self.assertIn(words.format(path), log)
            path.chmod(0o600)

    def test_no_account_in_a_file_that_was_removed_is_acknowledged(self) -> None:
        for connection in CONNECTIONS:
            with self.subTest(connection):
                server = self.scene.authserver(*PATIENT, *PLAIN, "--store-connection", connection)
                client = self.scene.client(server)
                self.assertEqual(client.ask("new:amy:pw"), "OK")
                self.remove_accounts()
                for _ in range(2):
                    self.assertEqual(client.ask("new:bob:pw"), "unavailable")
                    self.assertEqual(self.files(), [])
                server.stop()

    def test_accounts_go_into_the_file_that_took_its_place(self) -> None:
        server = self.scene.authserver(*PATIENT, *PLAIN)
        client = self.scene.client(server)
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        server.stop()
        backup = self.scene.folder / "backup"
        shutil.copyfile(self.scene.accounts, backup)
        server = self.scene.authserver(*PATIENT, *PLAIN)
        client = self.scene.client(server)
        self.assertEqual(client.ask("new:bob:pw"), "OK")
        self.remove_accounts()
        backup.rename(self.scene.accounts)
        self.assertEqual(client.ask("new:cid:pw"), "unavailable")
        self.assertEqual(client.ask("new:cid:pw"), "OK")
        server.stop()
        client = self.scene.client(self.scene.authserver(*PATIENT))
        lines = [b"auth:amy:pw", b"auth:bob:pw", b"auth:cid:pw"]
        self.assertEqual(client.ask_all(lines), ["OK", "denied", "OK"])
