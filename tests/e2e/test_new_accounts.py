"""--new-accounts closed: nobody creates accounts through the fileserver."""

from http_client import FLAG, HttpClient
from scene import SceneTest


class NewAccountsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("a.txt", b"content")
        self.authserver = self.scene.authserver_of_alice()

    def test_new_is_denied_before_it_is_taken_apart(self) -> None:
        fileserver = self.scene.fileserver(self.authserver, "--new-accounts", "closed")
        client = self.scene.client(fileserver)
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        for line in (
            *("new:bob:pw", "new: bob: pw", "new:alice:other", "new:", "new:bob", "new::"),
            *("new:b b:pw", "new:bob:", "new:bob:" + "p" * 129, "new:" + "u" * 65 + ":pw"),
        ):
            with self.subTest(line):
                self.assertEqual(client.ask(line), "denied")
        self.assertEqual(client.ask("new:bob:\x01"), "syntax")
        self.assertEqual(client.ask(b"a.txt"), b"content")  # the connection keeps its user
        self.assertEqual(client.ask("get:bob:pw"), "denied")

    def test_the_authserver_is_not_asked(self) -> None:
        self.authserver.stop()
        fileserver = self.scene.fileserver(self.authserver, "--new-accounts", "closed")
        self.assertEqual(self.scene.client(fileserver).ask("new:bob:pw"), "denied")

    def test_by_http_it_is_forbidden_whatever_the_body_is(self) -> None:
        fileserver = self.scene.fileserver(self.authserver, "--new-accounts", "closed", *FLAG)
        for body in (b'{"user": "bob", "password": "pw"}', b"x", b""):
            client = self.scene.keep(HttpClient(fileserver))
            self.assertEqual(client.ask("/-/accounts", method="POST", body=body).status, 403)
        self.assertEqual(self.scene.client(fileserver).ask("get:bob:pw"), "denied")

    def test_open_is_the_default(self) -> None:
        for number, flags in enumerate(((), ("--new-accounts", "open"))):
            client = self.scene.client(self.scene.fileserver(self.authserver, *flags))
            self.assertEqual(client.ask(f"new:bob{number}:pw"), "OK")
            self.assertEqual(client.ask("new:bob:"), "invalid")
