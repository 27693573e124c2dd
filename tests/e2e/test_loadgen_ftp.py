"""loadgen --protocol ftp against servers that break their word. tests/lab has the real ones."""

import contextlib
import socket
import unittest
from collections.abc import Callable

from loadgen_scene import GET, LoadgenScene
from peers import Listening
from programs import run

FTP_GET = (*GET, "--protocol", "ftp", "--file", "a")
KEPT = ("--connection", "keep-alive")
CONTENT = b"x" * 1000
Reply = Callable[[socket.socket, socket.socket], bytes]


def sending(before: bytes, content: bytes, after: bytes) -> Reply:
    """Sends the content on a connection of its own, between two replies."""

    def reply(files: socket.socket, commands: socket.socket) -> bytes:
        commands.sendall(before)
        connection, _ = files.accept()
        with contextlib.closing(connection):
            connection.sendall(content)
        return after

    return reply


class FtpPeer(Listening):
    """Lets everybody in, and has CONTENT under every name. `replies` has other replies by verb.

    A reply may be a function that is called with the listener for the file and the connection for
    commands, and returns one.
    """

    def __init__(self, **replies: bytes | Reply) -> None:
        self.commands: list[bytes] = []
        self.replies = {
            "USER": b"331 password\r\n",
            "PASS": b"230 welcome\r\n",
            "TYPE": b"200 binary\r\n",
            "RETR": sending(b"150 comes\r\n", CONTENT, b"226 sent\r\n"),
        } | replies
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with socket.create_server(("127.0.0.1", 0)) as files, connection.makefile("rb") as lines:
            files.settimeout(10)
            connection.sendall(self.replies.get("greeting", b"220 hello\r\n"))
            for line in lines:
                self.commands.append(line)
                verb = line.split()[0].decode()
                reply = self.replies.get(verb) or self.port_of(files, verb)
                connection.sendall(reply(files, connection) if callable(reply) else reply)

    def port_of(self, files: socket.socket, verb: str) -> bytes:
        port = files.getsockname()[1]
        if verb == "EPSV":
            return b"229 extended (|||%d|)\r\n" % port
        return b"227 passive (192,0,2,1,%d,%d)\r\n" % (port >> 8, port & 255)


class LoadgenFtpTest(LoadgenScene):
    def peer(self, **replies: bytes | Reply) -> FtpPeer:
        return self.scene.keep(FtpPeer(**replies))

    def errors_of(self, *flags: object, **replies: bytes | Reply) -> dict:
        result = self.result(
            *FTP_GET, "--requests", 2, *flags, server=self.peer(**replies), status=1
        )
        return {word: count for word, count in result["errors"].items() if word != "total"}

    def test_a_connection_logs_in_once(self) -> None:
        for flags, log_ins in (((), 6), (KEPT, 2)):
            peer = self.peer()
            result = self.result(*FTP_GET, *flags, "--requests", 3, "--threads", 2, server=peer)
            self.assertEqual((result["requests"], result["bytes"]), (6, 6 * len(CONTENT)))
            verbs = [line.split()[0] for line in peer.commands]
            expected = {
                b"USER": log_ins,
                b"PASS": log_ins,
                b"TYPE": log_ins,
                b"EPSV": 6,
                b"RETR": 6,
            }
            self.assertEqual({verb: verbs.count(verb) for verb in set(verbs)}, expected)
            self.assertIn(b"USER alice\r\n", peer.commands)
            self.assertIn(b"RETR a\r\n", peer.commands)

    def test_the_phases_follow_each_other(self) -> None:
        phases = self.result(*FTP_GET, "--requests", 2, server=self.peer())["phases_ms"]
        names = ["connect", "logged_in", "data_connect", "first_byte", "data_end", "last_byte"]
        self.assertEqual(list(phases), names)
        self.assertEqual(sorted(phases.values()), list(phases.values()))

    def test_pasv_is_used_if_it_is_asked_for_or_if_epsv_is_not_known(self) -> None:
        for flags, replies, asked in (
            (("--ftp-data", "pasv"), {}, [b"PASV\r\n"]),
            ((), {"EPSV": b"500 what?\r\n"}, [b"EPSV\r\n", b"PASV\r\n"]),
        ):
            peer = self.peer(**replies)
            # The address in the reply is none of this host, and is not used.
            self.result(*FTP_GET, *flags, "--requests", 1, server=peer)
            self.assertEqual([line for line in peer.commands if line.endswith(b"SV\r\n")], asked)

    def test_a_file_that_did_not_come_whole_is_no_success(self) -> None:
        promise = b"150 for a (1000 bytes)\r\n"
        for content, after, expected in (
            (CONTENT[1:], b"226 sent\r\n", "protocol"),
            (CONTENT + b"x", b"226 sent\r\n", "protocol"),
            (CONTENT[1:], b"426 cut\r\n", "unavailable"),
            (CONTENT[1:], b"451 disk\r\n", "unavailable"),
            (CONTENT[1:], b"", "timeout"),
        ):
            with self.subTest(after=after, size=len(content)):
                reply = sending(promise, content, after)
                self.assertEqual(self.errors_of("--timeout", 2, RETR=reply), {expected: 2})

    def test_what_a_server_refuses_is_counted_by_its_reason(self) -> None:
        for verb, reply, expected in (
            ("greeting", b"421 too many\r\n", "busy"),
            ("PASS", b"530 no\r\n", "denied"),
            ("RETR", b"550 no such file\r\n", "not-found"),
            ("TYPE", b"504 no\r\n", "protocol"),
            ("EPSV", b"229 (|||0|)\r\n", "protocol"),
            ("USER", b"x" * 20_000, "protocol"),
        ):
            with self.subTest(verb=verb):
                self.assertEqual(self.errors_of(**{verb: reply}), {expected: 2})

    def test_a_file_that_is_missing_does_not_end_the_connection(self) -> None:
        peer = self.peer(RETR=b"550 no such file\r\n")
        self.result(*FTP_GET, *KEPT, "--requests", 3, server=peer, status=1)
        self.assertEqual(peer.commands.count(b"USER alice\r\n"), 1)

    def test_a_port_where_nobody_listens_is_no_connection(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        errors = self.errors_of(EPSV=b"229 (|||%d|)\r\n" % port)
        self.assertEqual(errors, {"connect": 2})

    def test_what_ftp_has_not_is_wrong_usage(self) -> None:
        for arguments, named in (
            (("new", *FTP_GET[1:5], "--protocol", "ftp"), "new needs"),
            (("put", *FTP_GET[1:5], "--protocol", "ftp", "--size", "1"), "put needs"),
            ((*FTP_GET, "--pipeline"), "--pipeline"),
            ((*FTP_GET, "--server", "unix:/run/x"), "with a port"),
        ):
            ended = run("loadgen", *arguments)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(named, ended.stderr)


if __name__ == "__main__":
    unittest.main()
