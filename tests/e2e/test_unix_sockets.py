"""Unix-domain sockets between client, fileserver and authserver."""

import os
import signal
import stat
from pathlib import Path

from loadgen_scene import LoadgenScene
from programs import Program, run
from waiting import LONG_S, eventually


class UnixSocketTest(LoadgenScene):
    def path(self, name: str) -> Path:
        return self.scene.folder / name

    def serve_both(self, *flags: object) -> Program:
        """Starts both servers on sockets of the scene. Returns the fileserver."""
        plain = ("--password-scheme", "plain")
        self.behind = self.scene.authserver_of_alice(*plain, "--listen", f"unix:{self.path('a')}")
        listen = f"unix:{self.path('f')}"
        return self.scene.start(
            "fileserver",
            ["--auth", self.behind, "--root", self.scene.root, "--listen", listen, *flags],
        )

    def test_the_ready_line_names_the_path(self) -> None:
        server = self.serve_both()
        self.assertEqual(server.ready_line.strip(), f"READY unix:{self.path('f')}")

    def test_a_conversation_is_the_same_as_on_tcp(self) -> None:
        client = self.scene.client(self.serve_both())
        self.assertEqual(client.ask("file1"), "denied")
        self.assertEqual(client.ask("ping"), "OK")
        self.assertEqual(client.ask("get:alice:wrong"), "denied")
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        self.assertEqual(len(client.ask("file12")), 12000)

    def test_loadgen_uses_it(self) -> None:
        server = self.serve_both()
        for connection in ("per-request", "keep-alive"):
            flags = ("--user", "alice", "--password", "wonderland", "--file", "file12")
            more = ("--requests", 50, "--threads", 4, "--connection", connection)
            result = self.result("get", *flags, *more, server=server)
            self.assertEqual((result["requests"], result["bytes"]), (200, 200 * 12000))
            self.assertEqual(result["server"], f"unix:{self.path('f')}")

    def test_an_idle_connection_is_closed(self) -> None:
        """The system does not pass the time-outs of the listener on, as it does on TCP."""
        client = self.scene.client(self.serve_both("--idle-timeout", "0.2"))
        self.assertEqual(client.socket.recv(1), b"")

    def test_only_owner_and_group_may_connect(self) -> None:
        self.serve_both()
        for name in ("a", "f"):
            mode = self.path(name).stat().st_mode
            self.assertEqual((stat.S_ISSOCK(mode), stat.S_IMODE(mode)), (True, 0o660))

    def test_the_file_is_removed_at_the_end(self) -> None:
        for model in ("thread", "process"):
            with self.subTest(model):
                listen = ("--listen", f"unix:{self.path(model)}")
                server = self.scene.authserver("--model", model, *listen)
                self.assertEqual(self.scene.client(server).ask("ping"), "OK")
                self.assertTrue(self.path(model).exists())
                self.assertEqual(server.stop(), 0)
                self.assertFalse(self.path(model).exists())

    def test_the_fileserver_removes_its_file_too(self) -> None:
        self.assertEqual(self.serve_both().stop(), 0)
        self.assertFalse(self.path("f").exists())

    def test_a_child_that_ends_leaves_the_file(self) -> None:
        listen = ("--listen", f"unix:{self.path('a')}", "--model", "process", "--spare-workers", 0)
        server = self.scene.authserver(*listen)
        for _ in range(3):
            client = self.scene.client(server)
            self.assertEqual(client.ask("ping"), "OK")
            client.half_close()
            self.assertEqual(client.socket.recv(1), b"")
        self.assertTrue(self.path("a").exists())

    def test_the_file_of_a_killed_server_is_replaced(self) -> None:
        listen = ("--listen", f"unix:{self.path('a')}")
        killed = self.scene.authserver(*listen)
        os.kill(killed.pid, signal.SIGKILL)
        eventually(lambda: not killed.is_running(), "the server is gone")
        self.assertTrue(self.path("a").exists())
        self.assertEqual(self.scene.client(self.scene.authserver(*listen)).ask("ping"), "OK")

    def test_a_path_in_use_is_not_taken(self) -> None:
        listen = ("--listen", f"unix:{self.path('a')}")
        first = self.scene.authserver(*listen)
        flags = ("--sqlite-path", self.path("other.db"))
        second = run("authserver", *listen, *flags)
        self.assertEqual(second.returncode, 1)
        self.assertIn("Address already in use", second.stderr)
        self.assertEqual(self.scene.client(first).ask("ping"), "OK")

    def test_a_file_that_is_no_socket_stays(self) -> None:
        self.path("a").write_text("precious")
        ended = run("authserver", "--listen", f"unix:{self.path('a')}")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(self.path("a").read_text(), "precious")

    def test_all_clients_are_one_address_for_the_throttle(self) -> None:
        server = self.serve_both("--wrong-passwords", "2")
        for number in range(2):
            client = self.scene.client(server)
            self.assertEqual(client.ask(f"get:alice:wrong{number}"), "denied")
        self.assertEqual(self.scene.client(server).ask("get:alice:wrong9"), "busy")
        self.assertIn("address=unix ", server.log())

    def test_a_stop_ends_an_idle_connection(self) -> None:
        server = self.serve_both()
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        self.assertEqual(server.stop(), 0)
        client.socket.settimeout(LONG_S)
        self.assertEqual(client.socket.recv(1), b"")

    def test_an_authserver_that_starts_again_is_found(self) -> None:
        server = self.serve_both()
        client = self.scene.client(server)
        self.assertEqual(self.behind.stop(), 0)
        self.assertEqual(client.ask("get:alice:wonderland"), "unavailable")
        self.scene.authserver("--listen", f"unix:{self.path('a')}")
        eventually(lambda: client.ask("get:alice:wonderland") == "OK", "it is asked again")

    def test_a_path_that_is_too_long_is_wrong_usage(self) -> None:
        for path in ("unix:/" + 107 * "a", "unix:relative", "unix:"):
            ended = run("fileserver", "--listen", path)
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1), ended.stderr)
            self.assertIn("unix:PATH with an absolute path of at most 107 bytes", ended.stderr)
