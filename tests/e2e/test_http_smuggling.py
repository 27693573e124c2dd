"""--http-listen: malformed requests, each with a good one behind it that must not be seen.

Where two programs on the way of a request disagree about its end, somebody can put a request into
another one. So each request here has one answer, and the connection ends with it.
"""

from http_client import FLAG, HttpClient, basic
from scene import SharedSceneTest, create_account

_AUTH = b"Authorization: " + basic("alice", "wonderland").encode() + b"\r\n"
_GOOD = b"GET /f HTTP/1.1\r\nHost: localhost\r\n" + _AUTH + b"\r\n"


def _get(
    fields: bytes, first: bytes = b"GET /f HTTP/1.1\r\n", host: bytes = b"Host: localhost\r\n"
) -> bytes:
    return first + host + _AUTH + fields + b"\r\n"


def _put(fields: bytes, body: bytes) -> bytes:
    return b"PUT /f HTTP/1.1\r\nHost: localhost\r\n" + _AUTH + fields + b"\r\n" + body


def _chunked(body: bytes) -> bytes:
    return _put(b"Transfer-Encoding: chunked\r\n", body)


_FIRST_LINES = (
    b"GET /f HTTP/1.1\n",
    b"GET /f HTTP/1.1\r",
    b"GET /f HTTP/1.1 \r\n",
    b" GET /f HTTP/1.1\r\n",
    b"\tGET /f HTTP/1.1\r\n",
    b"GET\t/f HTTP/1.1\r\n",
    b"GET /f\tHTTP/1.1\r\n",
    b"GET  /f HTTP/1.1\r\n",
    b"GET /f  HTTP/1.1\r\n",
    b"GET /f g HTTP/1.1\r\n",
    b"GET /\x00f HTTP/1.1\r\n",
    b"GET /\x7ff HTTP/1.1\r\n",
    b"GET /f\x0bHTTP/1.1\r\n",
    b"GET /f#g HTTP/1.1\r\n",
    b"GET f HTTP/1.1\r\n",
    b"GET * HTTP/1.1\r\n",
    b"GET ?f HTTP/1.1\r\n",
    b"GET  HTTP/1.1\r\n",
    b"GET HTTP/1.1\r\n",
    b"GET /f\r\n",
    b"GET\r\n",
    b"GET /f HTTP/1\r\n",
    b"GET /f HTTP/1.\r\n",
    b"GET /f HTTP/.1\r\n",
    b"GET /f HTTP/1.11\r\n",
    b"GET /f HTTP/01.1\r\n",
    b"GET /f HTTP/1,1\r\n",
    b"GET /f HTTP/+1.1\r\n",
    b"GET /f HTTPS/1.1\r\n",
    b"GET /f http/1.1\r\n",
    b"GET /f HTTP 1.1\r\n",
    b"G\x00T /f HTTP/1.1\r\n",
    b"G{T /f HTTP/1.1\r\n",
    b"GET: /f HTTP/1.1\r\n",
    b"\r\n\r\nGET /f HTTP/1.1\r\n",
    b"\nGET /f HTTP/1.1\r\n",
    b"\rGET /f HTTP/1.1\r\n",
    b"GET http:///f HTTP/1.1\r\n",
)

_HOSTS = (
    b"",
    b"Host: x\r\nHost: x\r\n",
    b"Host: x\r\nhost: y\r\n",
    b"Host : x\r\n",
    b"Host\t: x\r\n",
    b" Host: x\r\n",
    b"Host: x y\r\n",
    b"Host: x/y\r\n",
    b"Host: x@y\r\n",
    b"Host: x\x00\r\n",
)

_FIELDS = (
    b" folded\r\n",
    b"X: a\r\n folded\r\n",
    b"X: a\r\n\tfolded\r\n",
    b"X: a\n",
    b"X: a\r",
    b"X: a\rY: b\r\n",
    b"X: a\x00b\r\n",
    b"X: a\x0bb\r\n",
    b"X: a\x7fb\r\n",
    b"X\r\n",
    b": a\r\n",
    b"X Y: a\r\n",
    b"X: a\r\n: b\r\n",
    b"X\x80: a\r\n",
    b"(X): a\r\n",
    b"X\x00: a\r\n",
    _AUTH,
    b"Content-Length: -1\r\n",
    b"Content-Length: +1\r\n",
    b"Content-Length: 0x1\r\n",
    b"Content-Length: 1.0\r\n",
    b"Content-Length: 1 1\r\n",
    b"Content-Length: 1,1\r\n",
    b"Content-Length: 1\r\nContent-Length: 1\r\n",
    b"Content-Length: 0\r\nContent-Length: 1\r\n",
    b"Content-Length:\r\n",
    b"Content-Length: x\r\n",
    b"Content-Length: 1_0\r\n",
    b"Content-Length: 18446744073709551616\r\n",
    b"Content-Length: 99999999999999999999999999999999\r\n",
    b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked, chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: chunked, gzip\r\n",
    b"Transfer-Encoding: ,chunked\r\n",
    b"Transfer-Encoding: chunked,\r\n",
    b"Transfer-Encoding: chunked;x=1\r\n",
    b'Transfer-Encoding: "chunked"\r\n',
    b"Transfer-Encoding: \x0bchunked\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: chunkedx\r\n",
    b"Transfer-Encoding:\r\n",
    b"Transfer-Encoding : chunked\r\n",
)

_CHUNKED_BODIES = (
    b"\r\n",
    b";\r\n",
    b" 1\r\nx\r\n0\r\n\r\n",
    b"1 \r\nx\r\n0\r\n\r\n",
    b"+1\r\nx\r\n0\r\n\r\n",
    b"-1\r\nx\r\n0\r\n\r\n",
    b"0x1\r\nx\r\n0\r\n\r\n",
    b"g\r\nx\r\n0\r\n\r\n",
    b"1\nx\r\n0\r\n\r\n",
    b"1\rx\r\n0\r\n\r\n",
    b"1\r\nxy\r\n0\r\n\r\n",
    b"1\r\nx\n0\r\n\r\n",
    b"1\r\nx\r0\r\n\r\n",
    b"1\r\nxXX0\r\n\r\n",
    b"1;a\nb\r\nx\r\n0\r\n\r\n",
    b"1;a\x00\r\nx\r\n0\r\n\r\n",
    b"00000000000000001\r\nx\r\n0\r\n\r\n",
    b"10000000000000000\r\nx\r\n0\r\n\r\n",
    b"0\n\n",
    b"0\r\n\n",
    b"0\r\nX\r\n\r\n",
    b"0\r\nX: a\n\r\n",
    b"0\r\n X: a\r\n\r\n",
    b"0\r\nX : a\r\n\r\n",
)


class SmugglingTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("f", b"content")
        authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
        cls.server = cls.scene.fileserver(authserver, *FLAG, "--uploads", "sink")

    def check(self, data: bytes) -> None:
        """400, and the end of the connection: nobody sees the request behind it."""
        client = HttpClient(self.server)
        try:
            client.send(data + _GOOD)
            answer = client.answer()
            self.assertEqual((answer.status, answer.closes()), (400, True), data)
            self.assertTrue(client.is_ended(), data)
        finally:
            client.close()

    def test_the_same_requests_without_a_mistake(self) -> None:
        for data, status in (
            (_GOOD, 200),
            (_put(b"Content-Length: 1\r\n", b"x"), 204),
            (_chunked(b"1;a=b\r\nx\r\n0\r\nX: a\r\n\r\n"), 204),
        ):
            client = HttpClient(self.server)
            client.send(data + _GOOD)
            self.assertEqual((client.answer().status, client.answer().status), (status, 200))
            client.close()

    def test_there_are_a_hundred(self) -> None:
        every = (*_FIRST_LINES, *_HOSTS, *_FIELDS, *_CHUNKED_BODIES)
        self.assertEqual(len(set(every)), len(every))
        self.assertGreater(len(every), 100)

    def test_first_lines(self) -> None:
        for line in _FIRST_LINES:
            self.check(_get(b"", line))

    def test_hosts(self) -> None:
        for host in _HOSTS:
            self.check(_get(b"", host=host))

    def test_fields(self) -> None:
        for field in _FIELDS:
            self.check(_get(field))

    def test_chunked_bodies(self) -> None:
        for body in _CHUNKED_BODIES:
            self.check(_chunked(body))


class SmugglingOfLoopsTest(SmugglingTest):
    model = "event"
