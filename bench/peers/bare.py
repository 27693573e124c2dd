"""Starts the bare programs, which `make peers` builds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.processes import Address, Program
from rig.servers import Programs

_START_TIMEOUT_S = 30.0


@contextmanager
def two_hops(
    programs: Programs, logs: Path, redis_port: int | None, file_bytes: int = 1000
) -> Iterator[Address]:
    """The address of the first hop, for `get:`. The second asks Redis, or answers at once."""
    with _two_hops(programs, logs, redis_port, str(file_bytes)) as front:
        yield front


@contextmanager
def two_creating_hops(programs: Programs, logs: Path, redis_port: int | None) -> Iterator[Address]:
    """The same for `new:`."""
    with _two_hops(programs, logs, redis_port, "new") as front:
        yield front


@contextmanager
def _two_hops(
    programs: Programs, logs: Path, redis_port: int | None, request: str
) -> Iterator[Address]:
    behind = () if redis_port is None else (str(redis_port),)
    with (
        _running(programs, logs, "two_hop", "second", *behind) as second,
        _running(programs, logs, "two_hop", "front", str(second.port), request) as front,
    ):
        yield front


@contextmanager
def event_hop(
    programs: Programs, logs: Path, authserver: Address, credentials: str, file_bytes: int
) -> Iterator[Address]:
    """A front by HTTP, which asks a real authserver about USER:PASSWORD for each request."""
    question = logs / "event_hop.question"
    question.write_text(f"auth:{credentials}\n", encoding="utf-8")
    words = (str(authserver.port), str(file_bytes), str(question))
    with _running(programs, logs, "event_hop", *words) as front:
        yield front


@contextmanager
def auth_service(programs: Programs, logs: Path, redis_port: int) -> Iterator[Address]:
    with _running(programs, logs, "auth_service", str(redis_port)) as address:
        yield address


@contextmanager
def durable_put(programs: Programs, logs: Path, folder: Path) -> Iterator[Address]:
    """Keeps what is PUT by HTTP in the folder."""
    with _running(programs, logs, "durable_put", str(folder)) as address:
        yield address


@contextmanager
def _running(programs: Programs, logs: Path, name: str, *words: str) -> Iterator[Address]:
    command = [str(programs.path("peers") / name), *words]
    program = Program(name, command, logs / f"{name}.log")
    try:
        yield program.wait_ready(_START_TIMEOUT_S)
    finally:
        program.stop()
