"""Clients that ask for everything, by HTTP and natively, and note what they got."""

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable

import versions
from client import Client, ConnectionEndedError, grant
from http_client import Answer, HttpClient, basic, request
from names import FILES, FOLDERS, LINKED, MADE, SIZES
from observations import Asked, Part
from programs import Program
from timeline import Timeline

USER = ("alice", "wonderland")
_CREDENTIALS = f"Authorization: {basic(*USER)}"
_SLOWEST_S = 0.4
_WHOLE = (("GET", 200), ("PUT", 201), ("PUT", 204))  # of these the client knows all bytes
_PART = re.compile(rb"\r\nContent-Range: bytes (\d+)-\d+/(\d+)\r\n\r\n", re.IGNORECASE)


class Notes:
    """All that was asked. Threads: any."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.all: list[Asked] = []

    def begin(self, method: str, name: str, *fields: str, sent: bytes | None = None) -> Asked:
        pairs = dict(field.split(": ", 1) for field in fields)
        asked = Asked(method, name, self.timeline.now(), fields=pairs, sent=sent)
        self.all.append(asked)
        return asked


class NativeReader:
    def __init__(self, server: Program, notes: Notes, seed: str) -> None:
        self._server, self._notes, self._dice = server, notes, random.Random(seed)

    def live(self, is_over: threading.Event) -> None:
        client: Client | None = None
        while not is_over.wait(self._dice.uniform(0, 0.02)):
            if client is None:
                client = Client(self._server.address, receive_buffer=1 << 14)
                grant(client, *USER)
            if not self.get(client, self._dice.choice((*FILES, *LINKED))):
                client.close()
                client = None
        if client is not None:
            client.close()

    def get(self, client: Client, name: str) -> Asked | None:
        """Nothing if the connection has ended."""
        asked = self._notes.begin("get", name)
        try:
            reply = client.ask(name)
        except (ConnectionEndedError, BrokenPipeError):
            reply = ""
        asked.end = self._notes.timeline.now()
        if isinstance(reply, bytes):
            asked.status, asked.body = 200, reply
        elif reply:
            asked.status = 404 if reply == "not-found" else 500
        return asked if reply != "" else None


class HttpPeer:
    """One connection at a time. Each kind of request is a method, which the dice choose."""

    def __init__(self, server: Program, notes: Notes, seed: str) -> None:
        self._server, self._notes, self._dice = server, notes, random.Random(seed)
        self._client: HttpClient | None = None
        self._known: dict[str, Asked] = {}  # the last whole answer, or upload, of each name
        kinds: dict[Callable[[str], object], int] = {
            self.get: 20,
            self._head: 5,
            self._range: 8,
            self._ranges: 4,
            self._resume: 14,
            self._get_if: 12,
            self._put: 12,
            self._put_if: 10,
            self._put_in_chunks: 4,
            self._put_slowly: 8,
            self._put_and_leave: 3,
            self._put_two: 6,
            self._delete: 5,
            self._list: 8,
            self._change_folder: 4,
        }
        self._kinds = [kind for kind, weight in kinds.items() for _ in range(weight)]

    def live(self, is_over: threading.Event) -> None:
        while not is_over.wait(self._dice.uniform(0, 0.02)):
            kind, name = self._dice.choice(self._kinds), self._dice.choice((*FILES, "top"))
            kind(name)
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def _connected(self) -> HttpClient:
        if self._client is None:
            self._client = HttpClient(self._server, *USER)
        return self._client

    def _finish(self, asked: Asked, client: HttpClient) -> Answer | None:
        """Takes the answer. Nothing if the connection ended before it was complete."""
        try:
            answer = client.answer(asked.method)
        except (ConnectionEndedError, BrokenPipeError):
            asked.end = self._notes.timeline.now()
            return None
        asked.end = self._notes.timeline.now()
        asked.status, asked.body = answer.status, answer.body
        asked.tag = answer.fields.get("etag", "")
        asked.date = answer.fields.get("last-modified", "")
        asked.size = int(answer.fields.get("content-length", -1))
        if answer.status == 206:
            asked.parts, asked.body = _parts(answer), b""
        if asked.tag and (asked.method, answer.status) in _WHOLE:
            self._known[asked.name] = asked
        return answer

    def ask(
        self, method: str, name: str, *fields: str, sent: bytes | None = None, target: str = ""
    ) -> Asked:
        client = self._connected()
        asked = self._notes.begin(method, name, *fields, sent=sent)
        length = () if sent is None else (f"Content-Length: {len(sent)}",)
        lines = (_CREDENTIALS, *fields, *length)
        answer = None
        try:
            client.send(request(target or f"/{name}", *lines, method=method, body=sent or b""))
        except (ConnectionResetError, BrokenPipeError):
            asked.end = self._notes.timeline.now()
        else:
            answer = self._finish(asked, client)
        if answer is None or answer.closes():
            self.close()
        return asked

    def get(self, name: str, *fields: str) -> Asked:
        return self.ask("GET", name, *fields)

    def _head(self, name: str) -> None:
        self.ask("HEAD", name)

    def _range(self, name: str) -> None:
        begin = self._dice.choice((0, 10, 32, 4000, 150_000))
        end = self._dice.choice(("", str(begin + 50)))
        self.get(name, self._dice.choice((f"Range: bytes={begin}-{end}", "Range: bytes=-40")))

    def _ranges(self, name: str) -> None:
        self.get(name, "Range: bytes=0-9,20-29,-10")

    def _resume(self, name: str) -> None:
        """A client that lost its connection in the middle of a file asks for the rest."""
        first = self._known.get(name)
        if first is None or self._dice.random() < 0.5:
            first = self.get(name)
            if self._dice.random() < 0.5:
                self._put(name)
            time.sleep(self._dice.uniform(0, 0.1))
        whole = first.sent or first.body
        if (first.method, first.status) not in _WHOLE or len(whole) < 2:
            return
        half = len(whole) // 2
        validator = self._dice.choice((first.tag, first.date or first.tag))
        asked = self.get(name, f"Range: bytes={half}-", f"If-Range: {validator}")
        asked.resumed = first

    def _get_if(self, name: str) -> None:
        if known := self._known.get(name):
            self.get(
                name, self._dice.choice((f"If-None-Match: {known.tag}", f"If-Match: {known.tag}"))
            )

    def _fresh(self) -> bytes:
        return versions.fresh(self._dice.choice(SIZES))

    def _put(self, name: str, *fields: str) -> Asked:
        return self.ask("PUT", name, *fields, sent=self._fresh())

    def _put_if(self, name: str) -> None:
        if known := self._known.get(name):
            self._put(name, self._dice.choice((f"If-Match: {known.tag}", "If-None-Match: *")))

    def _put_in_chunks(self, name: str) -> None:
        self._send_slowly(name, self._fresh(), "Transfer-Encoding: chunked")

    def _put_slowly(self, name: str) -> None:
        content = self._fresh()
        self._send_slowly(name, content, f"Content-Length: {len(content)}")

    def _send_slowly(self, name: str, content: bytes, framing: str) -> None:
        client = self._connected()
        asked = self._notes.begin("PUT", name, framing, sent=content)
        is_chunked = framing.endswith("chunked")
        try:
            client.send(request(f"/{name}", _CREDENTIALS, framing, method="PUT"))
            half = len(content) // 2
            for piece in (content[:half], content[half:]):
                time.sleep(self._dice.uniform(0, _SLOWEST_S))
                client.send(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            client.send(b"0\r\n\r\n" if is_chunked else b"")
        except (ConnectionResetError, BrokenPipeError):
            pass  # an answer before the end of the body; it may still be read
        answer = self._finish(asked, client)
        if answer is None or answer.closes():
            self.close()

    def _put_and_leave(self, name: str) -> None:
        """The last byte never comes, so nothing may change."""
        client = self._connected()
        content = self._fresh()
        asked = self._notes.begin("PUT", name, "X: leaves")
        head = request(f"/{name}", _CREDENTIALS, f"Content-Length: {len(content)}", method="PUT")
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            client.send(head + content[:-1])
        self.close()
        asked.end = self._notes.timeline.now()

    def _put_two(self, name: str) -> None:
        """Two uploads of one size, whose last bytes come at the same moment."""
        size = self._dice.choice(SIZES)
        two = [HttpClient(self._server, *USER) for _ in range(2)]
        contents = [versions.fresh(size) for _ in two]
        asked = [self._notes.begin("PUT", name, sent=content) for content in contents]
        head = request(f"/{name}", _CREDENTIALS, f"Content-Length: {size}", method="PUT")
        try:
            for client, content in zip(two, contents):
                client.send(head + content[:-1])
            time.sleep(0.02)
            for client, content in zip(two, contents):
                client.send(content[-1:])
        except (ConnectionResetError, BrokenPipeError):
            pass
        for client, one in zip(two, asked):
            self._finish(one, client)
            client.close()
        for one in asked:
            self.get(name, *((f"If-None-Match: {one.tag}",) if one.tag else ()))

    def _delete(self, name: str) -> None:
        self.ask("DELETE", name)

    def _list(self, _name: str) -> None:
        folder = self._dice.choice(("", *FOLDERS))
        self.list(folder, self._dice.choice(("application/json", "text/html")))

    def list(self, folder: str, accepted: str) -> Asked:
        target = f"/{folder}/" if folder else "/"
        return self.ask("GET", folder, f"Accept: {accepted}", target=target)

    def _change_folder(self, _name: str) -> None:
        self.ask(self._dice.choice(("MKCOL", "DELETE")), self._dice.choice(MADE))


def _parts(answer: Answer) -> list[Part]:
    if "content-range" in answer.fields:
        begin, total = re.findall(r"\d+", answer.fields["content-range"])[::2]
        return [Part(int(begin), int(total), answer.body)]
    boundary = answer.fields["content-type"].partition("boundary=")[2].strip('"').encode()
    pieces = answer.body.split(b"--" + boundary)[1:-1]
    parts = []
    for piece in pieces:
        head = _PART.search(piece)
        assert head, piece[:100]
        parts.append(Part(int(head[1]), int(head[2]), piece[head.end() :].removesuffix(b"\r\n")))
    return parts
