"""--rights FILE: what is accepted at start, what SIGHUP does, and who may make an account."""

import signal

from client import Client
from http_client import FLAG, HttpClient
from programs import Program, run
from scene import SceneTest, create_account, with_loops
from waiting import eventually

AGAIN = "the rights were read again"
MISSING = "paths in the rights are not there"
KEPT = "the rights stay as they were"
PASSWORD = "wonderland"


@with_loops
class RightsFileTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        # A long path, and the log says what is wrong all the same.
        self.file = self.scene.folder / ("conf" * 30) / "rights"
        self.file.parent.mkdir()
        self.file.write_text("amy / read\n@staff / none\ngroup staff: bob\n")
        self.scene.write("file", b"content")

    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver("127.0.0.1:1", "--rights", self.file, *flags)

    def serve_accounts(self, *flags: object) -> Program:
        authserver = self.scene.authserver("--password-scheme", "plain")
        for user in ("amy", "cid"):
            create_account(authserver, user)
        return self.scene.fileserver(authserver, *FLAG, "--rights", self.file, *flags)

    def assert_hangup_logs(self, server: Program, words: str) -> None:
        before = server.log().count(words)
        server.signal(signal.SIGHUP)
        eventually(lambda: server.log().count(words) == before + 1, words)

    def test_a_change_holds_for_the_next_request_of_open_connections(self) -> None:
        server = self.serve_accounts("--uploads", "folder")
        native = self.scene.client(server)
        self.assertEqual(native.ask(f"get:amy:{PASSWORD}"), "OK")
        http = self.scene.keep(HttpClient(server, "amy", PASSWORD))
        for rights, answer, put in (
            ("amy / read\n", b"content", 403),
            ("cid / read\n", "not-found", 404),
            ("amy / read write\n", b"content", 201),
        ):
            self.file.write_text(rights)
            self.assert_hangup_logs(server, AGAIN)
            self.assertEqual(native.ask("file"), answer)
            self.assertEqual(http.ask("/file").status, 200 if answer == b"content" else 404)
            asked = http.ask("/new", "Content-Length: 0", method="PUT")
            self.assertEqual(asked.status, put)

    def test_a_path_that_is_not_there_is_told_at_the_start_and_at_a_hangup(self) -> None:
        self.scene.write("books/x", b"x")
        self.scene.write("home/amy/x", b"x")
        there = "* / read\namy /books none\n* /home/%u read\n* /file read\n"
        self.file.write_text(there + "* /book none\n* /homes/%u read write\n")
        server = self.serve()
        words = f'warning {MISSING} file="{self.file}" first="/book" line=5 lines=2'
        self.assertEqual(server.log().count(MISSING), 1, server.log())
        self.assertIn(words, server.log())
        self.assert_hangup_logs(server, AGAIN)
        self.assertEqual(server.log().count(words), 2, server.log())
        self.file.write_text(there)
        self.assert_hangup_logs(server, AGAIN)
        self.assertEqual(server.log().count(MISSING), 2, server.log())

    def test_a_file_with_a_mistake_keeps_the_old_rights(self) -> None:
        server = self.serve_accounts()
        http = self.scene.keep(HttpClient(server, "amy", PASSWORD))
        self.file.write_text("cid / read\namy / all\n")
        self.assert_hangup_logs(server, f'{KEPT} reason="{self.file} line 2: ')
        self.assertEqual(http.ask("/file").status, 200)

    def test_nobody_takes_a_name_of_the_file(self) -> None:
        server = self.serve_accounts()
        client = self.scene.keep(HttpClient(server))
        native = self.scene.client(server)
        for user in ("bob", "amy"):
            self.assertEqual(self.make(client, user), 403)
            self.assertEqual(native.ask(f"new:{user}:secret"), "denied")
            self.assertEqual(native.ask(f"get:{user}:secret"), "denied")
        self.assertEqual(self.make(client, "Bob"), 201)
        self.assertEqual(native.ask("new:staff:secret"), "OK")
        self.file.write_text("eve / read\n")
        self.assert_hangup_logs(server, AGAIN)
        self.assertEqual(native.ask("new:eve:secret"), "denied")
        self.assertEqual(self.make(client, "bob"), 201)

    def test_a_home_that_is_there_belongs_to_nobody_who_makes_its_name(self) -> None:
        self.file.write_text("* /home/%u read write\n* /in/%u.d/deep read\n")
        self.scene.write("home/old/diary", b"secret")
        self.scene.write("home/file", b"secret")
        (self.scene.root / "in/older.d/deep").mkdir(parents=True)
        server = self.serve_accounts()
        client = self.scene.keep(HttpClient(server))
        native = self.scene.client(server)
        for user in ("old", "file", "older"):
            self.assertEqual(self.make(client, user), 403)
            self.assertEqual(native.ask(f"new:{user}:secret"), "denied")
        self.assertEqual(self.make(client, "young"), 201)
        self.assertEqual(native.ask("new:younger:secret"), "OK")

    def make(self, client: HttpClient, user: str) -> int:
        body = f'{{"user":"{user}","password":"secret"}}'.encode()
        return client.ask("/-/accounts", method="POST", body=body).status

    def test_the_sink_is_for_everybody(self) -> None:
        server = self.serve_accounts("--uploads", "sink")
        client = self.scene.keep(HttpClient(server, "cid", PASSWORD))
        answer = client.ask("/file", method="PUT", body=b"x")
        self.assertEqual(answer.status, 204)

    def test_a_file_that_is_wrong_at_start_is_wrong_usage(self) -> None:
        self.file.write_text("amy / read\nb /\n")
        missing = self.scene.folder / "missing"
        for path, why in (
            (self.file, f"{self.file} line 2: the last words must be"),
            (missing, f": --rights {missing}: No such file or directory"),
            (self.scene.folder, "Is a directory"),
            ("", "--rights"),
        ):
            with self.subTest(path):
                ended = run("fileserver", "--root", self.scene.root, f"--rights={path}")
                self.assert_wrong_usage(ended, why)

    def assert_wrong_usage(self, ended, why: str) -> None:
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertIn(why, ended.stderr)

    def test_the_flag_of_before_says_what_takes_its_place(self) -> None:
        config = self.scene.folder / "config"
        config.write_text("root = x\nwriters = x\n")
        for flags, env in (
            (("--writers", "x"), {}),
            (("--writers=x",), {}),
            (("--config", config), {}),
            ((), {"FILESERVER_WRITERS": "x"}),
        ):
            with self.subTest(flags):
                ended = run("fileserver", *flags, env=env)
                self.assert_wrong_usage(ended, "--rights FILE")

    def test_a_hangup_reads_the_file_again(self) -> None:
        for sandbox in ("on", "strict"):
            with self.subTest(sandbox):
                server = self.serve("--sandbox", sandbox)
                self.assert_hangup_logs(server, AGAIN)
                new = self.file.with_name("new")
                new.write_text("cid / read\n")
                new.rename(self.file)
                self.assert_hangup_logs(server, AGAIN)
                self.file.rename(new)
                self.assert_hangup_logs(server, f'{KEPT} reason="{self.file}: No such file')
                new.rename(self.file)
                self.assert_hangup_logs(server, AGAIN)
                self.assertEqual(server.stop(), 0)

    def test_a_hangup_is_for_the_transfer_log_too(self) -> None:
        server = self.serve("--transfer-log", self.scene.folder / "log")
        server.signal(signal.SIGHUP)
        eventually(lambda: AGAIN in server.log(), "the rights are read")
        eventually(lambda: "the transfer log was opened again" in server.log(), "it is opened")


class RightsOfProcessesTest(SceneTest):
    """Natively, because processes do not speak HTTP."""

    model = "process"

    def test_a_change_holds_for_open_and_new_connections(self) -> None:
        for kind in ((), ("--spare-threads", "0")):
            with self.subTest(kind):
                self.change_rights(*kind)

    def change_rights(self, *flags: object) -> None:
        file = self.scene.folder / "rights"
        file.write_text("amy / read\n")
        self.scene.write("file", b"content")
        authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(authserver, "amy", PASSWORD)
        server = self.scene.fileserver(
            authserver, "--wrong-passwords", "0", "--rights", file, *flags
        )
        clients = [self.logged_in(server)]
        for text, logged, answer in (
            ("amy / none\n", AGAIN, "not-found"),
            ("amy / read\n", AGAIN, b"content"),
            ("amy / all\n", f'{KEPT} reason="{file} line 1: ', b"content"),
            ("bob / read\n", AGAIN, "not-found"),
        ):
            file.write_text(text)
            before = server.log().count(logged)
            server.signal(signal.SIGHUP)
            self.wait_for(server, logged, before + 1)
            clients.append(self.logged_in(server))
            self.assertEqual([client.ask("file") for client in clients], [answer] * len(clients))
        self.assertEqual(clients[0].ask("new:bob:secret"), "denied")

    def wait_for(self, server: Program, words: str, count: int) -> None:
        eventually(lambda: server.log().count(words) == count, words)

    def logged_in(self, server: Program) -> Client:
        client = self.scene.client(server)
        self.assertEqual(client.ask(f"get:amy:{PASSWORD}"), "OK")
        return client
