"""loadgen: errors are counted by their cause, and in no other figure."""

import socket
import struct

from loadgen_scene import GET, GET_LINE, Answer, LoadgenScene
from peers import HangUp, Peer
from programs import run
from waiting import LONG_S

from rig.host import free_port


class LoadgenErrorsTest(LoadgenScene):
    def test_errors_are_counted_by_their_code_and_in_no_other_figure(self) -> None:
        self.serve()
        (self.scene.root / "file2").unlink()
        result = self.result(*GET, "--file", "file%d", "--unique", 4, "--requests", 8, status=1)
        self.assertEqual(
            (self.errors(result), result["requests"], result["bytes"]),
            ({"not-found": 2}, 6, 16_000),
        )

    def test_a_wrong_password_is_denied(self) -> None:
        self.serve()
        for pipeline in ((), ("--pipeline",)):
            for connection in ("per-request", "keep-alive"):
                wrong = ("get", "--user", "alice", "--password", "no", "--file", "file1")
                flags = ("--requests", 5, *pipeline, "--connection", connection)
                result = self.result(*wrong, *flags, status=1)
                self.assertEqual((self.errors(result), result["requests"]), ({"denied": 5}, 0))

    def test_a_password_may_come_from_the_environment_and_is_printed_nowhere(self) -> None:
        self.serve()
        self.scene.client(self.authserver).ask("new:bob:Xyzzy-Plugh")
        flags = ("--file", "file1", "--requests", 2, "--server", self.fileserver, "--json", "-")
        secret = {"LOADGEN_PASSWORD": "Xyzzy-Plugh"}
        ended = run("loadgen", "get", "--user", "bob", *flags, env=secret)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("Xyzzy-Plugh", ended.stdout + ended.stderr)
        self.assertNotIn("Xyzzy-Plugh", run("loadgen", "--help", env=secret).stdout)

    def test_busy_and_unavailable_are_counted_separately(self) -> None:
        self.serve("--max-connections", 1)
        holder = self.scene.client(self.fileserver)
        self.assertEqual(holder.ask("get:alice:wonderland"), "OK")
        self.assertEqual(self.errors(self.result("new", "--requests", 3, status=1)), {"busy": 3})
        holder.close()
        self.authserver.stop()
        result = self.result("new", "--requests", 3, "--connection", "keep-alive", status=1)
        self.assertLessEqual(set(self.errors(result)), {"unavailable", "busy"})

    def test_a_server_that_does_not_listen_is_reported(self) -> None:
        ended = run(
            "loadgen", *GET, "--file", "a", "--requests", 3, "--server", f"127.0.0.1:{free_port()}"
        )
        self.assertEqual(ended.returncode, 1)
        self.assertTrue(ended.stderr.strip())

    def test_a_connection_that_is_refused_is_not_tried_without_a_pause(self) -> None:
        nobody = f"127.0.0.1:{free_port()}"
        for connection in ("per-request", "keep-alive"):
            flags = ("--threads", 2, "--seconds", 0.3, "--connection", connection)
            result = self.result(*GET, "--file", "a", *flags, server=nobody, status=1)
            self.assertEqual(set(self.errors(result)), {"connect"})
            self.assertLessEqual(result["errors"]["total"], 2 * (1000 * result["elapsed_s"] + 1))
            refused = f"connect to {nobody}: Connection refused"
            self.assertEqual(result["first_errors"], {"connect": refused})

    def test_the_first_error_of_a_closed_connection_is_shown(self) -> None:
        def reset(line: bytes, connection: socket.socket) -> None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
            raise HangUp

        def end(line: bytes, connection: socket.socket) -> None:
            raise HangUp

        for answer, why in ((reset, "Connection reset by peer"), (end, "the server closed")):
            peer = self.scene.keep(Peer(answer))
            result = self.result(*GET, "--file", "a", "--requests", 2, server=peer, status=1)
            self.assertEqual(self.errors(result), {"closed": 2})
            self.assertIn(why, result["first_errors"]["closed"])

    def assert_cause(self, cause: str, *answers: Answer, timeout_s: float = LONG_S) -> None:
        for number, answer in enumerate(answers):
            with self.subTest(cause=cause, number=number):
                peer = self.scene.keep(Peer(answer))
                flags = (*GET, "--file", "a", "--requests", 2, "--timeout", timeout_s)
                result = self.result(*flags, server=peer, status=1)
                self.assertEqual(
                    (self.errors(result), result["requests"], result["bytes"]), ({cause: 2}, 0, 0)
                )

    def test_a_connection_that_ends_early_is_closed(self) -> None:
        def close(line: bytes, connection: socket.socket) -> None:
            raise HangUp

        def close_in_the_file(line: bytes, connection: socket.socket) -> bytes:
            if line == GET_LINE:
                return b"OK\n"
            connection.sendall(b"OK 10\nshort")
            raise HangUp

        self.assert_cause("closed", close, close_in_the_file)

    def test_an_improper_reply_is_a_protocol_error(self) -> None:
        def instead_of_the_file(reply: bytes) -> Answer:
            return lambda line, _: b"OK\n" if line == GET_LINE else reply

        self.assert_cause(
            "protocol",
            lambda line, _: b"YES\n",
            lambda line, _: b"OK 5\nhello",
            instead_of_the_file(b"OK\n"),
            instead_of_the_file(b"OK 5\nhello!"),
            instead_of_the_file(b"OK -1\n"),
            instead_of_the_file(b"ERR fish no\n"),
        )

    def test_a_reply_that_takes_too_long_is_a_timeout(self) -> None:
        self.assert_cause(
            "timeout",
            lambda line, _: None,
            lambda line, _: b"OK\n" if line == GET_LINE else b"OK 10\nshort",
            timeout_s=0.3,
        )

    def test_a_kept_connection_is_not_used_again_after_a_timeout(self) -> None:
        asked_from = []

        def keep_silent(line: bytes, connection: socket.socket) -> None:
            asked_from.append(connection.getpeername())

        peer = self.scene.keep(Peer(keep_silent))
        flags = (*GET, "--file", "a", "--requests", 3, "--timeout", 0.3)
        self.result(*flags, "--connection", "keep-alive", server=peer, status=1)
        self.assertEqual(len(peer.wait_for_lines(3)), 3)
        self.assertEqual(len(set(asked_from)), 3)

    def test_the_file_name_waits_for_the_ok_unless_pipelined(self) -> None:
        for pipeline, expected in (((), [GET_LINE]), (("--pipeline",), [GET_LINE, b"a\n"])):
            with self.subTest(pipeline=pipeline):
                peer = self.scene.keep(Peer(lambda line, _: None))
                flags = ("--file", "a", "--requests", 1, "--timeout", 0.5, *pipeline)
                self.result(*GET, *flags, server=peer, status=1)
                self.assertEqual(peer.wait_for_lines(len(expected)), expected)
