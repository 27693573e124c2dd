"""What a client asked for, when, and what it got. The judge looks at them when all is over."""

from __future__ import annotations

from dataclasses import dataclass, field

CUT = 0  # in place of a status: the connection ended before the answer was complete


@dataclass(frozen=True)
class Part:
    """A piece of a file: where it begins, the whole size that the server told, and the bytes."""

    begin: int
    total: int
    content: bytes


@dataclass
class Asked:
    """One request and its answer. `seed` is of no use without the round, so there is none."""

    method: str  # an HTTP method, or `get` natively
    name: str
    begin: float
    end: float = 0.0
    fields: dict[str, str] = field(default_factory=dict)  # those that were sent
    sent: bytes | None = None  # of PUT
    status: int = CUT
    tag: str = ""
    date: str = ""
    size: int = -1  # of HEAD
    body: bytes = b""
    parts: list[Part] = field(default_factory=list)  # of 206
    resumed: Asked | None = None  # the answer of which this fetches the rest

    def __str__(self) -> str:
        fields = " ".join(f"{name}: {value}" for name, value in self.fields.items())
        asked = f"{self.method} {self.name} {fields}".strip()
        answer = f"{self.status or 'cut'} {self.tag}".strip()
        return f"{self.begin:8.3f} to {self.end:8.3f} {asked} -> {answer}"
