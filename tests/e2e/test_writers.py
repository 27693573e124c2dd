"""--writers FILE: what is accepted at start, and what SIGHUP does."""

import signal

from http_client import FLAG, HttpClient
from programs import Program, run
from scene import SceneTest, create_account
from waiting import eventually

AGAIN = "the writers were read again"
KEPT = "the writers stay as they were"


class WritersTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.scene.folder / "conf" / "writers"
        self.file.parent.mkdir()
        self.file.write_text("amy\n\nbob\n")

    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver("127.0.0.1:1", "--writers", self.file, *flags)

    def assert_hangup_logs(self, server: Program, words: str) -> None:
        before = server.log().count(words)
        server.signal(signal.SIGHUP)
        eventually(lambda: server.log().count(words) == before + 1, words)

    def statuses(self, server: Program, user: str) -> list[int]:
        """What PUT, MKCOL and DELETE are answered with, and a PUT of a name that no file has."""
        client = HttpClient(server, user, "wonderland")
        asked = (("PUT", user), ("MKCOL", f"{user}.d"), ("DELETE", user), ("PUT", "a//b"))
        answers = [client.ask(f"/{name}", method=method).status for method, name in asked]
        self.assertEqual(client.ask("/-/health").status, 200)  # the connection stays
        client.close()
        return answers

    def serve_uploads(self, mode: str, *flags: object) -> Program:
        authserver = self.scene.authserver("--password-scheme", "plain")
        for user in ("amy", "cid"):
            create_account(authserver, user)
        return self.scene.fileserver(authserver, *FLAG, "--uploads", mode, *flags)

    def test_only_writers_change_the_folder(self) -> None:
        server = self.serve_uploads("folder", "--writers", self.file)
        self.assertEqual(self.statuses(server, "amy"), [201, 201, 204, 404])
        self.assertEqual(self.statuses(server, "cid"), [403, 403, 403, 403])
        self.assertEqual([path.name for path in self.scene.root.iterdir()], ["amy.d"])
        self.file.write_text("cid\n")
        self.assert_hangup_logs(server, AGAIN)
        self.assertEqual(self.statuses(server, "cid"), [201, 201, 204, 404])
        self.assertEqual(self.statuses(server, "amy"), [403, 403, 403, 403])

    def test_nobody_takes_the_name_of_a_writer(self) -> None:
        server = self.serve_uploads("folder", "--writers", self.file)
        client = self.scene.keep(HttpClient(server))
        native = self.scene.client(server)
        for user in ("bob", "amy"):
            self.assertEqual(self.make(client, user), 403)
            self.assertEqual(native.ask(f"new:{user}:secret"), "denied")
            self.assertEqual(native.ask(f"get:{user}:secret"), "denied")
        self.assertEqual(self.make(client, "Bob"), 201)
        self.assertEqual(native.ask("new:dan:secret"), "OK")
        self.file.write_text("eve\n")
        self.assert_hangup_logs(server, AGAIN)
        self.assertEqual(native.ask("new:eve:secret"), "denied")
        self.assertEqual(self.make(client, "bob"), 201)

    def make(self, client: HttpClient, user: str) -> int:
        body = f'{{"user":"{user}","password":"secret"}}'.encode()
        return client.ask("/-/accounts", method="POST", body=body).status

    def test_without_writers_everybody_changes_the_folder(self) -> None:
        server = self.serve_uploads("folder")
        self.assertEqual(self.statuses(server, "cid"), [201, 201, 204, 404])

    def test_the_sink_is_for_everybody(self) -> None:
        server = self.serve_uploads("sink", "--writers", self.file)
        self.assertEqual(self.statuses(server, "cid")[:3], [204, 405, 405])

    def test_a_file_that_is_wrong_at_start_is_wrong_usage(self) -> None:
        self.file.write_text("amy\nb b\n")
        missing = self.scene.folder / "missing"
        for path, why in (
            (self.file, f"{self.file} line 2: not a user name"),
            (missing, f"{missing}: No such file or directory"),
            (self.scene.folder, "Is a directory"),
            ("", "--writers"),
        ):
            with self.subTest(path):
                ended = run("fileserver", "--root", self.scene.root, f"--writers={path}")
                self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
                self.assertIn(why, ended.stderr)

    def test_a_hangup_reads_the_file_again(self) -> None:
        for sandbox in ("on", "strict"):
            with self.subTest(sandbox):
                server = self.serve("--sandbox", sandbox)
                self.assert_hangup_logs(server, AGAIN)
                new = self.file.with_name("new")
                new.write_text("cid\n")
                new.rename(self.file)
                self.assert_hangup_logs(server, AGAIN)
                self.file.write_text("c d\n")
                self.assert_hangup_logs(server, f'{KEPT} reason="{self.file} line 1: not')
                self.file.rename(new)
                self.assert_hangup_logs(server, f'{KEPT} reason="{self.file}: No such file')
                new.rename(self.file)
                self.file.write_text("cid\n")
                self.assert_hangup_logs(server, AGAIN)
                self.assertEqual(server.stop(), 0)

    def test_a_hangup_is_for_the_transfer_log_too(self) -> None:
        server = self.serve("--transfer-log", self.scene.folder / "log")
        server.signal(signal.SIGHUP)
        eventually(lambda: AGAIN in server.log(), "the writers are read")
        eventually(lambda: "the transfer log was opened again" in server.log(), "it is opened")


class WritersOfLoopsTest(WritersTest):
    model = "event"
