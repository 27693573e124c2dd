"""scripts/accounts add, password, remove and list, while servers work on the same store."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
from pathlib import Path

from accounts_scene import STORES, AccountsScene
from databases import SCRIPTS
from programs import environment
from store_scene import PATIENT, PLAIN
from waiting import LONG_S, eventually


class AccountChangesTest(AccountsScene):
    def test_what_is_taken_or_not_there_fails_and_changes_nothing(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.bob"
                client = self.client(self.scene.authserver(*store, *PATIENT, *PLAIN))
                self.assert_done("add", user, *store, *PLAIN, said="one\n")
                self.assert_fails(1, "exists", "add", user, *store, *PLAIN, said="two\n")
                self.assert_done("password", user, *store, *PLAIN, said="one\n")  # the same again
                for command in ("password", "remove"):
                    self.assert_fails(1, "no such user", command, "nobody", *store, said="two\n")
                lines = [f"auth:{user}:{password}".encode() for password in ("one", "two")]
                self.assertEqual(client.ask_all(lines), ["OK", "denied"])
                self.assertEqual(client.ask("auth:nobody:two"), "denied")

    def test_a_link_lets_its_holder_set_the_password_once(self) -> None:
        for kind in STORES:
            with self.subTest(kind):
                store, user = self.store(kind), f"{kind}.lee"
                client = self.client(self.scene.authserver(*store, *PATIENT, *PLAIN))
                self.assert_done("add", user, *store, *PLAIN, said="one\n")
                ended, token = self.invited(user, *store), self.invited(*store, user)
                self.assertIn(f"account {user} can set a new password once", self.why)
                self.assertIn(f" in {kind} ", self.why)
                self.assertEqual(client.ask(f"as:{ended}:password:two"), "denied")
                self.assertEqual(client.ask(f"auth:{user}:one"), "OK")  # until it is used
                self.assertEqual(client.ask(f"as:{token}:password:two"), "OK")
                self.assertEqual(client.ask(f"as:{token}:password:three"), "denied")
                lines = [f"auth:{user}:{password}".encode() for password in ("one", "two")]
                self.assertEqual(client.ask_all(lines), ["denied", "OK"])
                self.assert_fails(1, "no such user", "invite", "nobody", *store)

    def invited(self, *arguments: str) -> str:
        """The token of a new link."""
        status, link = self.accounts("invite", *arguments)
        found = re.fullmatch(r"/-/invitation#([A-Za-z0-9_-]{43})\n", link)
        self.assertEqual((status, bool(found)), (0, True), self.why)
        return found[1] if found else ""

    def test_list_prints_the_names_sorted(self) -> None:
        names = ["-dash", "Zoe", "a.b", "adam", "a" * 64, "zoe"]
        for kind in STORES:
            with self.subTest(kind):
                store = self.store(kind) if kind != "sqlite" else self.make_store()
                _, before = self.accounts("list", *store) if kind != "sqlite" else (0, "")
                for name in reversed(names):
                    self.assert_done("add", name, *store, *PLAIN, said="pw\n")
                listed = sorted([*before.split(), *names])
                self.assertEqual(self.accounts("list", *store), (0, "\n".join(listed) + "\n"))
                for name in names:
                    self.assert_done("remove", *store, name)
                self.assertEqual(self.accounts("list", *store), (0, before))

    def test_passwords_are_the_first_line_of_standard_input(self) -> None:
        store = self.store("sqlite")
        client = self.client(self.scene.authserver(*store, *PATIENT, *PLAIN))
        for number, (said, password) in enumerate(
            (
                ("pw\n", "pw"),
                ("pw", "pw"),
                ("pw\r\n", "pw"),
                (" p w : \nx\n", " p w : "),
                ("ä" * 64, "ä" * 64),
            )
        ):
            self.assert_done("add", f"user{number}", *store, *PLAIN, said=said)
            self.assertEqual(client.ask(f"auth:user{number}:{password}"), "OK")
        for said in ("", "\n", "\npw\n", "p\tw\n", "x" * 129, "x" * 100_000):
            for command in ("add", "password"):
                user = "late" if command == "add" else "user0"
                self.assert_fails(1, "1 to 128 bytes", command, user, *store, said=said)
        self.assertEqual(client.ask_all([b"auth:user0:pw", b"auth:late:pw"]), ["OK", "denied"])

    def test_wrong_usage(self) -> None:
        store = self.store("sqlite")
        for arguments in (
            ("add", *store),
            ("remove", "--store", "sqlite"),
            ("add", "--log-level", "warn", *store),
            ("add", "b b", *store),
            ("remove", "", *store),
            ("remove", "x" * 65, *store),
            ("add", "bob", "pw", *store),
            ("list", "bob", *store),
            ("add", "bob", "--remove-account", "bob", *store),
            ("add", "bob", "--store", "none"),
            ("rename", "bob", *store),
            ("disable", *store),
            ("invite", *store),
            ("admin", "bob", *store),
            ("admin", "bob", "yes", *store),
            ("admin", "on", *store),
            ("admin", "b b", "on", *store),
        ):
            with self.subTest(arguments):
                self.assertEqual(self.accounts(*arguments, said="pw\n"), (2, ""), self.why)
        self.assertFalse(self.scene.accounts.exists())

    def test_a_missing_user_is_named_and_not_a_value_taken_for_it(self) -> None:
        for arguments in (("remove", "--store", "sqlite"), ("add", *self.store("sqlite"))):
            with self.subTest(arguments):
                self.assertEqual(self.accounts(*arguments, said="pw\n"), (2, ""), self.why)
                self.assertIn("the user is missing", self.why)

    def test_the_store_is_found_by_variables_and_by_the_file_too(self) -> None:
        self.make_store()
        config = self.scene.folder / "config"
        config.write_text(f"sqlite-path = {self.scene.accounts}\n")
        self.assert_done("add", "bob", "--config", config, said="pw\n")
        found = self.accounts("list", AUTHSERVER_SQLITE_PATH=str(self.scene.accounts))
        self.assertEqual(found, (0, "bob\n"))

    def test_what_was_done_names_the_store(self) -> None:
        where = {
            "sqlite": f"sqlite {self.scene.accounts}",
            "mysql": "mysql 127.0.0.1:",
            "redis": "redis 127.0.0.1:",
        }
        self.make_store()
        for kind in STORES:
            with self.subTest(kind):
                for command, said in (
                    ("add", "account zed added to "),
                    ("password", "account zed has the new password in "),
                    ("remove", "account zed removed from "),
                ):
                    self.assert_done(command, "zed", *self.store(kind), said="pw\n")
                    self.assertIn(said + where[kind], self.why)

    def test_one_account_makes_no_store_unless_that_is_asked_for(self) -> None:
        folder = self.scene.folder / "wrong"
        folder.mkdir()
        file = folder / "accounts.db"
        add = ("add", "zed", "--sqlite-path", os.path.relpath(file))
        self.assert_fails(1, f"open sqlite {file}: there is no such file", *add, said="pw\n")
        self.assertIn("--create-store", self.why)
        self.assertEqual(list(folder.iterdir()), [])
        self.assert_done(*add[:1], *add[2:], "--create-store", "zed", said="pw\n")
        self.assertIn(f"account zed added to sqlite {file}\n", self.why)
        self.assert_done("add", "amy", *add[2:], said="pw\n")

    def test_a_store_that_cannot_be_asked_fails(self) -> None:
        for command in ("add", "remove", "password", "list"):
            user = () if command == "list" else ("bob",)
            self.assert_fails(1, "open", command, *user, *self.store("sqlite"), said="pw\n")
        self.assertFalse(self.scene.accounts.exists())
        for kind in ("mysql", "redis"):
            self.databases[kind].stop()
            self.addCleanup(self.databases[kind].start)
            for command in ("add", "remove", "password", "list"):
                with self.subTest(kind=kind, command=command):
                    user = () if command == "list" else ("bob",)
                    self.assert_fails(1, kind, command, *user, *self.store(kind), said="pw\n")

    def test_a_database_user_of_an_earlier_version_is_told_what_to_run(self) -> None:
        mysql, store = self.databases["mysql"], self.store("mysql")
        self.assert_done("add", "stays", *store, *PLAIN, said="pw\n")
        mysql.ask("REVOKE UPDATE, DELETE ON turnstile.accounts FROM turnstile@'127.0.0.1'")
        for command in ("remove", "password"):
            self.assert_fails(1, "run scripts/setup-mysql", command, "stays", *store, said="x\n")
        mysql.setup()
        self.assert_done("remove", "stays", *store)

    def at_a_terminal(
        self, answers: list[bytes], script: Path = SCRIPTS / "accounts"
    ) -> tuple[int, bytes, bool]:
        """Adds bob, to a store that is made for that. Types an answer after each question.

        Returns the exit status, what is shown, and whether the terminal shows again what is typed.
        """
        master, terminal = pty.openpty()
        running = subprocess.Popen(
            [script, "add", "bob", *self.store("sqlite"), "--create-store"],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment(),
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # to control it
        )
        self.addCleanup(running.kill)
        shown = b""
        for number, answer in enumerate(answers):
            while shown.count(b": ") <= number:
                is_there, _, _ = select.select([master], [], [], LONG_S)
                self.assertTrue(is_there, f"no question {number + 1}: {shown!r}")
                shown += os.read(master, 1000)
            eventually(
                lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO,
                "the script switches off that the terminal shows what is typed",
            )
            os.write(master, answer)
        status = running.wait(LONG_S)
        echoes = bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        os.close(terminal)
        try:
            while piece := os.read(master, 1000):
                shown += piece
        except OSError:  # how a terminal ends
            pass
        os.close(master)
        return status, shown, echoes

    def test_a_terminal_is_asked_twice_and_shows_nothing(self) -> None:
        status, shown, echoes = self.at_a_terminal([b"secret\n", b"other\n"])
        self.assertEqual((status, echoes, b"differ" in shown), (1, True, True), shown)
        self.assertFalse(self.scene.accounts.exists())
        status, shown, echoes = self.at_a_terminal([b"sec\\ret \n", b"sec\\ret \n"])
        self.assertEqual((status, echoes, b"ret" in shown), (0, True, False), shown)
        client = self.client(self.scene.authserver(*self.store("sqlite")))
        self.assertEqual(client.ask(rb"auth:bob:sec\ret "), "OK")

    def test_no_password_is_on_the_command_line_of_the_authserver(self) -> None:
        script = self.scene.folder / "scripts" / "accounts"
        program = self.scene.folder / "build" / "authserver"
        for path in (script, program):
            path.parent.mkdir()
        shutil.copy(SCRIPTS / "accounts", script)
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$0.words"\ncat >"$0.input"\n')
        program.chmod(0o755)
        status, shown, _ = self.at_a_terminal([b"sesame\n", b"sesame\n"], script)
        self.assertEqual(status, 0, shown)
        words, said = (Path(f"{program}.{end}").read_text() for end in ("words", "input"))
        self.assertIn("--add-account=bob\n", words)
        self.assertNotIn("sesame", words)
        self.assertEqual(said, "sesame\n")

    def test_a_terminal_that_interrupts_shows_again_what_is_typed(self) -> None:
        status, shown, echoes = self.at_a_terminal([b"\x03"])
        self.assertEqual((status, echoes), (-signal.SIGINT, True), shown)
        self.assertFalse(self.scene.accounts.exists())
