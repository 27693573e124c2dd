"""The same conversation with every combination of the flags that choose how the servers work."""

import itertools

from client import Client, grant
from scene import SharedSceneTest

MODELS = ("thread", "process")
FILES = ("prefetch", "disk")
AUTH_CONNECTIONS = ("persistent", "per-request")
SPARES = ("0", "default")


class Conversation:
    """The tests. Each combination of flags has a class of its own, made below."""

    auth_flags: tuple
    file_flags: tuple

    @classmethod
    def prepare(cls) -> None:
        cls.contents = {b"a.txt": b"content", b"empty": b"", b"sub/big": bytes(range(256)) * 4000}
        for name, content in cls.contents.items():
            cls.scene.write(name, content)
        cls.authserver = cls.scene.authserver_of_alice(*cls.auth_flags)
        cls.fileserver = cls.scene.fileserver(cls.authserver, *cls.file_flags)

    def client(self) -> Client:
        return self.connect(self.fileserver)

    def test_an_account_is_made_granted_and_fetches_files(self) -> None:
        client = self.client()
        self.assertEqual(
            client.ask_all(
                [b"ping", b"a.txt", b"new:carol:pw", b"new:carol:pw", b"a.txt", b"get:carol:pw"]
            ),
            ["OK", "denied", "OK", "exists", "denied", "OK"],
        )
        self.assertEqual(client.ask_all(list(self.contents) * 3), list(self.contents.values()) * 3)

    def test_every_error_that_a_client_can_make(self) -> None:
        lines_and_replies = (
            (b"", "syntax"),
            (b"get:", "syntax"),
            (b"get::x", "invalid"),
            (b"get:nobody:pw", "denied"),
            (b"get:alice:wrong", "denied"),
            (b"a.txt", "denied"),
            (b"get: alice: wonderland", "OK"),
            (b"none", "not-found"),
            (b"../x", "not-found"),
            (b"sub", "not-found"),
            (b"\x01", "syntax"),
            (b"a.txt", b"content"),
        )
        client = self.client()
        replies = client.ask_all([line for line, _ in lines_and_replies])
        self.assertEqual(replies, [reply for _, reply in lines_and_replies])
        client.send(b"x" * 512)
        self.assertEqual(client.reply(), "too-long")
        self.assertTrue(client.is_ended())

    def test_many_connections_at_once_and_one_after_the_other(self) -> None:
        for _ in range(3):
            clients = [Client(self.fileserver.address) for _ in range(10)]
            for client in clients:
                client.send(b"get:alice:wonderland\na.txt\nsub/big\n")
            for client in clients:
                self.assertEqual(client.replies(3), ["OK", b"content", self.contents[b"sub/big"]])
                client.close()

    def test_a_half_closed_connection_gets_every_reply(self) -> None:
        client = self.client()
        client.send(b"get:alice:wonderland\nsub/big\nget:alice:wrong\nsub/big\nping\nping")
        client.half_close()
        self.assertEqual(
            client.replies(5), ["OK", self.contents[b"sub/big"], "denied", "denied", "OK"]
        )
        self.assertTrue(client.is_ended())

    def test_the_authserver_can_be_asked_directly(self) -> None:
        client = self.connect(self.authserver)
        self.assertEqual(
            client.ask_all(
                [b"ping", b"auth:alice:wonderland", b"auth:alice:x", b"get:alice:x", b"new:alice:x"]
            ),
            ["OK", "OK", "denied", "syntax", "exists"],
        )

    def test_every_new_connection_must_log_in_again(self) -> None:
        for _ in range(5):
            client = Client(self.fileserver.address)
            self.assertEqual(client.ask("a.txt"), "denied")
            grant(client)
            self.assertEqual(client.ask("a.txt"), b"content")
            client.close()


for model, files, connection, spare in itertools.product(MODELS, FILES, AUTH_CONNECTIONS, SPARES):
    auth_flags = ["--model", model]
    file_flags = ["--files", files, "--auth-connection", connection]
    if spare != "default":
        auth_flags += ["--spare-workers", spare]
        file_flags += ["--spare-threads", spare]
    # Under its name here, so that one of its tests can be run alone.
    name = f"{model}, {files}, {connection}, spare {spare}"
    flags = {"auth_flags": auth_flags, "file_flags": file_flags}
    globals()[name] = type(name, (Conversation, SharedSceneTest), flags)
