"""How a server starts: it prints READY when it can serve, or one line that says why it cannot."""

import os
import re
import socket
import unittest

import servers
from programs import run
from scene import SceneTest
from telemetry import FLAG
from waiting import LONG_S


def can_listen_on_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        return True
    except OSError:
        return False


class StartTest(SceneTest):
    def test_port_0_is_any_free_one_and_the_ready_line_names_it(self) -> None:
        for kind in servers.KINDS:
            with self.subTest(kind):
                first, second = (servers.start(self.scene, kind) for _ in range(2))
                self.assertRegex(first.ready_line, r"\AREADY 127\.0\.0\.1:[1-9][0-9]*\n\Z")
                self.assertNotEqual(first.address, second.address)
                for server in (first, second):
                    self.assertEqual(self.scene.client(server).ask("ping"), "OK")

    def test_the_ready_line_is_all_that_is_printed(self) -> None:
        for kind in servers.KINDS:
            with self.subTest(kind):
                server = servers.start(self.scene, kind, "--log-level", "debug")
                self.assertEqual(self.scene.client(server).ask("ping"), "OK")
                self.assertEqual(server.stop(), 0)
                self.assertEqual(server.output_at_end(), "")

    def test_a_service_manager_is_told_when_the_server_is_ready(self) -> None:
        """As systemd asks for it, with the path of a socket in NOTIFY_SOCKET."""
        path = self.scene.folder / "notify"
        variables = {"NOTIFY_SOCKET": str(path)}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(path))
            manager.settimeout(LONG_S)
            for kind in servers.KINDS:
                with self.subTest(kind):
                    server = servers.start(self.scene, kind, env=variables)
                    message = manager.recv(1000).decode()
                    self.assertEqual(message, f"READY=1\nSTATUS={server.ready_line}")
        server = servers.start(self.scene, "authserver with threads", env=variables)
        self.assertIn("the service manager cannot be told that the server is ready", server.log())

    def test_a_name_may_stand_for_the_host(self) -> None:
        authserver = self.scene.authserver("--listen", "localhost:0")
        self.assertRegex(authserver.ready_line, r"\AREADY localhost:[1-9][0-9]*\n\Z")
        fileserver = self.scene.fileserver(authserver)
        self.assertEqual(self.scene.client(fileserver).ask("ping"), "OK")

    @unittest.skipUnless(can_listen_on_ipv6(), "no IPv6 here")
    def test_an_ipv6_address_stands_in_brackets(self) -> None:
        authserver = self.scene.authserver("--listen", "[::1]:0")
        self.assertRegex(authserver.ready_line, r"\AREADY \[::1\]:[1-9][0-9]*\n\Z")
        fileserver = self.scene.fileserver(f"[::1]:{authserver.address[1]}")
        self.assertEqual(self.scene.client(fileserver).ask("ping"), "OK")

    def test_the_log_is_silent_about_all_requests_but_failed_log_ins(self) -> None:
        for kind in servers.KINDS:
            with self.subTest(kind):
                server = servers.start(self.scene, kind)
                client = self.scene.client(server)
                before = server.log()
                self.assertEqual(
                    client.ask_all([b"ping", b"", b"new:bob:pw", b"a.txt", b"get:bob:x"])[0], "OK"
                )
                client.close()
                added = server.log().removeprefix(before).splitlines()
                self.assertEqual([line for line in added if " auth-failed " not in line], [])

    def test_a_log_level_hides_less_important_lines(self) -> None:
        server = self.scene.authserver("--log-level", "error", "--password-scheme", "plain")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.log(), "")

    def test_the_log_of_a_start_ends_with_the_addresses_and_has_no_limits(self) -> None:
        further = ("--http-listen", "127.0.0.1:0", *FLAG)
        for kind, flags in (("fileserver", further), ("authserver with threads", FLAG)):
            with self.subTest(kind):
                server = servers.start(self.scene, kind, *flags)
                lines = server.log().splitlines()
                addresses = server.ready_line.removeprefix("READY ").strip()
                self.assertTrue(lines[-1].endswith(f" info ready listen={addresses}"), lines)
                told = [line for line in lines if " info " in line and "prefetching" not in line]
                self.assertLessEqual(len(told), 3, lines)
                self.assertEqual(
                    re.findall("backlog|spare|descriptors|congestion", "".join(lines)), []
                )

    def test_the_limits_are_in_the_log_for_debugging(self) -> None:
        limits = "limits backlog=[1-9].* max_connections=[1-9].* %s=[0-9]+ descriptors=[1-9].* "
        for kind in servers.KINDS:
            with self.subTest(kind):
                server = servers.start(self.scene, kind, "--log-level", "debug")
                count = "loops" if kind.endswith("loops") else "spare"
                self.assertRegex(server.log(), f" debug {limits % count}congestion_control=[a-z]")

    def test_a_folder_without_files_is_served(self) -> None:
        server = self.scene.fileserver(self.scene.authserver())
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")

    def test_a_fileserver_says_at_start_that_there_is_no_authserver_yet(self) -> None:
        words = "no authserver was running at the start at="
        free = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        missing = f"unix:{self.scene.folder}/none.sock"
        for auth in (address, missing):
            with self.subTest(auth):
                server = self.scene.fileserver(auth)
                self.assertEqual(server.log().count(words + auth), 1)
        with_one = self.scene.fileserver(self.scene.authserver())
        self.assertNotIn(words, with_one.log())

    def test_files_that_exist_before_the_start_are_served_from_ready_on(self) -> None:
        authserver = self.scene.authserver()
        self.scene.client(authserver).ask("new:alice:pw")
        for mode in ("prefetch", "disk"):
            with self.subTest(mode):
                self.scene.write("just-made", b"content")
                client = self.scene.client(self.scene.fileserver(authserver, "--files", mode))
                self.assertEqual(
                    client.ask_all([b"get:alice:pw", b"just-made"]), ["OK", b"content"]
                )

    def test_ready_waits_for_prefetching(self) -> None:
        authserver = self.scene.authserver()
        self.scene.client(authserver).ask("new:alice:pw")
        names = [b"sub%d/%d" % (number % 50, number) for number in range(3000)]
        for name in names:
            os.utime(self.scene.write(name, name), (1, 1))
        client = self.scene.client(self.scene.fileserver(authserver))
        self.assertEqual(client.ask("get:alice:pw"), "OK")
        self.assertEqual(client.ask_all(names), names)


class RefusesToStartTest(SceneTest):
    def assert_fails(self, program: str, *flags: object, named: str) -> None:
        """Checks exit status 1, an empty standard output, and a last line that names the reason."""
        ended = run(program, "--listen", "127.0.0.1:0", *flags)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertTrue(ended.stderr.endswith("\n"))
        last = ended.stderr.splitlines()[-1]
        self.assertIn(named, last)
        self.assertRegex(last, rf"\A{program}: ")

    def test_when_its_port_is_taken(self) -> None:
        accounts, root = (
            ("--sqlite-path", self.scene.folder / "other.db"),
            ("--root", self.scene.root),
        )
        for taken in (self.scene.authserver(), self.scene.fileserver("127.0.0.1:1")):
            with self.subTest(taken.name):
                self.assert_fails("authserver", *accounts, "--listen", taken, named=str(taken))
                self.assert_fails(
                    "authserver",
                    *accounts,
                    "--listen",
                    taken,
                    "--model",
                    "process",
                    named=str(taken),
                )
                self.assert_fails("fileserver", *root, "--listen", taken, named=str(taken))

    def test_when_the_address_is_not_of_this_machine(self) -> None:
        self.assert_fails(
            "authserver",
            "--sqlite-path",
            self.scene.accounts,
            "--listen",
            "192.0.2.1:0",
            named="192.0.2.1",
        )
        self.assert_fails(
            "fileserver", "--root", self.scene.root, "--listen", "192.0.2.1:0", named="192.0.2.1"
        )

    def test_when_the_served_folder_is_missing_or_no_folder(self) -> None:
        file = self.scene.write("a", b"file")
        for mode in ("prefetch", "disk"):
            for root in (self.scene.folder / "missing", file):
                with self.subTest(mode=mode, root=root):
                    self.assert_fails(
                        "fileserver", "--root", root, "--files", mode, named=str(root)
                    )

    def test_when_the_accounts_file_cannot_be_written(self) -> None:
        garbage = self.scene.folder / "garbage.db"
        garbage.write_bytes(b"this is not a database" * 1000)
        for path in (
            self.scene.folder / "missing" / "accounts.db",
            self.scene.folder,
            garbage,
            "/proc/accounts.db",
        ):
            for model in ("thread", "process"):
                with self.subTest(path=path, model=model):
                    self.assert_fails(
                        "authserver", "--sqlite-path", path, "--model", model, named=str(path)
                    )

    def test_what_is_missing_is_said_with_a_remedy_or_the_user(self) -> None:
        missing = self.scene.folder / "missing"
        self.assert_fails(
            "fileserver", "--root", missing, named="No such file or directory; make it with mkdir"
        )
        self.assert_fails(
            "authserver",
            *("--sqlite-path", missing / "accounts.db"),
            named="No such file or directory (as user ",
        )

    def test_one_line_says_it(self) -> None:
        for program, flags in (
            ("fileserver", ("--root", self.scene.folder / "missing")),
            ("authserver", ("--sqlite-path", self.scene.folder)),
        ):
            with self.subTest(program):
                ended = run(program, "--listen", "127.0.0.1:0", *flags)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
