"""Asks a server at its --telemetry-listen, and reads what it answers."""

import re
import socket
from dataclasses import dataclass, field

from client import Address
from programs import Program
from waiting import LONG_S

FLAG = ("--telemetry-listen", "127.0.0.1:0")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SAMPLE = re.compile(r"([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-z_]+)="([^"]*)"')


@dataclass
class Answer:
    """One answer of HTTP. Names of fields are in lower case."""

    status: int
    fields: dict[str, str]
    body: str


def address_of(server: Program) -> Address:
    return server.further_address("telemetry")


def exchange(server: Program, request: bytes) -> Answer:
    """Sends the bytes, and reads until the server closes the connection."""
    with socket.create_connection(address_of(server), LONG_S) as connection:
        connection.sendall(request)
        return read_answer(connection)


def read_answer(connection: socket.socket) -> Answer:
    received = b""
    while part := connection.recv(1 << 16):
        received += part
    head, _, body = received.decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    status = re.fullmatch(r"HTTP/1\.1 ([0-9]{3}) [A-Z].*", lines[0])
    assert status, f"not an answer of HTTP: {received[:200]!r}"
    fields = dict(line.split(": ", 1) for line in lines[1:])
    return Answer(int(status[1]), {name.lower(): text for name, text in fields.items()}, body)


def get(server: Program, path: str, method: str = "GET") -> Answer:
    return exchange(server, f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


@dataclass
class Metrics:
    """The samples of one scrape: by name, and then by the values of their labels in order."""

    text: str
    samples: dict[str, dict[tuple[str, ...], float]] = field(default_factory=dict)

    def value(self, name: str, *labels: str) -> float:
        return self.samples[name][labels]

    def requests(self) -> dict[tuple[str, ...], int]:
        """The counts of requests that are not 0, by verb and result."""
        counts = self.samples["turnstile_requests_total"]
        return {labels: int(count) for labels, count in counts.items() if count}


def scrape(server: Program) -> Metrics:
    answer = get(server, "/metrics")
    assert answer.status == 200, answer
    metrics = Metrics(answer.body)
    for line in answer.body.splitlines():
        if line.startswith("# "):
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample, f"not a sample: {line!r}"
        labels = tuple(value for _, value in _LABEL.findall(sample[2] or ""))
        of_name = metrics.samples.setdefault(sample[1], {})
        assert labels not in of_name, f"twice: {line!r}"
        of_name[labels] = float(sample[3])
    return metrics
