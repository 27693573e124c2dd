"""The XML bodies of PROPFIND and PROPPATCH: what is malformed, and how much may come."""

from dav import ALL, DavAnswer, ask
from http_client import FLAG, HttpClient, basic, request
from scene import SharedSceneTest, create_account

_LOGIN = f"Authorization: {basic('alice', 'wonderland')}"


class BodiesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("file.txt", b"0123456")
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(cls.authserver)
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG, "--uploads", "folder")

    def ask(self, path: str, *fields: str, body: bytes, method: str = "PROPFIND") -> DavAnswer:
        return ask(self.server, method, path, *fields, body=body)

    def test_bodies_that_are_refused(self) -> None:
        for body in (b" ", b"x", b"<a>", ALL[:-1], b"<propfind><allprop/></propfind>",
                     b'<propfind xmlns="DAV:"/>', b'<D:prop xmlns:D=""/>',
                     b'<!DOCTYPE a [<!ENTITY b "c">]>' + ALL):  # fmt: skip
            with self.subTest(body):
                self.assertEqual(self.ask("/", "Depth: 0", body=body).status, 400)
        for method in ("PROPFIND", "PROPPATCH", "LOCK"):
            zipped = self.ask("/", "Depth: 0", "Content-Encoding: gzip", body=ALL, method=method)
            self.assertEqual(zipped.status, 415, method)

    def test_the_elements_of_a_body_are_bounded(self) -> None:
        def deep(depth: int) -> bytes:
            return b"<D:a>" * depth + b"</D:a>" * depth

        def named(size: int) -> bytes:
            return b"<x/>".replace(b"x", b"x" * size)

        for inside, status in (
            (b"<D:a/>" * 1_998, 207),
            (b"<D:a/>" * 1_999, 400),
            (deep(30), 207),
            (deep(31), 400),
            (named(512), 207),
            (named(513), 400),
        ):
            body = b'<D:propfind xmlns:D="DAV:"><D:prop>' + inside + b"</D:prop></D:propfind>"
            with self.subTest(body[:80], size=len(body)):
                self.assertEqual(self.ask("/file.txt", "Depth: 0", body=body).status, status)

    def test_a_body_is_bounded(self) -> None:
        most = 64 << 10
        fits = ALL + b" " * (most - len(ALL))
        self.assertEqual(self.ask("/", "Depth: 0", body=fits).status, 207)
        self.assertEqual(self.ask("/", "Depth: 0", body=fits + b" ").status, 413)
        client = HttpClient(self.server)
        self.addCleanup(client.close)
        chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        client.send(request("/", _LOGIN, "Transfer-Encoding: chunked", method="PROPFIND"))
        client.send(3 * chunk)
        self.assertEqual(client.answer().status, 413)


class BodiesOfLoopsTest(BodiesTest):
    model = "event"
