"""h11 as a client: it refuses an answer whose framing is not what RFC 9112 says.

Such as a body behind the head of a 304, or one byte too many or too few.
"""

import sys

import shared_path  # noqa: F401
from client import Client
from judge_scene import AUTHORIZATION, FILES, PYTHON_TOOLS, SMALL, JudgeTest, needs_python_tools

# It is only Python, so ours can import it from there.
sys.path += map(str, PYTHON_TOOLS.glob("lib/python3*/site-packages"))
try:
    import h11
except ImportError:
    h11 = None

_FIELDS = [("Host", "localhost"), tuple(AUTHORIZATION.split(": "))]


class StrictClient:
    """One connection. Each answer has to end where h11 says that it ends."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.client = Client(address)
        self._h11 = h11.Connection(h11.CLIENT)

    def close(self) -> None:
        self.client.close()

    def send(self, *events) -> bytes:
        """Lets h11 send a request, and returns its bytes instead."""
        return b"".join(self._h11.send(event) or b"" for event in events)

    def answer(self) -> tuple[int, bytes]:
        """Returns the status and the body of the next answer that is not an interim one."""
        status, body = 0, b""
        while not isinstance(event := self._next(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
        return status, body

    def next_cycle(self) -> None:
        self._h11.start_next_cycle()

    def is_closed(self) -> bool:
        """Whether the last answer has said that the server closes, and it has then."""
        return self._h11.their_state is h11.MUST_CLOSE and self.client.socket.recv(1) == b""

    def _next(self):
        while (event := self._h11.next_event()) is h11.NEED_DATA:
            self._h11.receive_data(self.client.socket.recv(1 << 16))
        return event


@needs_python_tools
class StrictClientTest(JudgeTest):
    def strict(self) -> StrictClient:
        client = StrictClient(self.server.further_address("http"))
        self.addCleanup(client.close)
        return client

    def ask(self, client: StrictClient, method: str, target: str, *fields, body: bytes = b""):
        head = h11.Request(method=method, target=target, headers=[*_FIELDS, *fields])
        data = [h11.Data(data=body)] if body else []
        client.client.send(client.send(head, *data, h11.EndOfMessage()))
        return client.answer()

    def test_all_kinds_of_answers_on_one_connection(self) -> None:
        client = self.strict()
        length = ("Content-Length", "4")
        for status, expected, method, target, *fields in (
            (200, SMALL, "GET", "/small.txt"),
            (200, b"", "HEAD", "/small.txt"),
            (200, FILES["large.bin"], "GET", "/large.bin"),
            (200, b"", "HEAD", "/large.bin"),
            (200, b"", "GET", "/sub/empty"),
            (206, SMALL[3:8], "GET", "/small.txt", ("Range", "bytes=3-7")),
            (416, None, "GET", "/small.txt", ("Range", "bytes=1000-")),
            (304, b"", "GET", "/small.txt", ("If-None-Match", "*")),
            (304, b"", "HEAD", "/small.txt", ("If-None-Match", "*")),
            (412, None, "GET", "/small.txt", ("If-Match", '"x"')),
            (404, None, "GET", "/nothing"),
            (404, b"", "HEAD", "/nothing"),
            (301, None, "GET", "/sub"),
            (200, None, "GET", "/"),
            (200, b"", "HEAD", "/"),
            (204, b"", "OPTIONS", "/"),
            (204, b"", "OPTIONS", "*"),
            (405, None, "POST", "/small.txt"),
            (501, None, "FISH", "/small.txt"),
            (201, None, "PUT", "/new", length),
            (204, b"", "PUT", "/new", length),
            (204, b"", "PUT", "/new", ("Transfer-Encoding", "chunked")),
            (201, None, "PUT", "/waits", length, ("Expect", "100-continue")),
            (200, b"body", "GET", "/new"),
            (204, b"", "DELETE", "/new"),
            (201, None, "MKCOL", "/folder"),
            (405, None, "MKCOL", "/folder"),
        ):
            with self.subTest(f"{method} {target} {fields}"):
                body = b"body" if method == "PUT" else b""
                answer = self.ask(client, method, target, *fields, body=body)
                self.assertEqual(answer[0], status)
                if expected is not None:
                    self.assertEqual(answer[1], expected)
                client.next_cycle()

    def test_several_parts(self) -> None:
        client = self.strict()
        for ranges in ("0-1,50-51", "-1,0-0", "0-1,20-21,40-41,60-61"):
            status, body = self.ask(client, "GET", "/small.txt", ("Range", f"bytes={ranges}"))
            self.assertEqual((status, body[-4:]), (206, b"--\r\n"))
            client.next_cycle()

    def test_pipelined_requests_are_answered_in_turn(self) -> None:
        client = self.strict()
        asked = (("GET", "/small.txt"), ("HEAD", "/large.bin"), ("GET", "/nothing"), ("GET", "/"))
        events = [
            (h11.Request(method=method, target=target, headers=_FIELDS), h11.EndOfMessage())
            for method, target in asked * 10
        ]
        client.client.send(b"".join(h11.Connection(h11.CLIENT).send(head) for head, _ in events))
        for (head, end), status in zip(events, (200, 200, 404, 200) * 10):
            client.send(head, end)
            self.assertEqual(client.answer()[0], status)
            client.next_cycle()

    def test_an_answer_that_ends_the_connection(self) -> None:
        for asked in (
            ("GET", "/small.txt", ("Connection", "close")),
            ("GET", "/small.txt", ("Expect", "cake")),
            ("GET", f"/{'x' * 9000}"),
        ):
            client = self.strict()
            self.ask(client, *asked)
            self.assertTrue(client.is_closed(), asked)
