"""A server, and an account to log in with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Login:
    server: str  # HOST:PORT
    user: str
    password: str

    @property
    def host(self) -> str:
        return self.server.rpartition(":")[0]
