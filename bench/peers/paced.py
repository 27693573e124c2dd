"""The same meter for our protocol and for HTTP: at a fixed rate, or as fast as replies come."""

import base64
import json
import socket
import subprocess

from rig.errors import Failed
from rig.processes import Address

from ..system import Bench

_THREADS = 64  # as many requests may be under way before the meter itself is late
_PROBE_TIMEOUT_S = 30


def native_requests(name: str, users: int, password: str) -> list[bytes]:
    return [f"get:user{n}:{password}\n{name}\n".encode() for n in range(1, users + 1)]


def http_requests(name: str, users: int, password: str) -> list[bytes]:
    def request(user: int) -> bytes:
        credentials = base64.b64encode(f"user{user}:{password}".encode()).decode()
        lines = (f"GET /{name} HTTP/1.1", "Host: localhost", f"Authorization: Basic {credentials}")
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode()

    return [request(user) for user in range(1, users + 1)]


def p99_ms(bench: Bench, address: Address, requests: list[bytes], rate: float) -> float:
    """The 99th percentile of the response time at this rate. Failed when a request failed."""
    return float(_run(bench, address, requests, rate, _THREADS)["p99_ms"])


def closed_rate(bench: Bench, address: Address, requests: list[bytes], threads: int) -> float:
    """Requests per second of a closed loop. Every byte is copied out of the kernel."""
    return float(_run(bench, address, requests, 0, threads)["requests"]) / bench.seconds


def _run(
    bench: Bench, address: Address, requests: list[bytes], rate: float, threads: int
) -> dict[str, float]:
    reply_bytes = _length_of_reply(address, requests[0])
    done = subprocess.run(
        [
            str(bench.programs.path("peers") / "paced"),
            *(str(address.port), f"{rate:.0f}", f"{bench.seconds:g}", str(threads)),
            str(reply_bytes),
        ],
        input=b"\0".join(requests) + b"\0",
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise Failed(f"paced: {done.stderr.decode().strip()}")
    result: dict[str, float] = json.loads(done.stdout)
    if result["failed"]:
        raise Failed(f"paced: {result['failed']} of {result['requests']} requests failed")
    return result


def _length_of_reply(address: Address, request: bytes) -> int:
    """Every reply is as long as the first one: all ask for the same file."""
    with socket.create_connection(address, timeout=_PROBE_TIMEOUT_S) as connection:
        connection.sendall(request)
        if not request.startswith(b"GET "):  # our server waits for more until the client is done
            connection.shutdown(socket.SHUT_WR)
        return sum(len(chunk) for chunk in iter(lambda: connection.recv(1 << 16), b""))
