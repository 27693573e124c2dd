"""Every store, model and kind of store connection gives the same replies to the same lines."""

import unittest

import e2e_path  # noqa: F401
from store_scene import PATIENT, PLAIN, StoreTest, combinations, flags_of

HIGH = bytes(range(0x80, 0x100))
PRINTABLE = bytes(range(0x20, 0x7F))
LONGEST = b"L" * 64

CONVERSATION: list[tuple[bytes, str]] = [
    (b"ping", "OK"),
    (b"auth:alice:wonderland", "denied"),
    (b"new:alice:wonderland", "OK"),
    (b"new:alice:wonderland", "exists"),
    (b"new:alice:other", "exists"),
    (b"auth:alice:wonderland", "OK"),
    (b"auth: alice: wonderland", "OK"),
    (b"auth:alice:other", "denied"),
    (b"auth:alice:wonderland ", "denied"),
    (b"auth:Alice:wonderland", "denied"),
    (b"new:ALICE:x", "OK"),
    (b"new:alice.:y", "OK"),
    (b"auth:alice:wonderland", "OK"),
    (b"auth:ALICE:x", "OK"),
    (b"auth:alice.:x", "denied"),
    (b"new:" + LONGEST + b":" + HIGH, "OK"),
    (b"auth:" + LONGEST + b":" + HIGH, "OK"),
    (b"auth:" + LONGEST[1:] + b":" + HIGH, "denied"),
    (b"new:printable:" + PRINTABLE, "OK"),
    (b"auth:printable:" + PRINTABLE, "OK"),
    (b"new:quotes:' OR '1'='1' -- \\\";%s*", "OK"),
    (b"auth:quotes:' OR '1'='1' -- \\\";%s*", "OK"),
    (b"auth:alice:' OR '1'='1", "denied"),
    (b"auth:al%:wonderland", "invalid"),
    (b"auth:alice:", "invalid"),
    (b"auth:alice", "syntax"),
    (b"new:bob\x00:x", "syntax"),
    (b"get:alice:wonderland", "syntax"),
    (b"ping", "OK"),
]


class SameConversationTest(unittest.TestCase):
    kind: str

    def test_every_line_gets_its_reply(self) -> None:
        for number, combination in enumerate(combinations()):
            with self.subTest(combination):
                scheme = PLAIN if "per-request" in combination else ()
                server = self.authserver(self.kind, *flags_of(combination), *PATIENT, *scheme)
                # Names of their own on one store: the longest name must stay as long.
                tag = b"abcd"[number : number + 1]
                client = self.client(server)
                for line, reply in CONVERSATION:
                    self.assertEqual(client.ask(self.tagged(line, tag)), reply, line)
                # And in one segment, from somebody else.
                replies = self.client(server).ask_all(
                    [self.tagged(line, tag) for line, _ in CONVERSATION]
                )
                self.assertEqual(
                    replies, [self.second_time(line, reply) for line, reply in CONVERSATION]
                )
                self.assertEqual(server.stop(), 0)

    @staticmethod
    def second_time(line: bytes, reply: str) -> str:
        """What a line of the conversation is answered once all of it has been said."""
        if line == b"auth:alice:wonderland":
            return "OK"
        return "exists" if line.startswith(b"new:") and reply == "OK" else reply

    @staticmethod
    def tagged(line: bytes, tag: bytes) -> bytes:
        for name in (b"printable:", b"quotes:", b"alice.:", b"Alice", b"ALICE", b"alice"):
            line = line.replace(b":" + name, b":" + tag + name).replace(
                b": " + name, b": " + tag + name
            )
        return line.replace(LONGEST, tag + LONGEST[1:])


class OnMariaDb(SameConversationTest, StoreTest):
    kind = "mysql"
    kinds = ("mysql",)


class OnRedis(SameConversationTest, StoreTest):
    kind = "redis"
    kinds = ("redis",)


class OnSqlite(SameConversationTest, StoreTest):
    kind = "sqlite"
    kinds = ()


del SameConversationTest  # a template
