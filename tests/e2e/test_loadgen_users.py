"""loadgen: users that share threads do what threads do, whatever the server does."""

import json
import socket
import threading
import time

import test_loadgen_errors
import test_loadgen_files
import test_loadgen_ftp
import test_loadgen_ftp_hostile
import test_loadgen_http
import test_loadgen_reconnects
from loadgen_scene import GET, LoadgenScene
from programs import run


class UsersErrorsTest(test_loadgen_errors.LoadgenErrorsTest):
    shares_threads = True


class UsersReconnectsTest(test_loadgen_reconnects.LoadgenReconnectsTest):
    shares_threads = True


class UsersHttpTest(test_loadgen_http.LoadgenHttpTest):
    shares_threads = True


class UsersFtpTest(test_loadgen_ftp.LoadgenFtpTest):
    shares_threads = True


class UsersFtpHostileTest(test_loadgen_ftp_hostile.LoadgenFtpHostileTest):
    shares_threads = True


class UsersFilesTest(test_loadgen_files.LoadgenFilesTest):
    shares_threads = True


class LoadgenUsersTest(LoadgenScene):
    def test_a_result_says_how_many_users_share_how_many_threads(self) -> None:
        self.serve()
        result = self.result(*GET, "--file", "file1", "--users", 5, "--threads", 2, "--requests", 3)
        self.assertEqual((result["requests"], result["threads"]), (15, 2))
        self.assertEqual(result["users"], {"asked": 5})
        self.assertEqual(result["connections"], 15)

    def test_kept_connections_are_one_for_each_user(self) -> None:
        self.serve()
        flags = ("--users", 50, "--requests", 4, "--connection", "keep-alive")
        result = self.result(*GET, "--file", "file2", *flags)
        self.assertEqual((result["requests"], result["connections"]), (200, 50))

    def test_threads_are_no_more_than_users(self) -> None:
        self.serve()
        result = self.result(*GET, "--file", "file1", "--users", 2, "--threads", 9, "--requests", 1)
        self.assertEqual(result["threads"], 2)

    def test_all_users_of_a_closed_loop_are_under_way(self) -> None:
        self.serve()
        flags = ("--users", 30, "--seconds", 2, "--connection", "keep-alive")
        result = self.result(*GET, "--file", "file1", *flags)
        self.assertAlmostEqual(result["n_check"], 1, delta=0.1)
        self.assertAlmostEqual(result["under_way"]["mean"], 30, delta=3)

    def test_a_unix_socket_whose_queue_is_full_is_waited_for(self) -> None:
        path = str(self.scene.folder / "socket")
        listener = self.enterContext(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        listener.listen(0)  # one connection waits, and the others are refused for now

        def answer() -> None:
            time.sleep(0.3)
            for _ in range(8):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"OK\n")

        server = threading.Thread(target=answer)
        server.start()
        self.addCleanup(server.join)
        result = self.result("new", "--users", 8, "--requests", 1, server=f"unix:{path}")
        self.assertEqual((result["requests"], self.errors(result)), (8, {}))

    def test_a_request_that_could_not_connect_leaves_no_timer_behind(self) -> None:
        """Otherwise the pause behind it would be cut, and the user would end."""
        path = str(self.scene.folder / "socket")
        listener = self.enterContext(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        listener.listen(0)
        waiting = self.enterContext(socket.socket(socket.AF_UNIX))
        waiting.connect(path)
        flags = ("--file", "a", "--users", 1, "--think", "fixed:0.3", "--timeout", 0.3)
        result = self.result(*GET, *flags, "--requests", 3, server=f"unix:{path}", status=1)
        self.assertEqual(self.errors(result), {"timeout": 3})

    def test_what_users_do_not_do_is_wrong_usage(self) -> None:
        for flags in (
            ("--release", "transfer", "--requests", "2"),
            ("--life", "3"),
            ("--ramp", "3"),
            ("--engine", "poll"),
        ):
            ended = run("loadgen", *GET, "--file", "a", "--users", 5, *flags)
            self.assertEqual(ended.returncode, 2, flags)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)

    def test_merged_users_are_all_that_there_were(self) -> None:
        self.serve()
        paths = [self.scene.folder / f"part{number}.json" for number in (1, 2)]
        for path, users in zip(paths, (3, 4), strict=True):
            flags = ("--file", "file1", "--users", users, "--threads", 1, "--requests", 2)
            ended = run("loadgen", *GET, *flags, "--server", self.fileserver, "--json", path)
            self.assertTrue(path.exists(), ended.stderr)
        merged = run("loadgen", "merge", *paths, "--json", "-")
        result = json.loads(merged.stdout)
        self.assertEqual((result["users"], result["threads"]), ({"asked": 7}, 2))
