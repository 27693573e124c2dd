"""scripts/accounts: accounts move between any two stores, and nobody is lost."""

import itertools
import os
import resource
import stat
import subprocess
import unittest
from pathlib import Path

import e2e_path  # noqa: F401
from databases import SCRIPTS
from faults import SYNC, Faults
from programs import BUILD, SANITIZED, environment
from store_scene import PATIENT, PLAIN, StoreTest

# What makes a CSV go wrong.
PASSWORDS = {
    b"quotes": b'"a""b"',
    b"commas": b',,a,"',
    b"spaces": b"  x  ",
    b"high": bytes(range(0x80, 0x100)),
    b"formula": b"=1+1",
    b"backslash": b'\\"\\n',
    b"L" * 64: b"p" * 128,
    b"aCase": b"A",
    b"acase": b"a",
}


class MovingAccountsTest(StoreTest):
    def store(self, name: str) -> list[str]:
        """Flags of an empty store: "sqlite", or a database of its own on a server."""
        self._stores = getattr(self, "_stores", 0) + 1
        number = self._stores
        if name == "sqlite":
            return ["--store", "sqlite", "--sqlite-path", str(self.scene.folder / f"{number}.db")]
        database = self.databases[name]
        if name == "redis":
            database.ask("-n", str(number), "flushdb")
            return [*database.authserver_flags, "--redis-database", str(number)]
        database.ask(
            f"DROP DATABASE IF EXISTS moved{number}; CREATE DATABASE moved{number};"
            f"GRANT ALL ON moved{number}.* TO turnstile@'127.0.0.1'"
        )
        return [*database.authserver_flags, "--mysql-database", f"moved{number}"]

    def accounts(self, *arguments: object, **options) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPTS / "accounts", *map(str, arguments)],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(),
            **options,
        )

    def export(self, store: list[str], name: str) -> Path:
        path = self.scene.folder / name
        with path.open("wb") as file:
            done = self.accounts("export", *store, *PATIENT, stdout=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def import_from(self, path: Path, store: list[str]) -> subprocess.CompletedProcess[str]:
        with path.open("rb") as file:
            return self.accounts("import", *store, *PATIENT, stdin=file, stdout=subprocess.DEVNULL)

    def furnished(self, name: str) -> list[str]:
        """A store with accounts of both schemes."""
        store = self.store(name)
        for scheme in ("plain", "argon2id"):
            server = self.scene.authserver(*store, "--password-scheme", scheme, *PATIENT)
            lines = [
                b"new:" + self.user(scheme, user) + b":" + password
                for user, password in PASSWORDS.items()
            ]
            self.assertEqual(self.client(server).ask_all(lines), ["OK"] * len(lines))
            server.stop()
        return store

    @staticmethod
    def user(scheme: str, user: bytes) -> bytes:
        return scheme[:1].encode() + user[1:]

    def assert_all_are_there(self, store: list[str]) -> None:
        client = self.client(self.scene.authserver(*store, *PATIENT))
        for scheme in ("plain", "argon2id"):
            for ending, reply in ((b"", "OK"), (b"!", "denied")):
                lines = [
                    b"auth:" + self.user(scheme, user) + b":" + (password + ending)[-128:]
                    for user, password in PASSWORDS.items()
                ]
                self.assertEqual(client.ask_all(lines), [reply] * len(lines))

    def test_between_all_pairs_of_stores(self) -> None:
        sources = {name: self.furnished(name) for name in ("sqlite", "mysql", "redis")}
        exports = {name: self.export(store, f"{name}.csv") for name, store in sources.items()}
        for source, target in itertools.product(sources, sources):
            with self.subTest(source=source, target=target):
                store = self.store(target)
                for said in (
                    f"imported {2 * len(PASSWORDS)} accounts, 0 existed",
                    "imported 0 accounts, 18 existed",
                ):
                    done = self.import_from(exports[source], store)
                    self.assertEqual((done.returncode, said in done.stderr), (0, True), done.stderr)
                self.assert_all_are_there(store)
                again = self.export(store, "again.csv")
                self.assertEqual(
                    sorted(again.read_bytes().split(b"\n")),
                    sorted(exports[source].read_bytes().split(b"\n")),
                )

    def test_an_account_with_another_record_is_kept_and_told(self) -> None:
        for name in ("sqlite", "mysql", "redis"):
            with self.subTest(name):
                store = self.store(name)
                server = self.scene.authserver(*store, *PATIENT, *PLAIN)
                self.assertEqual(self.client(server).ask("new:bob:old"), "OK")
                path = self.scene.folder / "other.csv"
                path.write_text('"ann","$plain$x"\n"bob","$plain$new"\n"cid","$plain$x"\n')
                for made, same in ((2, 0), (0, 2)):
                    done = self.import_from(path, store)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"imported {made} accounts, {same} existed already", done.stderr)
                    self.assertIn("1 account", done.stderr.splitlines()[-1])
                client = self.client(server)
                lines = [b"auth:ann:x", b"auth:bob:old", b"auth:bob:new", b"auth:cid:x"]
                self.assertEqual(client.ask_all(lines), ["OK", "OK", "denied", "OK"])

    def test_an_exported_file_is_closed_to_others(self) -> None:
        store = self.store("sqlite")
        self.scene.authserver(*store)
        path = self.scene.folder / "open.csv"
        path.touch()
        path.chmod(0o644)
        with path.open("wb") as file:
            self.assertEqual(self.accounts("export", *store, stdout=file).returncode, 0)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_more_than_redis_lists_at_once(self) -> None:
        path = self.scene.folder / "many.csv"
        lines = sorted(f'"user{number}","$plain${number}"' for number in range(3000))
        path.write_text("\n".join(lines) + "\n")
        store = self.store("redis")
        done = self.import_from(path, store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(self.export(store, "out.csv").read_text().splitlines()), lines)

    def test_what_is_not_an_account_ends_the_import_with_its_line(self) -> None:
        path = self.scene.folder / "bad.csv"
        for line in (
            "bob",
            '"bob","$plain$x',
            '"b b","$plain$x"',
            '"bob",""',
            '"bob","$plain$x","more"',
            f'"bob","$plain${"x" * 250}"',
            '"bob","$argon2id$v=19$m=524288,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaA"',
        ):
            with self.subTest(line):
                path.write_text(f'"ann","$plain$x"\n{line}\n')
                done = self.import_from(path, self.store("sqlite"))
                self.assertEqual((done.returncode, "line 2" in done.stderr), (1, True), done.stderr)

    def test_a_file_that_cannot_be_read_is_not_taken_for_one_that_ends(self) -> None:
        # The memory of a program that is not debuggable may only be opened by root.
        memory = Path("/proc/self/mem")
        for path, words in ((self.scene.folder, "directory"), (memory, "error|denied")):
            with self.subTest(path):
                done = self.run_authserver_on_file("--import", path, self.store("sqlite"))
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertIn(f"import from {path}: ", done.stderr)
                self.assertRegex(done.stderr, words)
                descriptor = os.open(path, os.O_RDONLY)
                self.addCleanup(os.close, descriptor)
                done = self.accounts("import", *self.store("sqlite"), stdin=descriptor)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def run_authserver_on_file(
        self, flag: str, path: Path, store: list[str], env: dict[str, str] | None = None, **options
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BUILD / "authserver", flag, path, *store, "--log-level", "warn"],
            env=environment(env),
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            **options,
        )

    def assert_exported(self, path: Path, store: list[str]) -> None:
        done = self.run_authserver_on_file("--export", path, store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(path.read_bytes().count(b"\n"), 2 * len(PASSWORDS))
        self.assertFalse(path.with_name(f"{path.name}.part").exists())

    def test_an_export_into_a_file_is_for_its_owner_only(self) -> None:
        store = self.furnished("sqlite")
        path = self.scene.folder / "private.csv"
        old_mask = os.umask(0)
        self.addCleanup(os.umask, old_mask)
        self.assert_exported(path, store)
        # A file that was there for all to read, and what an export that was killed has left.
        for name in ("private.csv", "private.csv.part"):
            (self.scene.folder / name).write_text("old\n")
            (self.scene.folder / name).chmod(0o666)
        self.assert_exported(path, store)

    def test_an_export_that_fails_leaves_the_last_good_one(self) -> None:
        store = self.furnished("redis")
        path = self.scene.folder / "kept.csv"
        path.write_text("the last good one\n")

        def allow_small_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        # The signal that would end it is ignored here, and there too with restore_signals=False.
        done = self.run_authserver_on_file(
            "--export", path, store, preexec_fn=allow_small_files, restore_signals=False
        )
        self.assertEqual((done.returncode, "File too large" in done.stderr), (1, True), done.stderr)
        self.assertEqual(path.read_text(), "the last good one\n")
        self.assertEqual(list(self.scene.folder.glob("*.part")), [])

    @unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
    def test_an_export_that_may_not_be_on_disk_leaves_the_last_good_one(self) -> None:
        store = self.furnished("redis")  # it syncs elsewhere
        path = self.scene.folder / "kept.csv"
        path.write_text("the last good one\n")
        faults = Faults(self.scene.folder)
        faults.fail(SYNC, 1)
        done = self.run_authserver_on_file("--export", path, store, env=faults.env)
        self.assertEqual(faults.failed(), 1)
        said = "Input/output error" in done.stderr
        self.assertEqual((done.returncode, said), (1, True), done.stderr)
        self.assertEqual(path.read_text(), "the last good one\n")
        self.assertEqual(list(self.scene.folder.glob("*.part")), [])

    def test_an_export_of_no_store_creates_none_and_keeps_the_last_good_one(self) -> None:
        path = self.scene.folder / "kept.csv"
        path.write_text("the last good one\n")
        for name in ("sqlite", "mysql"):
            with self.subTest(name):
                store = self.store(name)
                done = self.run_authserver_on_file("--export", path, store)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertEqual(path.read_text(), "the last good one\n")
        self.assertEqual(list(self.scene.folder.glob("*.db*")), [])
        tables = self.databases["mysql"].ask(f"SHOW TABLES FROM moved{self._stores}")
        self.assertEqual(tables, "")

    def test_an_export_of_no_accounts_keeps_the_last_good_one(self) -> None:
        for name in ("sqlite", "mysql", "redis"):
            with self.subTest(name):
                store = self.store(name)
                self.scene.authserver(*store).stop()  # creates what is missing
                path = self.scene.folder / f"{name}.csv"
                for content in ("the last good one\n", ""):
                    path.write_text(content)
                    done = self.run_authserver_on_file("--export", path, store)
                    self.assertEqual(done.returncode, 1 if content else 0, done.stderr)
                    self.assertEqual(path.read_text(), content)
                    self.assertIn("no accounts" if content else "exported 0", done.stderr)

    def test_an_export_takes_the_place_of_a_file_and_of_nothing_else(self) -> None:
        store = self.furnished("sqlite")
        fifo, link, path = (self.scene.folder / name for name in ("fifo", "link", "file.csv"))
        os.mkfifo(fifo)
        for place in (fifo, self.scene.root):
            done = self.run_authserver_on_file("--export", place, store)
            self.assertEqual(
                (done.returncode, "not a regular file" in done.stderr), (1, True), done.stderr
            )
        self.assertTrue(fifo.is_fifo())
        path.touch()
        link.symlink_to(path)
        self.assert_exported(link, store)
        self.assertTrue(link.is_symlink())

    def test_a_store_that_is_down(self) -> None:
        path = self.scene.folder / "one.csv"
        path.write_text('"ann","$plain$x"\n')
        for name in ("mysql", "redis"):
            with self.subTest(name):
                store = self.store(name)
                self.databases[name].stop()
                self.addCleanup(self.databases[name].start)
                done = self.import_from(path, store)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
