"""No password is in a log or stays in memory, and file names cannot forge lines of the log."""

import os
import signal
import stat
import unittest
from pathlib import Path

from client import grant
from http_client import FLAG, HttpClient, basic
from peers import HangUp, Peer
from processes import children, memory_holds
from programs import SANITIZED
from scene import SceneTest, create_account, for_each
from waiting import eventually

SECRET = "Xyzzy-Plugh"

# The allocator writes over the first bytes of what is freed. With this name they hold no password.
LONG_USER = "bob-whose-name-is-longer-than-those-bytes"


class SecretsTest(SceneTest):
    LINES = (
        "new:bob:{s}",
        "new:bob:{s}",
        "new: bob: {s}",
        "get:bob:{s}",
        "get:bob:{s}!",
        "get: bob: {s}",
        "get:nobody:{s}",
        "new:bad user:{s}",
        "get:bad user:{s}",
        "get::{s}",
        "get:{s}",
        "new:{s}",
        "get:bob:{s}\x01",
        "new:bob\x7f:{s}",
        "get:bob:{s}" + "x" * 128,
        "auth:bob:{s}",
        "auth:bob:{s}!",
        "auth:bob\x01:{s}",
        "NEW:bob",
    )

    def assert_no_secret(self, *programs) -> None:
        for program in programs:
            self.assertNotIn(SECRET, program.log(), program.name)
            self.assertNotIn(SECRET.encode().hex(), program.log())
            self.assertNotIn(SECRET, Path(f"/proc/{program.pid}/cmdline").read_text())

    def test_no_password_is_logged_at_debug_level(self) -> None:
        for scheme in ("argon2id", "plain"):
            for model in ("thread", "process"):
                with self.subTest(scheme=scheme, model=model):
                    authserver = self.scene.authserver(
                        "--log-level", "debug", "--model", model, "--password-scheme", scheme
                    )
                    fileserver = self.scene.fileserver(authserver, "--log-level", "debug")
                    for server in (authserver, fileserver):
                        client = self.scene.client(server)
                        for line in self.LINES:
                            client.ask(line.format(s=SECRET))
                        client.send(f"get:bob:{SECRET}" + "x" * 512)
                        self.assertEqual(client.reply(), "too-long")
                        # A line that never ends.
                        self.scene.client(server).send(f"new:bob:{SECRET}")
                    self.assert_no_secret(authserver, fileserver)

    def test_no_password_is_logged_when_the_authserver_fails(self) -> None:
        def answer(line: bytes, _) -> bytes:
            if b"hang-up" in line:
                raise HangUp
            return line  # the request itself, which is not an answer

        peer = self.scene.keep(Peer(answer))
        fileserver = self.scene.fileserver(peer, "--log-level", "debug")
        for verb in ("get", "new"):
            self.assertEqual(self.scene.client(fileserver).ask(f"{verb}:bob:{SECRET}"), "internal")
            self.assertEqual(
                self.scene.client(fileserver).ask(f"{verb}:hang-up:{SECRET}"), "unavailable"
            )
        peer.close()
        self.assertEqual(self.scene.client(fileserver).ask(f"get:bob:{SECRET}"), "unavailable")
        self.assert_no_secret(fileserver)

    def test_only_the_owner_can_read_the_accounts_file(self) -> None:
        old_mask = os.umask(0)
        self.addCleanup(os.umask, old_mask)
        self.scene.authserver_of_alice()
        files = list(self.scene.folder.glob("accounts.db*"))
        self.assertGreater(len(files), 1)
        self.assertEqual({stat.S_IMODE(file.stat().st_mode) for file in files}, {0o600})

    @unittest.skipIf(SANITIZED, "a sanitizer keeps what was freed")
    def test_no_password_stays_in_memory_once_its_request_is_answered(self) -> None:
        for model, front_model in (("thread", "thread"), ("process", "event")):
            with self.subTest(model, front_model=front_model):
                authserver = self.scene.authserver("--model", model)
                any_number = ("--wrong-passwords", 0)
                fileserver = self.scene.fileserver(authserver, "--model", front_model, *any_number)
                asked, direct = self.scene.client(fileserver), self.scene.client(authserver)
                # What is freed is taken again by what has the same length.
                for length in range(len(SECRET), 120, 20):
                    for client, verb in ((asked, "get"), (direct, "auth")):
                        client.ask(f"{verb}:{LONG_USER}:{SECRET:*<{length}}")
                for line in self.LINES[:6]:
                    for client in (asked, direct):
                        client.ask(line.format(s=SECRET).replace("bob", LONG_USER))
                for _ in range(3):  # the first one is asked alone, the others as a known pair
                    self.assertEqual(asked.ask(f"get:{LONG_USER}:{SECRET}"), "OK")
                together = [f"auth:{LONG_USER}:{SECRET}".encode()] * 3
                self.assertEqual(direct.ask_all(together), ["OK"] * 3)
                for client in (asked, direct):
                    self.assertEqual(client.ask("ping"), "OK")
                for pid in (fileserver.pid, authserver.pid, *children(authserver.pid)):
                    self.assertFalse(memory_holds(pid, SECRET.encode()), pid)
                self.assertTrue(
                    memory_holds(fileserver.pid, bytes(self.scene.root)),
                    "the search finds what is there",
                )

    @unittest.skipIf(SANITIZED, "a sanitizer keeps what was freed")
    @for_each(("thread", "event"))
    def test_no_credentials_of_http_stay_in_memory(self, model: str) -> None:
        user = ("bob", SECRET)
        authserver = self.scene.authserver()
        create_account(authserver, *user)
        flags = (*FLAG, "--uploads", "folder", "--model", model)
        server = self.scene.fileserver(authserver, *flags)
        client = self.scene.keep(HttpClient(server, *user))
        for body in (b"small", bytes(200_000)):
            self.assertIn(client.ask("/a", method="PUT", body=body).status, (201, 204))
            self.assertEqual(client.ask("/a").body, body)
        anybody = self.scene.keep(HttpClient(server))
        self.assertEqual(anybody.ask("/-/health").status, 200)
        wrong = self.scene.keep(HttpClient(server, "bob", SECRET + "!"))
        self.assertEqual(wrong.ask("/a").status, 401)
        for secret in (SECRET, basic(*user).removeprefix("Basic ")):
            eventually(  # the answer comes before the end of the request
                lambda: not memory_holds(server.pid, secret.encode()), secret, within_s=10
            )

    def test_a_password_in_a_variable_is_not_shown_by_proc(self) -> None:
        for model in ("thread", "process"):
            with self.subTest(model):
                variables = {
                    "AUTHSERVER_REDIS_PASSWORD": SECRET,
                    "AUTHSERVER_PASSWORD_SCHEME": "plain",
                }
                server = self.scene.authserver("--model", model, env=variables)
                for pid in (server.pid, *children(server.pid)):
                    shown = Path(f"/proc/{pid}/environ").read_text()
                    self.assertNotIn(SECRET, shown)
                    self.assertIn("AUTHSERVER_PASSWORD_SCHEME=plain", shown, "others are untouched")

    def test_a_file_with_a_password_that_others_can_read_is_told(self) -> None:
        config, kept = self.scene.folder / "authserver.conf", self.scene.folder / "password"
        kept.touch(0o600)
        kept.write_text(SECRET, encoding="ascii")
        for line, mode, is_told in (
            (f"redis-password = {SECRET}", 0o644, True),
            (f"redis-password = {SECRET}", 0o604, True),
            (f"redis-password = {SECRET}", 0o640, False),
            ("redis-password =", 0o644, False),
            (f"redis-password-file = {kept}", 0o644, False),
            ("redis-host = 127.0.0.1", 0o644, False),
        ):
            with self.subTest(line, mode=oct(mode)):
                config.write_text(f"{line}\n", encoding="ascii")
                config.chmod(mode)
                log = self.scene.authserver("--config", config).log()
                words = f"a password can be read by others path={config} mode={mode:04o} "
                self.assertEqual("a password can be read" in log, is_told, log)
                self.assertEqual(words in log, is_told, log)
                self.assertNotIn(SECRET, log)
        config.write_text(f"redis-password = {SECRET}\n", encoding="ascii")
        quiet = self.scene.authserver("--config", config, "--log-level", "error")
        self.assertEqual(quiet.log(), "")

    def test_a_password_file_that_others_can_read_is_told(self) -> None:
        kept = self.scene.folder / "password"
        kept.write_text(SECRET, encoding="ascii")
        for mode, is_told in ((0o444, True), (0o604, True), (0o640, False), (0o600, False)):
            with self.subTest(mode=oct(mode)):
                kept.chmod(mode)
                log = self.scene.authserver("--redis-password-file", kept).log()
                words = f"a password can be read by others path={kept} mode={mode:04o} "
                self.assertEqual("a password can be read" in log, is_told, log)
                self.assertEqual(words in log, is_told, log)
                self.assertNotIn(SECRET, log)

    @unittest.skipIf(SANITIZED, "a sanitizer writes no core dump")
    @unittest.skipIf(
        Path("/proc/sys/kernel/core_pattern").read_text().startswith(("|", "/")),
        "the kernel does not write core dumps into the folder of the process",
    )
    def test_a_core_dump_is_only_written_on_request(self) -> None:
        for program in ("authserver", "fileserver"):
            for is_debuggable in (True, False):
                with self.subTest(program=program, is_debuggable=is_debuggable):
                    self.assertEqual(self.writes_a_core_dump(program, is_debuggable), is_debuggable)

    def writes_a_core_dump(self, name: str, is_debuggable: bool) -> bool:
        """The program ends by a signal that makes a core dump, in a folder of its own."""
        folder = self.scene.folder / f"{name}-{is_debuggable}"
        folder.mkdir()
        enter = f'ulimit -c unlimited && cd "{folder}" && exec "$0" "$@"'
        flags = ["--listen", "127.0.0.1:0", "--sandbox", "off"]  # it keeps core dumps away too
        flags += ["--auth", "127.0.0.1:1", "--root", "."] if name == "fileserver" else []
        variables = {f"{name.upper()}_DEBUGGABLE": str(is_debuggable).lower()}
        server = self.scene.start(name, flags, env=variables, prefix=["sh", "-c", enter])
        server.signal(signal.SIGABRT)
        self.assertEqual(server.wait(), -signal.SIGABRT)
        return any("core" in path.name for path in folder.iterdir())

    def test_the_failure_of_a_request_is_logged_with_its_cause(self) -> None:
        peer = self.scene.keep(Peer(lambda line, _: b"nonsense\n"))
        fileserver = self.scene.fileserver(peer)
        before = fileserver.log()
        self.assertEqual(self.scene.client(fileserver).ask("get:bob:pw"), "internal")
        self.assertNotEqual(fileserver.log(), before)

    def test_a_file_name_cannot_forge_a_line_of_the_log(self) -> None:
        authserver = self.scene.authserver_of_alice()
        fileserver = self.scene.fileserver(authserver, "--log-level", "debug")
        client = self.scene.client(fileserver)
        grant(client)
        for name in (
            b'" answer=OK x="',
            b"a\xc2\x85b\xe2\x80\xa8c",
            b"\xff\xfe\x9b31m",
            b"\xc2\x9b2J",
            b"\\n",
        ):
            self.assertEqual(client.ask(name), "not-found")
        for line in fileserver.log().splitlines():
            self.assertTrue(line.isascii() and line.isprintable(), line)
            self.assertNotIn('name="" answer=OK', line)
