"""loadgen --protocol ftp: replies that are odd but right, and servers that break their word."""

import json

from ftp_peer import FILE, FtpPeer, Script
from loadgen_scene import GET, LoadgenScene
from programs import run
from waiting import LONG_S

FTP_GET = (*GET, "--protocol", "ftp", "--file", "a")
KEPT = ("--connection", "keep-alive")
SHORT_S = 0.3


class LoadgenFtpHostileTest(LoadgenScene):
    def peer(self, data: bytes | None = FILE, /, **replies: bytes | None) -> FtpPeer:
        return self.scene.keep(FtpPeer(Script(replies=replies, data=data)))

    def failures_of(self, peer: FtpPeer, *flags: object) -> dict[str, int]:
        """The causes of two requests that must both fail, within the time-out of a test."""
        given = (*FTP_GET, *KEPT, "--timeout", LONG_S, *flags, "--requests", 2)
        result = self.result(*given, server=peer, status=1)
        self.assertEqual(result["requests"], 0)
        return self.errors(result)

    def test_replies_may_have_several_lines(self) -> None:
        peer = self.peer(
            PASS=b"230-hello\r\n226 not the end\r\n  230 neither\r\n230-nor this\r\n230 end\r\n",
            RETR=b"150-soon\r\n150 0.1 kbytes to download\r\n",
            DONE=b"226-sent\r\n226 0.000 seconds\r\n",
        )
        result = self.result(*FTP_GET, *KEPT, "--requests", 3, server=peer)
        self.assertEqual((result["requests"], peer.connections), (3, 1))

    def test_a_refusal_is_counted_by_its_code_and_later_requests_are_not_delayed(self) -> None:
        for verb, reply, cause, connections in (
            ("", b"421 full\r\n", "busy", 2),
            ("PASS", b"530 no\r\n", "denied", 2),
            ("USER", b"530 no\r\n", "denied", 2),
            ("TYPE", b"550 no\r\n", "not-found", 2),
            ("EPSV", b"421 going down\r\n", "busy", 2),
            ("RETR", b"550 no such file\r\n", "not-found", 1),
            ("RETR", b"425 no data connection\r\n", "protocol", 2),
            ("DONE", b"426 cut\r\n", "protocol", 2),
            ("DONE", b"451 cannot read it\r\n", "protocol", 2),
            ("DONE", b"550 cannot read it\r\n", "not-found", 2),
        ):
            with self.subTest(verb=verb, reply=reply):
                peer = self.peer(**{verb: reply})
                self.assertEqual(self.failures_of(peer), {cause: 2})
                # A connection may be made ahead, and found to be of no use.
                self.assertIn(peer.connections, (connections, connections + 1))

    def test_a_file_that_is_shorter_or_longer_than_announced_is_no_success(self) -> None:
        for announced in (len(FILE) - 1, len(FILE) + 1, 0, 2**64 - 2):
            with self.subTest(announced=announced):
                peer = self.peer(RETR=b"150 opening for a (%d bytes)\r\n" % announced)
                self.assertEqual(len(self.failures_of(peer)), 1)

    def test_a_file_that_is_shorter_than_size_said_is_no_success(self) -> None:
        peer = self.scene.keep(FtpPeer(Script(data=FILE[:-1], size=len(FILE))))
        self.assertEqual(self.failures_of(peer), {"protocol": 2})

    def test_a_server_that_does_not_know_size_is_measured(self) -> None:
        for reply in (b"502 what?\r\n", b"550 no\r\n", b"213 many\r\n"):
            result = self.result(*FTP_GET, "--requests", 2, server=self.peer(SIZE=reply))
            self.assertEqual(result["requests"], 2)

    def test_the_first_error_says_what_the_server_did(self) -> None:
        reset = self.scene.keep(FtpPeer(Script(resets=True)))
        longer = self.peer(RETR=b"150 here (3 bytes)\r\n")
        for peer, cause, why in (
            (self.peer(DONE=b"426 aborted\r\n"), "protocol", '"426 aborted"'),
            (self.peer(DONE=b"451-local\r\n451 error\r\n"), "protocol", '"451 error"'),
            (longer, "protocol", "more bytes came than announced"),
            (reset, "closed", "Connection reset by peer"),
        ):
            with self.subTest(why=why):
                result = self.result(*FTP_GET, "--requests", 1, server=peer, status=1)
                self.assertEqual(result["first_errors"], {cause: why})

    def test_a_crowd_quotes_the_whole_reply_too(self) -> None:
        peer = self.peer(SIZE=b"550 no such file\r\n")
        users = ("--users", 1, "--pace", 1000, "--json", "-", "--server", peer)
        result = json.loads(run("loadgen", *FTP_GET, *users).stdout)
        reasons = result["drop_outs"]["first_reasons"]
        self.assertEqual(reasons, {"not-found": '"550 no such file"'})

    def test_a_file_without_its_last_reply_is_no_success(self) -> None:
        self.assertEqual(self.failures_of(self.peer(DONE=None)), {"closed": 2})
        silent = self.peer(DONE=b"")
        self.assertEqual(self.failures_of(silent, "--timeout", SHORT_S), {"timeout": 2})

    def test_an_empty_file_is_a_file(self) -> None:
        for reply in (b"150 here\r\n", b"150 here (0 bytes)\r\n"):
            result = self.result(
                *FTP_GET, *KEPT, "--requests", 2, server=self.peer(b"", RETR=reply)
            )
            self.assertEqual((result["requests"], result["bytes"]), (2, 0))

    def test_a_data_connection_that_is_refused_or_never_used_fails(self) -> None:
        closed = self.scene.keep(FtpPeer())
        closed.close()
        reply = b"229 passive (|||%d|)\r\n" % closed.address[1]
        self.assertEqual(self.failures_of(self.peer(EPSV=reply)), {"connect": 2})
        self.assertEqual(self.failures_of(self.peer(None), "--timeout", SHORT_S), {"timeout": 2})

    def test_a_hostile_reply_is_an_error_of_the_protocol(self) -> None:
        for verb, reply in (
            ("", b"SSH-2.0-OpenSSH\r\n"),
            ("", b"220\0 ready\r\n"),
            ("", b"\n"),
            ("", b"220-" + b"x" * 100_000),
            ("", b"220-more\r\n" * 20_000),
            ("", b"120 wait\r\n"),
            ("", b"999 ready\r\n"),
            ("PASS", b"230 in\r\n230 twice\r\n"),
            ("USER", b"331_\r\n"),
            ("EPSV", b"229 port (|||0|)\r\n"),
            ("EPSV", b"229 port (|||65536|)\r\n"),
            ("EPSV", b"229 port (|||-1|)\r\n"),
            ("EPSV", b"229 port\r\n"),
            ("EPSV", b"227 port (127,0,0,1,200,200)\r\n"),
            ("RETR", b"226 there is none\r\n"),
            ("RETR", b"150 one\r\n150 two\r\n"),
            ("DONE", b"200 fine\r\n"),
            ("DONE", b"150 still\r\n226 done\r\n"),
            ("DONE", b"226 done\r\n226 again\r\n"),
        ):
            with self.subTest(verb=verb, reply=reply[:60]):
                self.assertEqual(self.failures_of(self.peer(**{verb: reply})), {"protocol": 2})

    def test_a_wrong_reply_to_pasv_is_an_error_of_the_protocol(self) -> None:
        for reply in (
            b"227 (127,0,0,1,0,0)\r\n",
            b"227 (1,2,3,4,5)\r\n",
            b"227 (1,2,3,4,256,1)\r\n",
        ):
            with self.subTest(reply=reply):
                peer = self.peer(PASV=reply)
                self.assertEqual(self.failures_of(peer, "--ftp-data", "pasv"), {"protocol": 2})

    def test_a_kept_connection_cannot_be_that_of_many_accounts(self) -> None:
        flags = ("get", "--user", "u%d", "--password", "p", "--accounts", 2, *FTP_GET[5:], *KEPT)
        ended = run("loadgen", *flags)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--accounts needs --connection per-request", ended.stderr)

    def test_a_last_reply_that_comes_before_the_file_is_kept(self) -> None:
        self.scene.write("a", FILE)
        peer = self.peer(RETR=b"150 it comes\r\n226 it has come\r\n", DONE=b"")
        flags = ("--requests", 5, "--verify", "--verify-root", self.scene.root, "--timeout", 3)
        result = self.result(*FTP_GET, *KEPT, *flags, server=peer)
        self.assertEqual((result["requests"], self.errors(result)), (5, {}))

    def test_verify_and_save_see_the_bytes_of_the_data_connection(self) -> None:
        saved = self.scene.folder / "saved"
        flags = (*FTP_GET, "--requests", 2, "--verify", "--verify-root", self.scene.root)
        self.scene.write("a", FILE)
        self.result(*flags, "--save", saved, server=self.peer())
        self.assertEqual((saved / "a").read_bytes(), FILE)
        for copy in (FILE + b"!", FILE[:-1], b"?" * len(FILE)):
            self.scene.write("a", copy)
            result = self.result(*flags, *KEPT, server=self.peer(), status=1)
            self.assertEqual(self.errors(result), {"mismatch": 2})
