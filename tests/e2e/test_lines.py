"""How both servers cut bytes into lines, and what they reply."""

import random
from typing import ClassVar

from client import Client
from scene import SharedSceneTest, with_loops

CONTROL_BYTES = [bytes([value]) for value in [*range(0x20), 0x7F] if value != 0x0A]


class LineTests:
    """Tests that hold for both servers. A subclass names a line that can be made longer."""

    # The reply to `padded_line` is `padded_reply`, also if bytes are added at its end.
    padded_line: bytes
    padded_reply: str

    def client(self) -> Client:
        raise NotImplementedError

    def line_of(self, size: int) -> bytes:
        """A line without its ending, `size` bytes long."""
        return self.padded_line + b"x" * (size - len(self.padded_line))

    def assert_stays(self, client: Client) -> None:
        self.assertEqual(client.ask("ping"), "OK")

    def test_an_empty_line_is_a_syntax_error_and_the_connection_stays(self) -> None:
        client = self.client()
        for line in (b"", b"\r"):
            self.assertEqual(client.ask(line), "syntax")
            self.assert_stays(client)

    def test_one_cr_before_the_lf_is_dropped(self) -> None:
        self.assertEqual(self.client().ask(b"ping\r"), "OK")

    def test_a_second_cr_before_the_lf_is_a_control_byte(self) -> None:
        client = self.client()
        self.assertEqual(client.ask(b"ping\r\r"), "syntax")
        self.assert_stays(client)

    def test_a_control_byte_anywhere_is_a_syntax_error_and_the_connection_stays(self) -> None:
        client = self.client()
        for byte in CONTROL_BYTES:
            for line in (
                byte + b"ping",
                b"pi" + byte + b"ng",
                b"new:" + byte + b":x",
                b"new:x:y" + byte + b"z",
            ):
                self.assertEqual(client.ask(line), "syntax", line)
        for byte in set(CONTROL_BYTES) - {b"\r"}:
            self.assertEqual(client.ask(b"ping" + byte), "syntax", byte)
        self.assert_stays(client)

    def test_a_control_byte_is_checked_before_anything_else(self) -> None:
        # Without the control byte, each of these lines would be `invalid`.
        client = self.client()
        for line in (b"new::\x01", b"new:a b:\x7f", b"new:" + b"u" * 65 + b":p\x00"):
            self.assertEqual(client.ask(line), "syntax", line)

    def test_512_bytes_with_the_line_ending_are_a_line(self) -> None:
        client = self.client()
        for line in (
            self.line_of(511) + b"\n",
            self.line_of(510) + b"\r\n",
            self.line_of(510) + b"\n",
        ):
            client.send(line)
            self.assertEqual(client.reply(), self.padded_reply)
        self.assert_stays(client)

    def test_513_bytes_with_the_line_ending_are_too_long_and_the_connection_is_closed(self) -> None:
        for line in (self.line_of(512) + b"\n", self.line_of(511) + b"\r\n"):
            client = self.client()
            client.send(line)
            self.assertEqual(client.reply(), "too-long")
            self.assertTrue(client.is_ended())

    def test_512_bytes_without_a_line_ending_are_answered_at_once(self) -> None:
        client = self.client()
        client.send(self.line_of(512))
        self.assertEqual(client.reply(), "too-long")
        self.assertTrue(client.is_ended())

    def test_511_bytes_without_a_line_ending_are_waited_for(self) -> None:
        client = self.client()
        client.send(self.line_of(511))
        client.send(b"\n")
        self.assertEqual(client.reply(), self.padded_reply)

    def test_512_control_bytes_are_too_long(self) -> None:
        client = self.client()
        client.send(b"\0" * 512)
        self.assertEqual(client.reply(), "too-long")
        self.assertTrue(client.is_ended())

    def test_too_long_is_read_even_by_a_client_that_goes_on_sending(self) -> None:
        client = self.client()
        client.send(b"ping\n" + b"x" * 200_000)
        self.assertEqual(client.replies(2), ["OK", "too-long"])

    def test_what_follows_a_line_that_is_too_long_is_not_carried_out(self) -> None:
        client = self.client()
        client.send(b"ping\n" + self.line_of(512) + b"\nnew:follower:pw\nping\n")
        self.assertEqual(client.replies(2), ["OK", "too-long"])
        self.assertTrue(client.is_ended())
        self.assertEqual(self.client().ask("new:follower:pw"), "OK")

    def test_lines_of_every_length_are_told_apart_when_they_come_at_once(self) -> None:
        client = self.client()
        lengths = list(range(len(self.padded_line), 512))
        random.Random(1).shuffle(lengths)
        replies = client.ask_all([self.line_of(length) for length in lengths])
        self.assertEqual(replies, [self.padded_reply] * len(lengths))

    CONVERSATION = (
        b"ping",
        b"",
        b"new:bob:secret",
        b"new:bob:secret\r",
        b"new:\x01",
        b"new:b d:x",
        b"new:bob",
        b"ping",
    )
    REPLIES: ClassVar = ["OK", "syntax", "exists", "exists", "syntax", "invalid", "syntax", "OK"]

    def conversation(self) -> bytes:
        return b"".join(line + b"\n" for line in self.CONVERSATION)

    def test_a_conversation_may_be_cut_in_two_at_every_byte(self) -> None:
        client = self.client()
        whole = self.conversation()
        for cut in range(1, len(whole)):
            client.send(whole[:cut])
            complete = whole[:cut].count(b"\n")
            # After the replies, the first part has been read; the second part comes separately.
            self.assertEqual(client.replies(complete), self.REPLIES[:complete])
            client.send(whole[cut:])
            self.assertEqual(client.replies(len(self.REPLIES) - complete), self.REPLIES[complete:])

    def test_a_conversation_may_come_byte_by_byte(self) -> None:
        client = self.client()
        for value in self.conversation():
            client.send(bytes([value]))
        self.assertEqual(client.replies(len(self.REPLIES)), self.REPLIES)

    def test_many_lines_in_one_segment_are_all_answered_in_order(self) -> None:
        client = self.client()
        client.send(self.conversation() * 100)
        self.assertEqual(client.replies(100 * len(self.REPLIES)), self.REPLIES * 100)

    def test_a_client_that_has_shut_down_its_sending_side_gets_every_reply(self) -> None:
        client = self.client()
        client.send(self.conversation() * 20)
        client.half_close()
        self.assertEqual(client.replies(20 * len(self.REPLIES)), self.REPLIES * 20)
        self.assertTrue(client.is_ended())

    def test_a_last_line_without_lf_is_not_carried_out(self) -> None:
        for ending in (b"", b"\r"):
            client = self.client()
            client.send(b"ping\nnew:unfinished:pw" + ending)
            client.half_close()
            self.assertEqual(client.reply(), "OK")
            self.assertTrue(client.is_ended())
        self.assertEqual(self.client().ask(b"new:unfinished:pw"), "OK")

    def test_a_client_that_sends_nothing_gets_nothing(self) -> None:
        client = self.client()
        client.half_close()
        self.assertTrue(client.is_ended())


class AuthserverLinesTest(LineTests, SharedSceneTest):
    padded_line, padded_reply = b"who", "syntax"

    @classmethod
    def prepare(cls) -> None:
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")

    def setUp(self) -> None:
        self.client().ask("new:bob:secret")

    def client(self) -> Client:
        return self.connect(self.authserver)


@with_loops
class FileserverLinesTest(LineTests, SharedSceneTest):
    padded_line, padded_reply = b"file", "denied"

    @classmethod
    def prepare(cls) -> None:
        cls.fileserver = cls.scene.fileserver(cls.scene.authserver("--password-scheme", "plain"))

    def setUp(self) -> None:
        self.client().ask("new:bob:secret")

    def client(self) -> Client:
        return self.connect(self.fileserver)


class AuthserverLinesOfProcessesTest(AuthserverLinesTest):
    @classmethod
    def prepare(cls) -> None:
        cls.authserver = cls.scene.authserver("--model", "process", "--password-scheme", "plain")


@with_loops
class GrantedLinesTest(SharedSceneTest):
    """Lines that ask for files among other lines, sent in one segment and byte by byte."""

    LINES: ClassVar = [
        b"get:alice:wonderland",
        b"a.txt",
        b"empty",
        b"none",
        b"",
        b"big",
        b"ping",
        b"a.txt",
    ]

    @classmethod
    def prepare(cls) -> None:
        cls.big = random.Random(2).randbytes(300_000)
        for name, content in (("a.txt", b"a\nOK 7\n"), ("empty", b""), ("big", cls.big)):
            cls.scene.write(name, content)
        authserver = cls.scene.authserver_of_alice()
        cls.fileserver = cls.scene.fileserver(authserver)
        cls.replies = ["OK", b"a\nOK 7\n", b"", "not-found", "syntax", cls.big, "OK", b"a\nOK 7\n"]

    def test_files_come_in_order_with_the_other_replies(self) -> None:
        client = self.connect(self.fileserver)
        self.assertEqual(client.ask_all(self.LINES * 5), self.replies * 5)

    def test_files_come_in_order_when_the_lines_come_byte_by_byte(self) -> None:
        client = self.connect(self.fileserver)
        for value in b"".join(line + b"\n" for line in self.LINES):
            client.send(bytes([value]))
        self.assertEqual(client.replies(len(self.LINES)), self.replies)

    def test_a_client_that_has_shut_down_its_sending_side_gets_every_file(self) -> None:
        client = self.connect(self.fileserver)
        client.send(b"".join(line + b"\n" for line in self.LINES) + b"a.txt")
        client.half_close()
        self.assertEqual(client.replies(len(self.LINES)), self.replies)
        self.assertTrue(client.is_ended())

    def test_a_file_before_a_line_that_is_too_long_comes_whole(self) -> None:
        """Whatever is unread when the server closes, it may not reset what is under way."""
        client = self.connect(self.fileserver, receive_buffer=4096)
        client.send(b"get:alice:wonderland\nbig\n" + b"x" * 20_000)
        self.assertEqual(client.replies(3), ["OK", self.big, "too-long"])
