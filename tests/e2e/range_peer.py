"""A replacement for an HTTP server with one file that is fetched in parts."""

import hashlib
import re
import socket
import threading
from collections.abc import Callable

from http_peer import HttpPeer

_RANGE = re.compile(rb"\r\nRange: bytes=(\d+)-(\d+)\r\n")
_IF_RANGE = re.compile(rb"\r\nIf-Range: (\S+)\r\n")

# What a test does with the answer to a range: it may wait, change it, or raise HangUp.
Change = Callable[[int, bytes, socket.socket], bytes]


def unchanged(first: int, answer: bytes, connection: socket.socket) -> bytes:
    return answer


class RangePeer(HttpPeer):
    """`content` is the file, which a test may replace at any time. `ranges` are those that were
    asked for, and `sent` how many were answered in full.

    `change` is given the first byte of each range, its answer and the connection.
    """

    def __init__(
        self,
        content: bytes,
        change: Change = unchanged,
        *,
        etag: str = "",
        knows_ranges: bool = True,
    ) -> None:
        self.content = content
        self.ranges: list[tuple[int, int]] = []
        self.sent = 0
        self._change = change
        self._etag = etag
        self._knows_ranges = knows_ranges
        self._lock = threading.Lock()
        super().__init__(self._answered)

    def etag(self, content: bytes) -> str:
        return self._etag or f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def _answered(self, request: bytes, connection: socket.socket) -> bytes | None:
        content = self.content
        etag = self.etag(content)
        if request.startswith(b"HEAD "):
            return _head(200, len(content), etag)
        asked, version = _RANGE.search(request), _IF_RANGE.search(request)
        if not asked or not version:
            return b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
        first, last = int(asked[1]), int(asked[2])
        self.ranges.append((first, last))
        if not self._knows_ranges or version[1] != etag.encode():
            return _head(200, len(content), etag) + content
        more = f"Content-Range: bytes {first}-{last}/{len(content)}\r\n"
        answer = _head(206, last + 1 - first, etag, more) + content[first : last + 1]
        connection.sendall(self._change(first, answer, connection))
        with self._lock:
            self.sent += 1
        return None


def _head(status: int, length: int, etag: str, more: str = "") -> bytes:
    named = f"ETag: {etag}\r\n" if etag != "none" else ""
    return f"HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{named}{more}\r\n".encode()
